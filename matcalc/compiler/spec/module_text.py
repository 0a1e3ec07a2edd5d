"""Writes the text of a generated module: imported kernels, the `_into` function, a quick Python entry.

This text is run; `fn.source` shows it under a header. The quick entry takes only exact arguments: aligned
C-contiguous arrays of native float64, floats and ints. It compares sizes, and the machine code checks the rest (see
`call_slot.py`, `unboxing.py`). The call slot of a function is written from the same lines; the quick entry runs if
there is no call slot. Numba's own check of arguments takes longer and misses the byte order, a mask, and sometimes
the alignment. Inexact arguments raise and take the fallback of `convert.py`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import islice, takewhile
from math import lcm

from matcalc.compiler.kernels.library import free_names, global_names, import_block, load_library
from matcalc.compiler.kernels.modules import OURS, generated_imports, modules_of
from matcalc.compiler.spec.reassociate import in_any_order
from matcalc.compiler.spec.spec import LONGEST_AXIS, CompiledSpec, Nesting, Operand, too_long
from matcalc.language.identifiers import DUNDER, WORDS, docstring, free, literal
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.sizes.size_equations import solved_for

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
"""The names that modules, twins and saved files define, besides the functions of `codegen/`."""
FORMS = re.compile(r"(_numpy|_numba)?(_into|_shapes|_K\d+)?")
"""The suffixes of the functions and constants of a module, after the name of its function."""


def function_name(name: str, texts: Iterable[str], others: Iterable[str] = ()) -> str:
    """Return a function's name, extended by underscores until it collides with no name of `texts` or `others`."""
    used = {word for text in texts if text for word in global_names(text)}
    if DUNDER.match(name):  # reserved by modules, such as __name__
        name = name.strip("_") or "f"
    reserved = _reserved()
    similar = [*_from(name, reserved), *(word for taken in (used, others) for word in taken if word.startswith(name))]
    while any(word.startswith(name) and FORMS.fullmatch(word, len(name)) for word in similar):
        name += "_"
    return name


@cache
def _reserved() -> tuple[str, ...]:
    """Return the names that no function may have, in order: those of modules, saved files and `codegen/`."""
    items = {item for target in ("numba", "numpy") for item in load_library(target).items}
    return tuple(sorted({*WORDS, *TAKEN, *items, *(f"{item}_numpy" for item in items)}))


def _from(name: str, words: Sequence[str]) -> Iterator[str]:
    """Return the words, of words in order, that begin with a name."""
    return takewhile(lambda word: word.startswith(name), islice(words, bisect_left(words, name), None))


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
        "from matcalc.compiler.numba.jit import exact",
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
    """Return the docstring of the module: the formula of each result."""
    lines = docstring([f"{f.name} = {f.text}" for f in spec.formulas] or [spec.name])
    return "\n".join(lines)


def signature_text(spec: CompiledSpec) -> str:
    """Return the text of the signature; arguments are read-only, which accepts writable arrays too."""
    lines = [f"{INDENT}{_type(len(a.shape), True, a.dtype)},  # {a.name}" for a in spec.arguments]
    lines += [f"{INDENT}types.int64,  # {name}" for name in spec.sizes]
    lines += [f"{INDENT}{_type(max(1, len(o.shape)), False, o.memory)},  # {o.name}" for o in spec.outputs]
    return "\n".join(["SIGNATURE = types.int64(", *lines, ")"])


def _type(rank: int, readonly: bool, dtype: str = "float64") -> str:
    if rank == 0:
        return f"types.{dtype}"
    return f'types.Array(types.{dtype}, {rank}, "C"{", readonly=True" if readonly else ""})'


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

    def size(self, size: Size) -> str:
        """Return a size as the text of an integer expression."""
        size = size.substitute({n: Size.of(t) for n, t in self.sizes.items() if n != t})
        scale = lcm(*(c.denominator for _, c in size.terms))
        return str(size) if scale == 1 else f"({size * scale})//{scale}"

    def shape(self, shape: tuple[Size, ...]) -> str:
        """Return a shape as the text of a tuple; for a vector, that of its length."""
        texts = [self.size(s) for s in shape] or ["1"]
        return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"


SizeLines = tuple[list[str], list[tuple[str, str]]]


def size_lines(spec: CompiledSpec, names: Spelled) -> SizeLines | None:
    """Return the statements that read all sizes from shapes, and the tests for misfits, each with its error message.

    Return None if some size is not determined by a single axis: such functions have no quick entry.
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
            expected = _row([names.size(s) for s, _ in axes])
            tests.append((f"{name}.shape != {expected}", unfit(operand.name)))
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
    """Return the only unknown name in a size and the text of its value; None unless the size is linear in it."""
    found = solved_for(size, known)
    if found is None:
        return None
    name, factor, rest = found
    text = axis if rest == 0 else f"({axis} - ({names.size(rest)}))"
    text = text if factor.denominator == 1 else f"{text}*{factor.denominator}"
    return name, text if factor.numerator == 1 else f"{text}//{factor.numerator}"


def entry_text(spec: CompiledSpec) -> str:
    """Return the text of the quick entry and of the function for result shapes; "" if the function has none."""
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
    fresh = [f"{n} = {o.maker if o.zero_filled else 'empty'}({shape})" for n, shape, o in rows]
    call = f"run({', '.join([*names.parameters, *names.outputs])})"
    if spec.faults:
        call = f"status = {call}"
        if spec.data:  # the fallback reports the out-of-range index
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
    """Return a tuple of strings as text."""
    return _row(list(map(literal, words))) if words else "()"


def _function(name: str, parameters: list[str], docstring: str, body: list[str]) -> str:
    lines = [f'"""{docstring}"""', *body]
    return "\n".join([f"def {name}({', '.join(parameters)}):", *(INDENT + line for line in lines)])


def _faults_text(spec: CompiledSpec) -> str:
    return "\n".join(["FAULTS = (", *(f"{INDENT}{literal(fault)}," for fault in spec.faults), ")"])


def nested_text(nesting: Nesting, values: list[str]) -> str:
    """Return the values in the nesting of the results, as the text of a tuple."""
    if isinstance(nesting, int):
        return values[nesting]
    parts = [nested_text(part, values) for part in nesting]
    return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"
