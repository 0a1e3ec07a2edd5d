"""Translates names, numbers, sums, products and powers."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import cast

from matcalc.errors import NotSupported
from matcalc.language.syntax import Ast, definition, part_name, tree_of_leaf, value_of_leaf
from matcalc.plain_source.index_forms import product as open_product
from matcalc.plain_source.index_forms import side_by_side, without_ones
from matcalc.plain_source.read import Reader, Steps, Value, negated
from matcalc.plain_source.terms.diagonals import one_diagonal
from matcalc.plain_source.terms.products import Factor, chained
from matcalc.plain_source.terms.term import UNKNOWN, Call, Term, transposed
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.sizes.size import Size


def operands(tree: Ast) -> Generator[Ast, Value, list[Value]]:
    found = []
    for child in tree.args:
        found.append((yield child))
    return found


def number(reader: Reader, tree: Ast) -> Value:
    return Value(reader.number(cast(Fraction, tree.value)))


def name(reader: Reader, tree: Ast) -> Value:
    name = str(tree.value)
    if name in reader.parameters:
        return reader.parameters[name]
    if name in reader.bound:
        label = reader.bound[name]
        return Value(reader.pool.term("index", (), label, (Size.of(f"{UNKNOWN}{label}"),)), axes=(label,))
    symbol = reader.names.symbols.get(name)
    if symbol is not None:
        return Value(reader.pool.term("name", (), name, symbol.shape, symbol.facts), node=symbol)
    if name in reader.names.size_names:
        return Value(reader.pool.term("size", (), name))
    if name == "pi":
        return Value(reader.pool.term("pi"))
    raise NotSupported(f"the name {name} has no plain source")


def leaf(reader: Reader, tree: Ast) -> Steps:
    node: Node = value_of_leaf(tree)
    if node in reader.pool.nodes:
        return Value(reader.pool.nodes[node], node=node)
    inner = yield tree_of_leaf(tree)
    return Value(inner.term, node=node)


def total(reader: Reader, tree: Ast) -> Steps:
    values = yield from operands(tree)
    signs = cast("tuple[int, ...]", tree.value)
    if any(value.axes for value in values):
        terms, axes, shape = side_by_side(reader, without_ones(reader, values))
        made = reader.pool.term("add", terms, signs, shape)
        reader.sums[made, axes] = list(zip(signs, values, strict=True))
        return Value(made, axes=axes)
    rank = max(value.rank for value in values)
    _measure(reader, [value.term.shape for value in values if value.rank == rank])
    shape = next(value.term.shape for value in values if value.rank == rank)
    rows = {value.row for value in values if value.rank == 1}
    is_wide = rank == 1 and len(rows) == 2
    if is_wide:
        column = next(v.term for v in values if v.rank == 1 and not v.row)
        row = next(v.term for v in values if v.rank == 1 and v.row)
        shape, rank = (*column.shape, *row.shape), 2
    terms = [expanded(reader, value, rank) for value in values]
    facts = frozenset({"symmetric"}) if all("symmetric" in t.facts or not t.rank for t in terms) else frozenset()
    made = one_diagonal(reader.pool, reader.pool.term("add", terms, signs, shape, facts))
    return Value(made, rank == 1 and rows == {True})


def _measure(reader: Reader, shapes: Sequence[tuple[Size, ...]]) -> None:
    """Record the lengths of indices that follow from another term of a sum."""
    for sizes in zip(*shapes, strict=False):
        known = [size for size in sizes if not str(size).startswith(UNKNOWN)]
        for size in sizes:
            if known and str(size).startswith(UNKNOWN):
                reader.pool.lengths.setdefault(int(str(size)[len(UNKNOWN) :]), known[0])


def expanded(reader: Reader, value: Value, rank: int) -> Term:
    """Return a vector as it expands beside a matrix: a column along columns, a row along rows."""
    if value.rank == 1 and rank == 2:
        if value.term.form == "neg":
            return negated(reader, expanded(reader, replace(value, term=value.term.args[0]), rank))
        return reader.pool.term("row" if value.row else "column", (value.term,), None, value.term.shape)
    return value.term


def negative(reader: Reader, tree: Ast) -> Steps:
    value = yield tree.args[0]
    return Value(negated(reader, value.term), value.row, axes=value.axes)


def transpose(reader: Reader, tree: Ast) -> Steps:
    value = yield tree.args[0]
    return turned(reader, value)


def turned(reader: Reader, value: Value) -> Value:
    if value.rank == 1:
        return replace(value, row=not value.row)
    if value.axes:
        raise NotSupported("a matrix over open indices, transposed, has no plain source")
    return Value(transposed(reader.pool, value.term), node=None if value.rank == 2 else value.node)


@dataclass(slots=True)
class Run:
    """A run of factors joined by `*`: scalars in front, arrays, scalars behind."""

    front: list[Term] = field(default_factory=list)
    arrays: list[Factor] = field(default_factory=list)
    behind: list[Term] = field(default_factory=list)


def product(reader: Reader, tree: Ast) -> Steps:
    values = yield from operands(tree)
    if any(value.axes for value in values):
        return open_product(reader, tree, values)
    run = Run()
    _append(reader, run, values[0])
    for operator, value in zip(cast("tuple[str, ...]", tree.value), values[1:], strict=True):
        if operator in ("*", "@"):
            _append(reader, run, value)
            continue
        if operator in (".*", "./", "/") and not value.rank:
            left = joined(reader, run)
            made = quotient(reader, left.term, value.term) if "/" in operator else scaled(reader, left.term, value.term)
            run = Run(front=[made]) if not made.rank else Run(arrays=[Factor(made, left.row)])
            continue
        left = joined(reader, run)
        if operator == "\\":
            made = inverse(reader, left.term) if left.rank else quotient(reader, reader.number(1), left.term)
            run = Run(arrays=[Factor(made)]) if left.rank else Run(front=[made])
            _append(reader, run, value)
            continue
        if operator in ("//", "%"):
            form = "floordiv" if operator == "//" else "mod"
            run = Run(front=[reader.pool.term(form, (left.term, value.term))])
            continue
        made_value = entrywise(reader, left, value, "mul" if operator == ".*" else "div")
        run = Run(arrays=[Factor(made_value.term, made_value.row)])
    return joined(reader, run)


def _append(reader: Reader, run: Run, value: Value) -> None:
    if value.rank == 0:
        (run.behind if run.arrays else run.front).append(value.term)
    else:
        term = value.term
        if term.form == "neg":
            term = term.args[0]
            run.front.append(reader.number(-1))
        run.arrays.append(Factor(term, value.row))
        is_scalar = value.rank == 1 and not value.row and len(run.arrays) > 1 and _is_row(run.arrays)
        if is_scalar:
            made = chained(reader.pool, run.arrays).term
            run.front.append(made)
            run.front += run.behind
            run.arrays, run.behind = [], []


def _is_row(factors: Sequence[Factor]) -> bool:
    """Whether a product that ends in a column begins with a row: it is a scalar."""
    return factors[0].row and not factors[0].is_matrix and all(f.is_matrix for f in factors[1:-1])


def joined(reader: Reader, run: Run) -> Value:
    """Return the product of a run: scalars multiply the product of the arrays."""
    scalar = _scalar(reader, run.front)
    if not run.arrays:
        assert scalar is not None
        return Value(scalar)
    made = chained(reader.pool, run.arrays)
    reader.pool.used.add(made.term)
    term = made.term if scalar is None else scaled(reader, scalar, made.term)
    for factor in run.behind:
        term = scaled(reader, term, factor)
    return Value(term, made.row)


def _scalar(reader: Reader, factors: Sequence[Term]) -> Term | None:
    """Return the product of scalars; the signs join the first of them."""
    signs = [f for f in factors if f.form == "number" and f.data == -1]
    others = [f for f in factors if f not in signs]
    total: Term | None = None
    for factor in others:
        total = factor if total is None else scaled(reader, total, factor)
    if len(signs) % 2 == 0:
        return total if total is not None or not signs else reader.number(1)
    if total is None:
        return reader.number(-1)
    return _with_sign(reader, total)


def _with_sign(reader: Reader, term: Term) -> Term:
    """Return the negative of a scalar, the sign on its first factor."""
    if term.form in ("mul", "div"):
        first = _with_sign(reader, term.args[0])
        return reader.pool.term(term.form, (first, *term.args[1:]), None, term.shape, term.facts)
    return term.args[0] if term.form == "neg" else negated(reader, term)


def scaled(reader: Reader, a: Term, b: Term) -> Term:
    """Return the product of two terms of which one is a scalar."""
    if a.form == "number" and a.data == 1:
        return b
    if b.form == "number" and b.data == 1:
        return a
    if a.form == "number" and a.data == -1:
        return negated(reader, b)
    if a.form == "number" and b.form == "number":
        return reader.number(a.data * b.data)
    array = a if a.rank else b
    if array.form == "diagonal":
        inner = (array.args[0], b) if a.rank else (a, array.args[0])
        return reader.pool.term(
            "diagonal", (reader.pool.term("mul", inner, None, array.shape[:1]),), None, array.shape, array.facts
        )
    facts = array.facts & {"symmetric", "diagonal", "lower", "upper"}
    return reader.pool.term("mul", (a, b), None, array.shape, facts)


def quotient(reader: Reader, a: Term, b: Term) -> Term:
    if a.form == "number" and b.form == "number" and b.data:
        return reader.number(a.data / b.data)
    if b.form == "neg":
        return negated(reader, quotient(reader, a, b.args[0]))
    if a.form == "neg" and a.rank and a.args[0].args:
        return negated(reader, quotient(reader, a.args[0], b))
    shape = a.shape or b.shape
    facts = a.facts & {"symmetric", "diagonal", "lower", "upper"} if not b.rank else frozenset[str]()
    return reader.pool.term("div", (a, b), None, shape, facts)


def entrywise(reader: Reader, a: Value, b: Value, form: str) -> Value:
    """Return the elementwise product or quotient of two values."""
    if not a.rank or not b.rank:
        made = scaled(reader, a.term, b.term) if form == "mul" else quotient(reader, a.term, b.term)
        return Value(made, a.row or b.row)
    rank = max(a.rank, b.rank)
    shape = a.term.shape if a.rank == rank else b.term.shape
    if rank == 1 and a.row != b.row:
        column, row = (b, a) if a.row else (a, b)
        rank, shape = 2, (*column.term.shape, *row.term.shape)
    signs = [value.term.form == "neg" and (value is b or bool(value.term.args[0].args)) for value in (a, b)]
    if any(signs):
        a, b = (replace(v, term=v.term.args[0]) if sign else v for v, sign in zip((a, b), signs, strict=True))
        made_value = entrywise(reader, a, b, form)
        return made_value if all(signs) else replace(made_value, term=negated(reader, made_value.term))
    pair = expanded(reader, a, rank), expanded(reader, b, rank)
    symmetric = frozenset({"symmetric"}) if all("symmetric" in t.facts for t in pair) else frozenset[str]()
    return Value(reader.pool.term(form, pair, None, shape, symmetric), rank == 1 and a.row)


def inverse(reader: Reader, term: Term) -> Term:
    facts = term.facts & {"symmetric", "spd", "lower", "upper", "diagonal"}
    return reader.pool.term("inverse", (term,), None, term.shape[::-1], facts)


def power(reader: Reader, tree: Ast) -> Steps:
    base = yield tree.args[0]
    exponent_tree = tree.args[1]
    is_entrywise = tree.value == ".^" or not base.rank
    if not is_entrywise and exponent_tree.head == "negative" and exponent_tree.args[0].value == "T":
        return turned(reader, Value(inverse(reader, base.term)))
    exponent = yield exponent_tree
    if base.axes or exponent.axes:
        (a, b), axes, _ = side_by_side(reader, [base, exponent])
        return replace(_entry_power(reader, Value(a), Value(b)), axes=axes)
    if is_entrywise:
        return _entry_power(reader, base, exponent)
    number = exponent.term.data if exponent.term.form == "number" else None
    if number == -1:
        return Value(inverse(reader, base.term))
    if number == 2:
        return Value(chained(reader.pool, [Factor(base.term)] * 2).term)
    if number == Fraction(1, 2):
        return Value(reader.pool.term("call", (base.term,), Call(reader.book.playing("matrix_root")), base.term.shape))
    if number == Fraction(-1, 2):
        root = Call(reader.book.playing("matrix_root"))
        return Value(inverse(reader, reader.pool.term("call", (base.term,), root, base.term.shape)))
    if number is None or number.denominator != 1:
        return Value(reader.pool.term("fractional_power", (base.term, exponent.term), None, base.term.shape))
    return Value(reader.pool.term("matrix_power", (base.term, exponent.term), None, base.term.shape))


def _entry_power(reader: Reader, base: Value, exponent: Value) -> Value:
    pool, term = reader.pool, base.term
    number = exponent.term.data if exponent.term.form == "number" else None
    if number == 1:
        return base
    if number == Fraction(1, 2):
        return Value(pool.term("call", (term,), Call(reader.book.playing("square_root")), term.shape), base.row)
    if number is not None and number < 0:
        inner = _entry_power(reader, base, Value(reader.number(-number))).term
        return Value(pool.term("div", (reader.number(1), inner), None, term.shape), base.row)
    if number is not None and number.denominator == 1 and number % 2 == 0 and term.form == "neg":
        return _entry_power(reader, replace(base, term=term.args[0]), exponent)
    if number == 2 and term.form == "call" and term.data.rule.role == "euclidean_length" and term.data.axis is None:
        return Value(pool.term("sum_of_squares", term.args, term.args[0].rank))
    rank = max(base.rank, exponent.rank)
    shape = base.term.shape if base.rank == rank else exponent.term.shape
    pair = expanded(reader, base, rank), expanded(reader, exponent, rank)
    return Value(pool.term("power", pair, None, shape), base.row or exponent.row)


def shared(reader: Reader, tree: Ast) -> Steps:
    key = definition(tree)
    if key not in reader.explicit:
        reader.explicit[key] = reader.with_sums(key)
    before, reader.bound = reader.bound, {}
    inner = yield reader.explicit[key]
    reader.bound = before
    if inner.term.args and not part_name(tree).isdigit():
        reader.pool.part_names.setdefault(inner.term, part_name(tree))
    return inner
