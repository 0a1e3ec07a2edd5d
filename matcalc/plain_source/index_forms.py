"""Translates index forms: values over open indices are arrays with these axes in front.

A product stays a list of factors until something needs it, so that a sum over it is a product of matrices. Conditions
are comparisons of ranges.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from matcalc.errors import NotSupported
from matcalc.language.syntax import Ast
from matcalc.language.write import text
from matcalc.plain_source.pairs import remember_form, squared_distances
from matcalc.plain_source.read import Reader, Steps, Value, factors_of
from matcalc.plain_source.terms.contraction import Labelled, Labels, aligned, contracted
from matcalc.plain_source.terms.products import is_ones
from matcalc.plain_source.terms.term import Call, Term
from matcalc.tensor.sizes.size import Size


def index_form(reader: Reader, tree: Ast) -> Steps:
    """Translate `{i,j: body}`: the listed indices become axes."""
    labels, before = _bind(reader, tree)
    inner = yield tree.args[0]
    reader.bound = before
    rest = tuple(label for label in inner.axes if label not in labels)
    if not inner.axes and not labels:
        return replace(inner, node=None)
    if inner.rank:
        raise NotSupported(f"{text(tree)} has no plain source: its body is not a scalar")
    factors = factors_of(reader, inner)
    term = contracted(reader.pool, factors, (*rest, *labels))
    remember_form(reader, term, rest, labels, factors)
    return Value(term, axes=rest)


def index_sum(reader: Reader, tree: Ast) -> Steps:
    """Translate `sum{k: body}`."""
    labels, before = _bind(reader, tree)
    inner = yield tree.args[0]
    reader.bound = before
    if any(label not in inner.axes for label in labels):
        raise NotSupported(f"{text(tree)} has no plain source: its body lacks an index")
    rest = tuple(label for label in inner.axes if label not in labels)
    factors = factors_of(reader, inner)
    if not inner.rank and (pairs := squared_distances(reader, factors, labels)) is not None:
        return pairs
    wide = next((f for f in factors if _is_wide_sum(reader, f, labels)), None)
    if wide is None or inner.rank:
        return open_value(reader, factors, rest, inner.rank)
    return _distributed(reader, [f for f in factors if f is not wide], wide, rest)


def _is_wide_sum(reader: Reader, factor: Labelled, labels: Labels) -> bool:
    """Whether a factor is a sum with more axes than a matrix, of which some are summed."""
    return factor in reader.sums and len(factor[1]) > 2 and any(label in labels for label in factor[1])


def _distributed(reader: Reader, others: Sequence[Labelled], factor: Labelled, rest: Labels) -> Value:
    """Return the sum of the products of the terms of a sum with the other factors: no large array is formed."""
    terms: list[Term] = []
    for _, value in reader.sums[factor]:
        inside = {*value.axes, *(label for _, at in others for label in at)}
        ones = [_ones(reader, factor, label) for label in factor[1] if label not in inside]
        terms.append(contracted(reader.pool, [*factors_of(reader, value), *ones, *others], rest))
    signs = tuple(sign for sign, _ in reader.sums[factor])
    return Value(reader.pool.term("add", terms, signs, terms[0].shape), axes=rest)


def _ones(reader: Reader, factor: Labelled, label: int) -> Labelled:
    """Return the ones over an index of a factor."""
    length = reader.pool.term("length", (), factor[0].shape[factor[1].index(label)])
    rule = reader.book.playing("all_ones")
    return reader.pool.term("call", (length,), Call(rule), (length.data,)), (label,)


def _bind(reader: Reader, tree: Ast) -> tuple[Labels, dict[str, int]]:
    before = reader.bound
    names = tuple(dict.fromkeys(cast("tuple[str, ...]", tree.value)))
    labels = tuple(reader.new_label() for _ in names)
    reader.bound = {**before, **dict(zip(names, labels, strict=True))}
    return labels, before


def open_value(reader: Reader, factors: Sequence[Labelled], axes: Labels, rank: int = 0, core: Labels = ()) -> Value:
    """Return the value of a product over open indices; its factors are remembered for a sum over it."""
    if rank and not core:
        raise NotSupported("a sum over an index of vectors has no plain source")
    term = contracted(reader.pool, factors, (*axes, *core))
    if not core and axes:
        reader.factors[term, axes] = list(factors)
    return Value(term, axes=axes)


def common_axes(values: Sequence[Value]) -> Labels:
    """Return the open indices of several values, in order of first appearance."""
    return tuple(dict.fromkeys(label for value in values for label in value.axes))


def side_by_side(reader: Reader, values: Sequence[Value]) -> tuple[list[Term], Labels, tuple[Size, ...]]:
    """Return scalars over open indices as arrays that expand to one shape, its labels and its sizes.

    Raises: NotSupported for vectors and matrices over open indices.
    """
    axes = common_axes(values)
    if any(value.rank for value in values):
        raise NotSupported("a vector or matrix over open indices has no plain source here")
    sizes: dict[int, Size] = {}
    for value in values:
        sizes.update(zip(value.axes, value.term.shape, strict=True))
    shape = tuple(sizes[label] for label in axes)
    return [aligned(reader.pool, v.term, v.axes, axes) if v.axes else v.term for v in values], axes, shape


def without_ones(reader: Reader, values: Sequence[Value]) -> list[Value]:
    """Return terms of a sum without factors of ones that only repeat a term along an index of another one."""
    found: list[Value] = []
    for k, value in enumerate(values):
        others = {label for j, other in enumerate(values) if j != k for label in other.axes}
        others &= {label for j, other in enumerate(found) if j != k for label in other.axes} | {
            label for other in values[k + 1 :] for label in other.axes
        }
        factors = factors_of(reader, value)
        kept = [f for f in factors if not (is_ones(f[0]) and f[1][0] in others)]
        if len(kept) == len(factors) or value.rank:
            found.append(value)
            continue
        inside = {label for _, at in kept for label in at}
        kept = kept or [(reader.number(1), ())]
        found.append(open_value(reader, kept, tuple(label for label in value.axes if label in inside)))
    return found


def product(reader: Reader, tree: Ast, values: Sequence[Value]) -> Value:
    """Return a product of which some factor is over open indices."""
    factors: list[Labelled] = []
    core: Labels = ()
    row = False
    axes = common_axes(values)
    for k, value in enumerate(values):
        operator = cast("tuple[str, ...]", tree.value)[k - 1] if k else "*"
        if operator in ("/", "./") and not value.rank:
            one = reader.pool.term("div", (reader.number(1), value.term), None, value.term.shape)
            factors.append((one, value.axes))
        elif not value.rank and operator in ("*", "@", ".*"):
            factors += factors_of(reader, value)
        elif operator in ("*", "@"):
            core, row = _multiplied(reader, factors, core, row, value)
        else:
            raise NotSupported(f"{text(tree)} has no plain source over open indices")
    return replace(open_value(reader, factors, axes, len(core), core), row=row and len(core) == 1)


def _multiplied(reader: Reader, factors: list[Labelled], core: Labels, row: bool, value: Value) -> tuple[Labels, bool]:
    """Append an array to a product; return the labels of its axes and whether it is a row."""
    labels = tuple(reader.new_label() for _ in range(value.rank))
    if not core:
        factors.append((value.term, value.axes + labels))
        return labels, value.row
    is_outer = len(core) == 1 and not row and value.rank == 1 and value.row
    if is_outer:
        factors.append((value.term, value.axes + labels))
        return core + labels, False
    labels = (core[-1], *labels[1:])
    factors.append((value.term, value.axes + labels))
    return core[:-1] + labels[1:], row and value.rank == 2


def condition(reader: Reader, tree: Ast) -> Steps:
    """Translate `[k == i + j]`: 1 where it holds."""
    left = yield tree.args[0]
    right = yield tree.args[1]
    (a, b), axes, shape = side_by_side(reader, [left, right])
    return Value(reader.pool.term("indicator", (a, b), tree.value, shape), axes=axes)
