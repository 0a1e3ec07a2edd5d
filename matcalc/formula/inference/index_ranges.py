"""Finds the range of an index that subscripts compute with: `x[i+1]`, `x[n-1-i]`, `x[2*i]`.

Such an index runs over the numbers 0, 1, 2, ... for which all its subscripts are inside their axes. So
`sum{i: x[i+1]*x[i]}` has n - 1 terms. Only subscripts of this index alone limit it. A subscript of several indices,
`x[i + j]`, must be inside for all their values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from matcalc.errors import MatcalcError, NotSupported
from matcalc.formula.inference.conditions import linear_in
from matcalc.formula.inference.inference import Inference, shown
from matcalc.formula.inference.typed import ZERO
from matcalc.language.index_limits import is_stated
from matcalc.language.index_sums import listed
from matcalc.language.syntax import BINDERS, Ast, children, names_in, walk
from matcalc.tensor.nodes.signature import size_of
from matcalc.tensor.sizes.size import Compound, Size, floordiv, is_nonnegative


@dataclass(slots=True)
class Range:
    """The range of an index: its first number, still unknown, and for each subscript the first and the end inside.

    `stated` is the end that the list of indices gives, as in `sum{i < n: ...}`.
    """

    name: str
    start: Size
    bounds: list[tuple[Size, Size]] = field(default_factory=list)
    stated: Size | None = None


def indices_of(inference: Inference, subscript: Ast) -> list[str]:
    """Return the bound indices that a subscript computes with; those of data in it are not its own."""
    found: dict[str, None] = {}
    stack = [subscript]
    while stack:
        node = stack.pop()
        if node.head == "name" and node.value in inference.bound:
            found[str(node.value)] = None
        if node.head not in ("part", *BINDERS):
            stack.extend(children(node))
    return list(found)


def is_computed(inference: Inference, subscript: Ast) -> bool:
    """Whether a subscript is arithmetic with bound indices."""
    return subscript.head not in ("name", "slice", "part") and bool(indices_of(inference, subscript))


def is_limited(name: str, scope: Ast) -> bool:
    """Whether subscripts in the scope of an index compute with it."""
    stack = [(scope, True)]
    while stack:
        node, is_scope = stack.pop()
        if node.head in BINDERS and not is_scope and name in listed(node):
            continue
        for subscript in node.args[1:] if node.head == "part" else ():
            if subscript.head not in ("name", "slice", "part") and name in _own_names(subscript):
                return True
        stack.extend((child, False) for child in children(node))
    return False


def _own_names(subscript: Ast) -> list[str]:
    return [str(node.value) for node in walk(subscript, ("part", *BINDERS)) if node.head == "name"]


def open_range(inference: Inference, name: str, label: int, scope: Ast) -> None:
    """Record that subscripts limit an index, if they do."""
    if is_limited(name, scope):
        inference.ranges[label] = Range(name, inference.sizes.fresh())


def start_of(inference: Inference, label: int) -> Size:
    """Return the first number of an index."""
    found = inference.ranges.get(label)
    return ZERO if found is None else inference.sizes.resolve(found.start)


def value_of(inference: Inference, subscript: Ast) -> Size:
    """Return a subscript as a size over `@label`, the position of the index with that label in its range.

    Raises: NotSupported for a subscript that is no expression of indices and sizes.
    """
    hint = "a subscript consists of indices, sizes and integers:  x[i + 1], x[n - 1 - i], x[(i + 1) % n]"
    names = names_in(subscript)
    unknown = [name for name in names if name not in inference.bound and name not in inference.size_names]
    if unknown and unknown[0] not in inference.symbols:
        hint += f"\ndeclare  {unknown[0]}: size,  or list it as an index, as in  sum{{{unknown[0]}: ...}}"
    divides = any(node.head == "product" and "/" in node.value for node in walk(subscript))  # type: ignore[operator]
    if unknown or divides or any(node.head == "part" for node in walk(subscript)):
        message = f"the subscript {shown(subscript)} is not supported"
        raise NotSupported(message, text=inference.text, at=subscript.caret, hint=hint)
    values = dict(inference.size_names)
    for name in names:
        if name in inference.bound:
            label = inference.bound[name]
            values[name] = Size.of(f"@{label}") + start_of(inference, label)
    try:
        return size_of(subscript, values)
    except MatcalcError as fault:
        message = f"the subscript {shown(subscript)} is not supported: {fault.message}"
        raise NotSupported(message, text=inference.text, at=subscript.caret, hint=hint) from None


def limit(inference: Inference, label: int, subscript: Ast, length: Size, part: Ast | None = None) -> None:
    """Record the numbers for which a subscript of one index is inside an axis.

    `part` is the subscripted part; that of a limit in a list of indices states the end.

    Raises: NotSupported if it is not linear in the index.
    """
    range_ = inference.ranges[label]
    split = linear_in(value_of(inference, subscript))
    factor, rest = (split[0].get(label, ZERO), split[1]) if split is not None else (ZERO, ZERO)
    if not factor.is_integer or factor == 0 or factor.constant.denominator != 1:
        hint = "it is  a*i + c  of an index i, or  (i + c) % n,  or  (i + c) // 2"
        message = f"the subscript {shown(subscript)} is not linear in its index"
        raise NotSupported(message, text=inference.text, at=subscript.caret, hint=hint)
    rest = rest - factor * start_of(inference, label)
    times = abs(int(factor))
    if factor.constant < 0 and is_nonnegative(-rest - 1):
        hint = f"write  x[n - 1 - {range_.name}]  for an index that counts from the end"
        message = f"the subscript {shown(subscript)} is negative"
        raise NotSupported(message, text=inference.text, at=subscript.caret, hint=hint)
    if int(factor) > 0:
        low, end = _up(-rest, times), _up(length - rest, times)
    else:
        low, end = _up(rest - length + 1, times), _up(rest + 1, times)
    range_.bounds.append((low, end))
    if part is not None and is_stated(part):
        range_.stated = end


def _up(size: Size, divisor: int) -> Size:
    """Return a size divided by a number, rounded up."""
    return size if divisor == 1 else floordiv(size + (divisor - 1), Size.of(divisor))


def close_ranges(inference: Inference, labels: Sequence[int], form: Ast) -> None:
    """Determine the ranges of indices from all their subscripts.

    Raises: ShapeError if the sizes do not decide them.
    """
    for label in labels:
        range_ = inference.ranges.get(label)
        if range_ is None:
            continue
        if not range_.bounds:
            _settle(inference, range_.start, ZERO, form)
            continue
        low = _extreme(inference, range_, [ZERO, *(a for a, _ in range_.bounds)], 1, form)
        end = _extreme(inference, range_, [b for _, b in range_.bounds], -1, form)
        if range_.stated is not None and not inference.same(range_.stated, end):
            hint = f"write  {range_.name} < {inference.size_text(end)}"
            said = f"index {range_.name} is below {inference.size_text(range_.stated)}, but its axes end at"
            raise inference.fault(f"{said} {inference.size_text(end)}", form, hint=hint)
        message = f"no number of index {range_.name} is inside all its axes"
        if is_nonnegative(low - end - 1):
            raise inference.fault(message, form)
        inference.check_least(end - low, form, partial(str, message))
        _settle(inference, range_.start, low, form)
        _settle(inference, inference.lengths[label], end - low, form)


def _settle(inference: Inference, unknown: Size, value: Size, form: Ast) -> None:
    if not inference.same(unknown, value):
        one, other = inference.size_text(unknown), inference.size_text(value)
        raise inference.fault(f"the length of an index is {one} and {other}", form)


def _extreme(inference: Inference, range_: Range, sizes: Sequence[Size], sign: int, form: Ast) -> Size:
    """Return the largest of several sizes, or with sign -1 the least."""
    best, *others = [inference.sizes.resolve(size) for size in sizes]
    for other in others:
        low, high = (best, other) if sign > 0 else (other, best)
        if _is_at_most(low, high):
            best = other
        elif not _is_at_most(high, low):
            which = "first number" if sign > 0 else "end"
            one, two = inference.size_text(best), inference.size_text(other)
            hint = f"declare the sizes, or cut the axes to one length, as in  x[:n][{range_.name}]"
            raise inference.fault(f"the {which} of index {range_.name} is {one} or {two}", form, hint=hint)
    return best


def _is_at_most(one: Size, other: Size) -> bool:
    """Whether a size is known to be at most another; both may be quotients rounded down, `n//2` and `(n + 1)//2`."""
    (a, p), (b, q) = _quotient(one), _quotient(other)
    if p == q:
        return is_nonnegative(b - a)
    if q == 1:
        return is_nonnegative(b * p + (p - 1) - a)
    return p == 1 and is_nonnegative(b - a * q)


def _quotient(size: Size) -> tuple[Size, int]:
    """Return a and k of `a//k`; the size and 1 for any other."""
    terms = size.terms
    if len(terms) == 1 and terms[0][1] == 1 and len(terms[0][0]) == 1:
        atom, power = terms[0][0][0]
        if isinstance(atom, Compound) and atom.operator == "//" and power == 1 and atom.right.is_integer:
            return atom.left, int(atom.right)
    return size, 1


def check_choice(inference: Inference, call: Ast) -> None:
    """Raise for a choice by an index whose subscripts are in its operands: it may be meant to keep them inside.

    Raises: NotSupported.
    """
    for choice in (arg for arg in call.args if arg.head == "compare"):
        for name in names_in(choice):
            if inference.bound.get(name) in inference.ranges and any(
                is_limited(name, arg) for arg in call.args if arg is not choice
            ):
                raise _guard(inference, name, choice)


def check_order(inference: Inference, condition: Ast, labels: Mapping[str, int]) -> None:
    """Raise for a condition that bounds one index, `[i > 0]`, if subscripts compute with it.

    Raises: NotSupported.
    """
    if len(labels) == 1 and condition.value not in ("==", "!="):
        ((name, label),) = labels.items()
        if label in inference.ranges:
            raise _guard(inference, name, condition)


def _guard(inference: Inference, name: str, ast: Ast) -> NotSupported:
    hint = f"{name} runs over the numbers whose subscripts are inside: leave the bound out, or join the parts, as in"
    message = f"{shown(ast)} bounds {name}, and so do the subscripts that compute with {name}"
    return NotSupported(message, text=inference.text, at=ast.caret, hint=f"{hint}  [0; x[:-1]]")
