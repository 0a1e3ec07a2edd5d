"""The public function of a file of C: names and types of its parameters, lengths as expressions."""

from __future__ import annotations

from collections.abc import Sequence

from matcalc.compiler.code.code import Call
from matcalc.compiler.code.sizes import integer
from matcalc.compiler.files.c_expressions import Expressions, Spelled, refused
from matcalc.compiler.files.c_words import load_c_words
from matcalc.compiler.kernels.native_kinds import INTEGER
from matcalc.compiler.spec.call_names import Spelled as Names
from matcalc.compiler.spec.spec import CompiledSpec, size_names
from matcalc.tensor.sizes.size import Size


def spelled(spec: CompiledSpec) -> Names:
    """Return the names of the arguments, results and sizes in C."""
    operands = (*spec.arguments, *spec.outputs)
    names = [*size_names(spec), *(operand.name for operand in operands)]
    return Names(spec, {*load_c_words().reserved_for(names), f"{spec.name}_work"})


def parameters(spec: CompiledSpec) -> list[str]:
    """Return the parameters of the public function: arguments, results, sizes, workspace."""
    names = spelled(spec)
    found = []
    for name, operand in zip(names.arguments, spec.arguments, strict=True):
        base = "double" if operand.dtype == "float64" else "int64_t"
        found.append(f"const {base} *{name}" if operand.shape else f"{base} {name}")
    found += [f"double *{name}" for name in names.outputs]
    found += [f"int64_t {names.sizes[name]}" for name in size_names(spec)]
    return [*found, "double *work"]


class _Sizes:
    """Names of sizes, as what an expression stands in."""

    def name(self, name: str) -> Spelled:
        return Spelled(name, INTEGER)

    def call(self, expr: Call, args: Sequence[Spelled]) -> Spelled:
        raise refused(expr)


def size_text(names: Names, size: Size) -> str:
    """Return a length as an expression of C."""
    renamed = {name: Size.of(text) for name, text in names.sizes.items() if name != text}
    return Expressions(_Sizes()).text(integer(size.substitute(renamed)))
