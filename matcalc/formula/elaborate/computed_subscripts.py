"""Infers subscripts that compute: `x[i+1]`, `x[n-1-i]`, `A[j, (j + k) % n]`, `x[y + 1]` of data y.

A shift of an index is a slice, a reversed index a flip. Any other subscript is a condition on the axis: a selector if
it has the form of one, else an array of 0 and 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import count

from matcalc.errors import MatcalcError, NotSupported
from matcalc.formula.elaborate import index_numbers
from matcalc.formula.elaborate.index_numbers import Infer
from matcalc.formula.inference.conditions import linear_in
from matcalc.formula.inference.index_ranges import indices_of, limit, value_of
from matcalc.formula.inference.inference import Inference, shown
from matcalc.formula.inference.typed import ZERO, Labels, Typed
from matcalc.formula.recurrences.read_systems import AT_STEP
from matcalc.language import syntax
from matcalc.language.kinds import INDEX
from matcalc.language.syntax import Ast, names_in, value_of_leaf
from matcalc.tensor.nodes.signature import size_of
from matcalc.tensor.sizes.size import Compound, Size, is_nonnegative


class Selection:
    """The axes of a part being read: operands, and which axes the result has."""

    def __init__(self, inference: Inference, ast: Ast, base: Typed, numbers: Iterator[Typed]) -> None:
        self.inference, self.ast, self.base, self.numbers = inference, ast, base, numbers
        self.axis_labels: list[int] = []
        self.selectors: list[tuple[Typed, Labels]] = []
        self.core: list[int] = []
        self.named: list[int] = []
        self.looked_up: Labels = ()

    def select(self, kind: str, source: int, length: Size, offset: Size) -> int:
        """Re-index the axis labelled `source` by a selector and return the label of the new axis."""
        shape = (self.inference.lengths[source], length)
        selector = Typed("selector", self.ast, shape, data=(kind, offset))
        label = self.inference.label(length)
        self.selectors.append((selector, (source, label)))
        return label

    def require(self, axis: int, subscript: Ast, rooms: Iterable[Size], fault: str = "") -> None:
        """Require that the space left on an axis is not negative; checked when sizes are known."""
        of, length = self.ast.args[0], self.base.shape[axis]
        known = f", of length {length}" if length.is_integer else ""
        for room in rooms:
            self.inference.check_least(
                room, subscript, lambda: f"{shown(self.ast)} {fault or f'is outside axis {axis} of'} {shown(of)}{known}"
            )


def is_data(inference: Inference, ast: Ast) -> bool:
    """Whether a subscript is data: a symbol of kind `index`, or a part of one."""
    ast = whole_of(ast)
    if ast in inference.index_leaves:
        return True
    if ast.head == "leaf":
        return INDEX in value_of_leaf(ast).facts
    name = str(ast.value)
    return ast.head == "name" and name not in inference.bound and INDEX in _facts(inference, name)


def whole_of(subscript: Ast) -> Ast:
    """Return the tensor of which a subscript is a part, also one that is read at a step: `y` for `y[t]`."""
    while subscript.head in ("part", AT_STEP) and subscript.args:
        subscript = subscript.args[0]
    return subscript


def _facts(inference: Inference, name: str) -> tuple[str, ...]:
    return inference.symbols[name].facts if name in inference.symbols else ()


def data_in(inference: Inference, subscript: Ast) -> Ast | None:
    """Return the data in a subscript that is data, or data plus a size: `y`, `y[i] + 1`; None for any other."""
    if is_data(inference, subscript):
        return subscript
    if subscript.head != "sum":
        return None
    found = [term for term in subscript.args if is_data(inference, term)]
    signs = subscript.value
    assert isinstance(signs, tuple)
    is_added = len(found) == 1 and signs[subscript.args.index(found[0])] == 1
    return found[0] if is_added and not indices_of(inference, subscript) else None


def shift_of(inference: Inference, subscript: Ast) -> Size:
    """Return the size that a subscript adds to data.

    Raises: NotSupported for a negative one, which data of 0 would take below the first entry.
    """
    if is_data(inference, subscript):
        return ZERO
    data = data_in(inference, subscript)
    rest = syntax.replaced(subscript, data, syntax.number(0)) if data is not None else subscript
    unknown = [name for name in names_in(rest) if name not in inference.size_names]
    offset = ZERO if unknown else size_of(rest, inference.size_names)
    if unknown or not is_nonnegative(offset):
        message = f"the subscript {shown(subscript)} is not supported"
        hint = "to data a number or a size may be added, as in  x[y + 1]; else pass the computed indices as data"
        raise NotSupported(message, text=inference.text, at=subscript.caret, hint=hint)
    return offset


def select_shifted(selection: Selection, subscript: Ast, label: int, length: Size) -> None:
    """Select the entries of an axis at an index plus a number, or at a number minus an index."""
    inference = selection.inference
    limit(inference, label, subscript, length, selection.ast)
    split = linear_in(value_of(inference, subscript))
    assert split is not None
    coefficients, first = split
    source, own = inference.label(length), inference.lengths[label]
    selection.axis_labels.append(source)
    selection.named.append(label)
    if coefficients[label] == 1:
        selection.selectors.append((_selector(selection, "slice", (length, own), first), (source, label)))
        return
    part = selection.select("slice", source, own, first - own + 1)
    selection.selectors.append((_selector(selection, "flip", (own, own), ZERO), (part, label)))


def _selector(selection: Selection, kind: str, shape: tuple[Size, ...], offset: Size) -> Typed:
    return Typed("selector", selection.ast, shape, data=(kind, offset))


def select_computed(selection: Selection, axis: int, subscript: Ast, infer: Infer) -> None:
    """Select the entries of an axis at a subscript that computes with indices.

    Raises: NotSupported for arithmetic that is neither linear nor cyclic nor a quotient rounded down.
    """
    inference, length = selection.inference, selection.base.shape[axis]
    place = value_of(inference, subscript)
    split = linear_in(place)
    labels = [inference.bound[name] for name in indices_of(inference, subscript)]
    if split is not None and len(labels) == 1:
        if split[0][labels[0]] in (1, -1):
            select_shifted(selection, subscript, labels[0], length)
            return
        limit(inference, labels[0], subscript, length)
    elif split is not None:
        _check_linear(selection, axis, subscript, split)
    else:
        _check_whole(selection, axis, subscript, place)
    source = inference.label(length)
    condition = _place_condition(selection, subscript, source, infer)
    selection.axis_labels.append(source)
    selection.selectors.append((condition, ()))
    selection.named += labels


def _place_condition(selection: Selection, subscript: Ast, source: int, infer: Infer) -> Typed:
    """Return the condition that an axis is at a subscript."""
    inference = selection.inference
    free = next(name for name in map("axis{}".format, count()) if name not in inference.bound)
    ast = Ast("condition", (Ast("name", (), free, subscript.span), subscript), "==", subscript.span, subscript.at)
    inference.bound[free] = source
    try:
        return replace(index_numbers.infer_condition(inference, ast, [], infer), ast=selection.ast)
    except MatcalcError as fault:
        message = f"the subscript {shown(subscript)} is not supported: {fault.message}"
        raise NotSupported(message, text=inference.text, at=subscript.caret, hint=fault.hint) from None
    finally:
        del inference.bound[free]


def _check_linear(selection: Selection, axis: int, subscript: Ast, split: tuple[dict[int, Size], Size]) -> None:
    """Require that a subscript of several indices is inside for all their values; checked when sizes are known."""
    low, high = _extremes(selection, subscript, split)
    selection.require(axis, subscript, [low, selection.base.shape[axis] - 1 - high])


def _extremes(selection: Selection, subscript: Ast, split: tuple[dict[int, Size], Size]) -> tuple[Size, Size]:
    """Return the least and the largest value of a linear subscript."""
    low = high = split[1]
    for label, coefficient in split[0].items():
        reach = coefficient * (selection.inference.lengths[label] - 1)
        if is_nonnegative(coefficient):
            high = high + reach
        elif is_nonnegative(-coefficient):
            low = low + reach
        else:
            raise _not_supported(selection, subscript)
    return low, high


def _check_whole(selection: Selection, axis: int, subscript: Ast, place: Size) -> None:
    """Require that a cyclic subscript or a quotient rounded down is inside for all values of its indices."""
    terms = place.terms
    atom = terms[0][0][0][0] if len(terms) == 1 and terms[0][1] == 1 and len(terms[0][0]) == 1 else None
    if not isinstance(atom, Compound) or atom.operator not in ("//", "%") or terms[0][0][0][1] != 1:
        raise _not_supported(selection, subscript)
    length = selection.base.shape[axis]
    if atom.operator == "%":
        selection.require(axis, subscript, [length - atom.right])
        return
    split = linear_in(atom.left)
    if split is None or not is_nonnegative(atom.right):
        raise _not_supported(selection, subscript)
    low, high = _extremes(selection, subscript, split)
    selection.require(axis, subscript, [low, length * atom.right - 1 - high])


def _not_supported(selection: Selection, subscript: Ast) -> NotSupported:
    hint = (
        "a subscript is linear in its indices, x[i + 1], x[i + j], or cyclic, x[(i + 1) % n], or a quotient, x[i // 2]"
    )
    message = f"the subscript {shown(subscript)} is not supported"
    return NotSupported(message, text=selection.inference.text, at=subscript.caret, hint=hint)
