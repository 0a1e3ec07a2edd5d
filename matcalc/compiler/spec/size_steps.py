"""How a call finds the sizes of a function from the shapes of its arguments, and which shapes do not fit.

The steps are printed as Python for entries of modules and of saved files; the entry in machine code is written from
the same steps.
"""

from __future__ import annotations

from typing import NamedTuple

from matcalc.compiler.code.code import Expr, Let, Name, Number, Op
from matcalc.compiler.code.print_python import expression
from matcalc.compiler.spec.call_names import Spelled, row
from matcalc.compiler.spec.spec import LONGEST_AXIS, CompiledSpec, Operand, too_long
from matcalc.language.identifiers import free
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.sizes.size_equations import solved_for


class ReadShape(NamedTuple):
    """The lengths of an array get names: `(m, n) = X.shape`."""

    names: tuple[str, ...]
    array: str


class OtherShape(NamedTuple):
    """Whether an array has another shape: `X.shape != (m, n)`."""

    array: str
    lengths: tuple[Expr, ...]


class SizeSteps(NamedTuple):
    """Statements that find all sizes, and tests, each with the message of its failure."""

    reads: list[ReadShape | Let]
    tests: list[tuple[OtherShape | Op, str]]


SizeLines = tuple[list[str], list[tuple[str, str]]]


def size_steps(spec: CompiledSpec, names: Spelled) -> SizeSteps | None:
    """Return the steps that read all sizes from shapes, and the tests for misfits.

    Return None if some size is not determined by a single axis: Python finds the sizes of such functions.
    """
    known = set(spec.sizes)
    reads: list[ReadShape | Let] = []
    tests: list[tuple[OtherShape | Op, str]] = []
    waiting: list[tuple[Operand, str, list[tuple[Size, str]]]] = []
    for operand, name in zip(spec.arguments, names.arguments, strict=True):
        if not operand.shape:
            continue
        plain = [s.names[0] if str(s) in s.names else "" for s in operand.shape]
        if all(p and p not in known for p in plain) and len(set(plain)) == len(plain):
            known.update(plain)
            reads.append(ReadShape(tuple(names.sizes[p] for p in plain), name))
            continue
        parts = [free(f"{name}_{k}", names.taken) for k in range(len(plain))]
        waiting.append((operand, name, list(zip(operand.shape, parts, strict=True))))
    for operand, name, axes in waiting:
        fault = unfit(operand.name)
        if all(set(s.names) <= known for s, _ in axes):
            tests.append((OtherShape(name, tuple(names.integer(s) for s, _ in axes)), fault))
            continue
        reads.append(ReadShape(tuple(part for _, part in axes), name))
        left = [*axes]
        same: list[tuple[Expr, Expr]] = []
        while left:
            solved = next(((x, found) for x in left if (found := _solved(*x, known, names))), None)
            if solved is None:
                break
            left.remove(solved[0])
            size_name, value = solved[1]
            reads.append(Let(names.sizes[size_name], value))
            same.append((Name(names.sizes[size_name]), value))
            known.add(size_name)
        for size, part in axes:
            length = names.integer(size)
            if (length, Name(part)) not in same:
                pair = (Name(part), length) if size.is_integer else (length, Name(part))
                tests.append((Op("!=", pair), fault))
    tests += [(Op("<", (Name(names.sizes[n]), Number(0))), unfit(n)) for n in spec.sizes]
    for size, _ in spec.conditions:
        about = next((o.name for o in spec.arguments for s in o.shape if set(s.names) & set(size.names)), str(size))
        tests.append((Op("<", (names.integer(size), Number(0))), unfit(about)))
    tests += [(Op(">", (names.integer(size), Number(LONGEST_AXIS))), too_long(size)) for size in spec.blas_axes]
    return SizeSteps(reads, tests) if known >= set(names.sizes) else None


def size_lines(spec: CompiledSpec, names: Spelled) -> SizeLines | None:
    """Return the steps as Python: statements, and tests with the messages of their failures."""
    steps = size_steps(spec, names)
    if steps is None:
        return None
    return [*map(_read_text, steps.reads)], [(_test_text(test), fault) for test, fault in steps.tests]


def _read_text(read: ReadShape | Let) -> str:
    if isinstance(read, Let):
        return f"{read.name} = {expression(read.value)}"
    return f"{row(read.names)} = {read.array}.shape"


def _test_text(test: OtherShape | Op) -> str:
    if isinstance(test, Op):
        return expression(test)
    return f"{test.array}.shape != {row([*map(expression, test.lengths)])}"


def unfit(name: str) -> str:
    """Return the message about an argument, or a size, that does not fit the others."""
    return f"{name} has a shape that does not fit"


def _solved(size: Size, axis: str, known: set[str], names: Spelled) -> tuple[str, Expr] | None:
    """Return the only unknown name in a size and its value; None unless the size is linear in it."""
    found = solved_for(size, known)
    if found is None:
        return None
    name, factor, rest = found
    value: Expr = Name(axis) if rest == 0 else Op("-", (Name(axis), names.integer(rest)))
    value = value if factor.denominator == 1 else Op("*", (value, Number(factor.denominator)))
    return name, value if factor.numerator == 1 else Op("//", (value, Number(factor.numerator)))
