"""The text of a generated module: imported kernels, the `_into` function, a quick Python entry.

This text is what runs; `fn.source` shows it under a header, which is written when it is read. The entry takes exact
arguments alone (aligned C-contiguous arrays of native float64, floats and ints): it compares sizes, and the machine
code looks at the rest (see `call_slot.py`, `unboxing.py`). The call slot of a function is written from the same lines,
so that the entry runs where there is none.
Numba's own look at arguments takes longer and sees neither the byte order, nor always the alignment, nor a mask. What
is not exact raises, and goes through the slow and polite way of `convert.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from math import lcm

from matcalc.compiler.runtime.any_order import in_any_order
from matcalc.compiler.runtime.library import free_names, global_names, import_block, load_library
from matcalc.compiler.runtime.modules import OURS, generated_imports, modules_of
from matcalc.compiler.runtime.spec import LONGEST_AXIS, CompiledSpec, Nesting, Operand, too_long
from matcalc.language.identifiers import DUNDER, WORDS, docstring, free, literal
from matcalc.tensor.size import Size
from matcalc.tensor.size_equations import solved_for

OPTIONS = """\
OPTIONS = {
    "error_model": "numpy",
    "fastmath": False,
    "nogil": True,
    "cache": True,
}"""
RUN = "run = exact({into})"
GLOBALS = f"""\
empty = np.empty  # found 20 ns sooner than an attribute of np
{RUN}"""
INTO = re.compile(r"^def (\w+)_into\(", re.MULTILINE)
WORD = re.compile(r"[^\W\d]\w*")
INDENT = "    "
TAKEN = (
    "np", "math", "sl", "sp", "linalg", "special", "sys", "types", "njit", "carray", "cfunc", "LinAlgError",
    "ShapeError", "integers", "int64", "float64", "ANY", "whole_array", "outside", "OPTIONS", "SIGNATURE", "REALS",
    "FAULTS", "HAS_NUMBA", "linked", "by_address", "_", "empty", "status", "into", "inputs", "outputs", "sizes",
    "c_entry", "sample", "self_test", "flat", "problems", "rng", "jit", "drawn", "kernels", "machine_code", "typed",
    "sparse", "stored_matrix", "stored_arrays", "NDArray", "run", "exact", "share", "has_mask", "real_array",
)  # fmt: skip
"""The names that modules, twins and saved files give themselves, besides those of functions of `codegen/`."""
FORMS = re.compile(r"(_numpy|_numba)?(_into|_shapes|_K\d+)?")
"""What the functions and constants of a module are called behind the name of its function."""


def function_name(name: str, texts: Iterable[str], others: Iterable[str] = ()) -> str:
    """Return the spelling of a function that stands beside generated `texts`, and clear of `others`."""
    items = {item for target in ("numba", "numpy") for item in load_library(target).items}
    used = {word for text in texts for word in global_names(text)}
    taken = {*WORDS, *TAKEN, *items, *(f"{item}_numpy" for item in items), *used, *others}
    if DUNDER.match(name):  # a module's own, such as __name__
        name = name.strip("_") or "f"
    while any(w.startswith(name) and FORMS.fullmatch(w, len(name)) for w in taken):
        name += "_"
    return name


def into_name(text: str) -> str:
    """Return the name of the function that a source defines."""
    found = INTO.search(text)
    if found is None:
        raise ValueError("the source defines no function `<name>_into`")
    return f"{found.group(1)}_into"


def numba_text(spec: CompiledSpec) -> str:
    """Return the module of a function for the target numba."""
    source = in_any_order(spec.source)
    names = free_names(source)
    modules = modules_of("numba", names)
    statements = [
        "import numpy as np",
        OURS,
        "from matcalc.compiler.runtime.jit import exact",
        "from numba import types",
    ]
    statements += [load_library("numba").imports[n] for n in names if n in ("math",)]
    statements += generated_imports(modules, names)
    head = INTO.search(source)
    assert head is not None
    body = f"{source[: head.start()]}@njit(SIGNATURE, **OPTIONS)\n{source[head.start() :]}".strip("\n")
    parts = [import_block(statements), f"{OPTIONS}\n{signature_text(spec)}", f"\n{body}"]
    entry = entry_text(spec) or RUN.format(into=into_name(spec.source))
    return "\n\n".join(parts) + f"\n\n\n{entry}\n"


def numpy_text(spec: CompiledSpec) -> str:
    """Return the module of a function for the target numpy."""
    names = free_names(spec.numpy_source)
    modules = modules_of("numpy", names)
    imports = load_library("numpy").imports
    statements = [imports[n] for n in names if n in imports] + generated_imports(modules, names)
    parts = [import_block(statements), f"\n{spec.numpy_source.strip()}"]
    return "\n\n".join(part for part in parts if part) + "\n"


def header(spec: CompiledSpec) -> str:
    """Return the docstring of the module: what each result is."""
    lines = docstring([f"{f.name} = {f.text}" for f in spec.formulas] or [spec.name])
    return "\n".join(lines)


def signature_text(spec: CompiledSpec) -> str:
    """Return the signature: arguments read-only, so that writable arrays fit too."""
    lines = [f"{INDENT}{_type(len(a.shape), True, a.dtype)},  # {a.name}" for a in spec.arguments]
    lines += [f"{INDENT}types.int64,  # {name}" for name in spec.sizes]
    lines += [f"{INDENT}{_type(max(1, len(o.shape)), False, o.memory)},  # {o.name}" for o in spec.outputs]
    return "\n".join(["SIGNATURE = types.int64(", *lines, ")"])


def _type(rank: int, readonly: bool, dtype: str = "float64") -> str:
    if rank == 0:
        return f"types.{dtype}"
    return f'types.Array(types.{dtype}, {rank}, "C"{", readonly=True" if readonly else ""})'


class Spelled:
    """Identifiers for the arguments, sizes and results of a function, free of keywords and of each other."""

    def __init__(self, spec: CompiledSpec, reserved: Iterable[str] = ()) -> None:
        forms = ("", "_into", "_shapes", "_numpy_into", "_numba_into")
        taken = {*TAKEN, *WORDS, *reserved, *(f"{spec.name}{form}" for form in forms)}
        self.arguments = [free(a.name, taken) for a in spec.arguments]
        names = dict.fromkeys(n for o in (*spec.arguments, *spec.outputs) for s in o.shape for n in s.names)
        self.sizes = {n: free(n, taken) for n in names | dict.fromkeys(spec.sizes)}
        self.outputs = [free(o.name, taken) for o in spec.outputs]
        self.parameters = [*self.arguments, *(self.sizes[n] for n in spec.sizes)]
        self.taken = taken

    def size(self, size: Size) -> str:
        """Return an integer expression."""
        size = size.substitute({n: Size.of(t) for n, t in self.sizes.items() if n != t})
        scale = lcm(*(c.denominator for _, c in size.terms))
        return str(size) if scale == 1 else f"({size * scale})//{scale}"

    def shape(self, shape: tuple[Size, ...]) -> str:
        """Return a tuple of sizes, for a vector its length."""
        texts = [self.size(s) for s in shape] or ["1"]
        return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"


SizeLines = tuple[list[str], list[tuple[str, str]]]


def size_lines(spec: CompiledSpec, names: Spelled) -> SizeLines | None:
    """Return statements that read all sizes from shapes, and tests, each with the message where it holds.

    None where a size is not given by one axis: such functions have no quick entry.
    """
    known = set(spec.sizes)
    lines: list[str] = []
    tests: list[tuple[str, str]] = []
    waiting: list[tuple[Operand, str, list[tuple[Size, str]]]] = []
    for operand, name in zip(spec.arguments, names.arguments, strict=True):
        if not operand.shape:
            continue
        plain = [s.names[0] if str(s) in s.names else "" for s in operand.shape]
        if all(p and p not in known for p in plain) and len(set(plain)) == len(plain):
            known.update(plain)
            lines.append(f"{_row([names.sizes[p] for p in plain])} = {name}.shape")
            continue
        parts = [free(f"{name}_{k}", names.taken) for k in range(len(plain))]
        waiting.append((operand, name, list(zip(operand.shape, parts, strict=True))))
    for operand, name, axes in waiting:
        if all(set(s.names) <= known for s, _ in axes):
            wanted = _row([names.size(s) for s, _ in axes])
            tests.append((f"{name}.shape != {wanted}", unfit(operand.name)))
            continue
        lines.append(f"{_row([a for _, a in axes])} = {name}.shape")
        left = [*axes]
        while left:
            solved = next(((x, found) for x in left if (found := _solved(*x, known, names))), None)
            if solved is None:
                break
            left.remove(solved[0])
            name_of, text = solved[1]
            lines.append(f"{names.sizes[name_of]} = {text}")
            known.add(name_of)
        left_over = [(s, a) for s, a in axes if f"{names.size(s)} = {a}" not in lines]
        fault = unfit(operand.name)
        tests += [(f"{a} != {s}" if s.is_integer else f"{names.size(s)} != {a}", fault) for s, a in left_over]
    tests += [(f"{names.sizes[n]} < 0", unfit(n)) for n in spec.sizes]
    for size, _ in spec.conditions:
        about = next((o.name for o in spec.arguments for s in o.shape if set(s.names) & set(size.names)), str(size))
        tests.append((f"{names.size(size)} < 0", unfit(about)))
    tests += [(f"{names.size(size)} > {LONGEST_AXIS}", too_long(size)) for size in spec.blas_axes]
    return (lines, tests) if known >= set(names.sizes) else None


def unfit(name: str) -> str:
    """Return the message about an argument, or a size, that does not fit the others."""
    return f"{name} has a shape that does not fit"


def _row(parts: list[str]) -> str:
    return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"


def _solved(size: Size, axis: str, known: set[str], names: Spelled) -> tuple[str, str] | None:
    """Return the one unknown name of an axis's size and its text; None unless the size is linear in it."""
    found = solved_for(size, known)
    if found is None:
        return None
    name, factor, rest = found
    text = axis if rest == 0 else f"({axis} - ({names.size(rest)}))"
    text = text if factor.denominator == 1 else f"{text}*{factor.denominator}"
    return name, text if factor.numerator == 1 else f"{text}//{factor.numerator}"


