"""Translates parts `A[1:3, 0]`, `x[-1]`, `X[i[t], k]` and block matrices."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any

from matcalc.errors import NotSupported
from matcalc.language.syntax import Ast
from matcalc.language.write import text
from matcalc.plain_source.pairs import remember_entry
from matcalc.plain_source.read import Reader, Steps, Value
from matcalc.plain_source.terms.contraction import Labels, aligned, diagonal_part
from matcalc.plain_source.terms.ranges import range_of
from matcalc.plain_source.terms.term import Term
from matcalc.tensor.sizes.size import Size


@dataclass(slots=True)
class Selection:
    """The subscripts of a part: how each axis is selected, the terms in them, and the labels of the result's axes."""

    spec: list[Any] = field(default_factory=list)
    terms: list[Term] = field(default_factory=list)
    labels: list[int] = field(default_factory=list)
    shape: list[Size] = field(default_factory=list)
    core: list[int] = field(default_factory=list)
    is_whole: bool = True

    def add(self, term: Term) -> int:
        """Add a term of a subscript; return its position among the operands."""
        self.terms.append(term)
        return len(self.terms)


def part(reader: Reader, tree: Ast) -> Steps:
    """Translate a part. An axis with an index name keeps that label, one with a range stays an axis."""
    base = yield tree.args[0]
    count = len(base.axes)
    found = Selection([("all",)] * count, [], list(base.axes), list(base.term.shape[:count]))
    for axis, size in enumerate(base.term.shape[count:]):
        subscript = tree.args[1 + axis] if axis + 1 < len(tree.args) else None
        yield from _selected(reader, found, subscript, size)
    _pair_ranges(reader, found)
    axes = tuple(dict.fromkeys(label for label in found.labels if label not in found.core))
    core = tuple(found.core)
    term = base.term
    _measure(found, term)
    if not found.is_whole:
        term = reader.pool.term("part", (term, *found.terms), tuple(found.spec), found.shape)
    term, labels = diagonal_part(reader.pool, term, tuple(found.labels))
    if labels != axes + core:
        term = aligned(reader.pool, term, labels, axes + core)
    value = Value(term, base.row and len(core) == 1, axes=axes)
    if found.is_whole and not core and len(axes) == base.term.rank and term is base.term:
        remember_entry(reader, base, value, tuple(found.labels[count:]))
    return value


def _measure(found: Selection, base: Term) -> None:
    """Set the sizes of the axes that ranges select."""
    position = 0
    seen = False
    for spec, size in zip(found.spec, base.shape, strict=True):
        if spec[0] == "at" or (spec[0] == "gather" and seen):
            continue
        seen = seen or spec[0] == "gather"
        if spec[0] == "range":
            bounds = [found.terms[k - 1] if k else None for k in spec[1:]]
            found.shape[position] = range_of(bounds, size).count
        position += 1 if spec[0] != "gather" else len(spec[2])


def _selected(reader: Reader, found: Selection, subscript: Ast | None, size: Size) -> Generator[Ast, Value, None]:
    """Add the selection of one axis."""
    if subscript is None or (subscript.head == "slice" and all(bound.head == "empty" for bound in subscript.args)):
        _keep(reader, found, ("all",), size)
        return
    if subscript.head == "slice":
        bounds: list[int] = []
        for bound in subscript.args:
            bounds.append(0 if bound.head == "empty" else found.add((yield bound).term))
        _keep(reader, found, ("range", *bounds), Size.of("_part"))
        found.is_whole = False
        return
    if subscript.head == "name" and subscript.value in reader.bound:
        label = reader.bound[str(subscript.value)]
        reader.pool.lengths.setdefault(label, size)
        found.spec.append(("all",))
        found.labels.append(label)
        found.shape.append(size)
        return
    value = yield subscript
    found.is_whole = False
    position = found.add(value.term)
    if value.axes or value.rank:
        _gather(reader, found, value, position)
        return
    found.spec.append(("at", position))


def _pair_ranges(reader: Reader, found: Selection) -> None:
    """Select an axis by the range of its index where an array of indices over the same index selects another axis."""
    gathered = {label for spec in found.spec if spec[0] == "gather" for label in spec[2]}
    position = 0
    for k, spec in enumerate(found.spec):
        if spec[0] == "at" or (spec[0] == "gather" and spec is not _first_gather(found)):
            continue
        label = found.labels[position]
        if spec[0] == "all" and label in gathered:
            index = found.add(reader.pool.term("index", (), label, (found.shape[position],)))
            found.spec[k] = ("gather", index, (label,))
            del found.labels[position], found.shape[position]
            continue
        position += 1 if spec[0] != "gather" else len(spec[2])


def _first_gather(found: Selection) -> object:
    return next((spec for spec in found.spec if spec[0] == "gather"), None)


def _keep(reader: Reader, found: Selection, spec: tuple[Any, ...], size: Size) -> None:
    label = reader.new_label()
    found.spec.append(spec)
    found.labels.append(label)
    found.core.append(label)
    found.shape.append(size)


def _gather(reader: Reader, found: Selection, value: Value, position: int) -> None:
    """Add a selection by an array of indices; two such arrays go together entry by entry."""
    earlier = [spec for spec in found.spec if spec[0] == "gather"]
    labels: Labels = value.axes
    if value.rank:
        labels = earlier[0][2] if earlier else tuple(reader.new_label() for _ in range(value.rank))
    if earlier and (found.spec[-1][0] != "gather" or earlier[-1][2] != labels):
        raise NotSupported("indices of two axes that do not go together have no plain source")
    found.spec.append(("gather", position, labels))
    if earlier:
        return
    found.labels += labels
    found.shape += value.term.shape
    if value.rank:
        found.core += labels


def block(reader: Reader, tree: Ast) -> Steps:
    """Translate `[A, B; C, D]`, `[x; y]` and arrays of numbers."""
    rows: list[list[Value]] = []
    for row in tree.args:
        own = []
        for entry in row.args:
            own.append((yield entry))
        rows.append(own)
    entries = [entry for row in rows for entry in row]
    if any(entry.axes for entry in entries):
        raise NotSupported(f"{text(tree)} has no plain source over open indices")
    is_vector = all(len(row) == 1 and not row[0].row and row[0].rank < 2 for row in rows)
    node = reader.needed_node(tree)
    if all(not entry.rank for entry in entries):
        form = "vector" if is_vector else "array"
        made = reader.pool.term(form, [e.term for e in entries], tuple(len(row) for row in rows), node.shape)
        return Value(made, node=node)
    if is_vector:
        parts = [_as_vector(reader, entry) for entry in entries]
        return Value(reader.pool.term("concatenate", parts, None, node.shape), node=node)
    parts = [_as_matrix(reader, entry) for entry in entries]
    made = reader.pool.term("block", parts, tuple(len(row) for row in rows), node.shape)
    return Value(made, node=node)


def _as_vector(reader: Reader, entry: Value) -> Term:
    return entry.term if entry.rank else reader.pool.term("entry", (entry.term,), None, (Size.of(1),))


def _as_matrix(reader: Reader, entry: Value) -> Term:
    """Return a block as a matrix: a row as 1 x n, a column as n x 1."""
    if entry.rank == 2:
        return entry.term
    if not entry.rank:
        return reader.pool.term("entry_block", (entry.term,), None, (Size.of(1),) * 2)
    form = "as_row" if entry.row else "as_column"
    return reader.pool.term(form, (entry.term,), None, entry.term.shape)
