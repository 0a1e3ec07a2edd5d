"""The names of the arguments, sizes and results of a function in the texts that call it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from matcalc.compiler.code.code import Expr
from matcalc.compiler.code.print_python import expression
from matcalc.compiler.code.sizes import integer
from matcalc.compiler.spec.spec import CompiledSpec
from matcalc.language.identifiers import WORDS, free
from matcalc.tensor.sizes.size import Size

TAKEN = (
    "np", "math", "sl", "sp", "linalg", "special", "sys", "types", "njit", "carray", "cfunc", "LinAlgError",
    "ShapeError", "integers", "int64", "float64", "ANY", "whole_array", "outside", "OPTIONS", "SIGNATURE", "REALS",
    "FAULTS", "HAS_NUMBA", "linked", "by_address", "_", "empty", "status", "into", "inputs", "outputs", "sizes",
    "c_entry", "sample", "self_test", "flat", "problems", "rng", "jit", "drawn", "kernels", "machine_code", "typed",
    "sparse", "stored_matrix", "stored_arrays", "NDArray", "run", "exact", "share", "has_mask", "real_array",
)  # fmt: skip
"""The names that modules, twins and saved files define, besides the functions of `codegen/`."""


class Spelled:
    """Identifiers of the arguments, sizes and results of a function: distinct, and no keywords."""

    def __init__(self, spec: CompiledSpec, reserved: Iterable[str] = ()) -> None:
        forms = ("", "_into", "_shapes", "_numpy_into", "_numba_into")
        taken = {*TAKEN, *WORDS, *reserved, *(f"{spec.name}{form}" for form in forms)}
        self.arguments = [free(a.name, taken) for a in spec.arguments]
        names = dict.fromkeys(n for o in (*spec.arguments, *spec.outputs) for s in o.shape for n in s.names)
        self.sizes = {n: free(n, taken) for n in names | dict.fromkeys(spec.sizes)}
        self.outputs = [free(o.name, taken) for o in spec.outputs]
        self.parameters = [*self.arguments, *(self.sizes[n] for n in spec.sizes)]
        self.taken = taken

    def integer(self, size: Size) -> Expr:
        """Return a size as an integer expression."""
        return integer(size.substitute({n: Size.of(t) for n, t in self.sizes.items() if n != t}))

    def size(self, size: Size) -> str:
        """Return a size as the text of an integer expression."""
        return expression(self.integer(size))

    def shape(self, shape: tuple[Size, ...]) -> str:
        """Return a shape as the text of a tuple; for a vector, that of its length."""
        texts = [self.size(s) for s in shape] or ["1"]
        return texts[0] if len(texts) == 1 else row(texts)


def row(parts: Sequence[str]) -> str:
    """Return the text of a tuple."""
    return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"