def entry_text(spec: CompiledSpec) -> str:
    """Return the quick entry and the function for the shapes of results; empty where there are none."""
    into = into_name(spec.source)
    names = Spelled(spec)
    sizes = size_lines(spec, names)
    if sizes is None or any("/" in names.shape(o.shape).replace("//", "") for o in spec.outputs):
        return ""
    whole = [n for n, o in zip(names.arguments, spec.arguments, strict=True) if not o.shape and o.dtype != "float64"]
    tests = [*(f"type({n}) is not int" for n in (*whole, *(names.sizes[n] for n in spec.sizes)))]
    tests += [t for t, _ in sizes[1]]
    checks = [*sizes[0], *([f"if {' or '.join(tests)}:", f"{INDENT}raise ValueError"] if tests else [])]
    shapes = [names.shape(o.shape) for o in spec.outputs]
    rows = zip(names.outputs, shapes, spec.outputs, strict=True)
    fresh = [f"{n} = {o.maker if o.blank else 'empty'}({shape})" for n, shape, o in rows]
    call = f"run({', '.join([*names.parameters, *names.outputs])})"
    if spec.faults:
        call = f"status = {call}"
        if spec.data:  # the polite way says which place is outside
            call += f"\n{INDENT}if status > {spec.numeric_faults}:\n{INDENT * 2}raise ValueError"
        if spec.numeric_faults:
            call += f"\n{INDENT}if status:\n{INDENT * 2}raise np.linalg.LinAlgError(FAULTS[status - 1])"
    values = [n if o.shape else f"{n}.item()" for n, o in zip(names.outputs, spec.outputs, strict=True)]
    quick = [*checks, *fresh, call, f"return {nested_text(spec.nesting, values)}"]
    tuples = [_row([names.size(s) for s in o.shape]) if o.shape else "()" for o in spec.outputs]
    plain = [*checks, f"return {_row(tuples)}"]
    return "\n\n\n".join(
        [
            "\n".join([GLOBALS.format(into=into), *([_faults_text(spec)] if spec.faults else [])]),
            _function(
                spec.name,
                names.parameters,
                f"Run {into} on exact arguments; raise where one is not.",
                quick,
            ),
            _function(f"{spec.name}_shapes", names.parameters, "The shapes of the results.", plain),
        ]
    )


def literals(words: Sequence[str]) -> str:
    """Return the tuple of strings as text."""
    return _row(list(map(literal, words))) if words else "()"


def _function(name: str, parameters: list[str], docstring: str, body: list[str]) -> str:
    lines = [f'"""{docstring}"""', *body]
    return "\n".join([f"def {name}({', '.join(parameters)}):", *(INDENT + line for line in lines)])


def _faults_text(spec: CompiledSpec) -> str:
    return "\n".join(["FAULTS = (", *(f"{INDENT}{literal(fault)}," for fault in spec.faults), ")"])


def nested_text(nesting: Nesting, values: list[str]) -> str:
    """Return the nested tuple of the values as text."""
    if isinstance(nesting, int):
        return values[nesting]
    parts = [nested_text(part, values) for part in nesting]
    return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"
