"""Translates a syntax tree into terms: the forms that need no index.

Each tree without open indices is built as a node from the nodes of its operands. So equal parts of several formulas are
one term, and facts of matrices are known where an operation is chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, TypeAlias, cast

from matcalc.errors import NotSupported
from matcalc.formula.elaborate.rule_formula import build_formula
from matcalc.formula.notation.write_node import formula_of
from matcalc.language.syntax import (
    Ast,
    call_keywords,
    call_name,
    children,
    definition,
    exchanged,
    given,
    given_tree,
    given_value,
    part_name,
    transpose,
    with_order,
)
from matcalc.language.write import text
from matcalc.plain_source.products import Factor, chained
from matcalc.plain_source.term import Call, Pool, Term, transposed
from matcalc.rulebook.load import Rulebook, default_rulebook
from matcalc.tensor.constructors import product, scale
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.symbols import Names


@dataclass(frozen=True, slots=True)
class Value:
    """The value of a tree: its term, whether it is a row, and its node if it has no open index."""

    term: Term
    row: bool = False
    node: Node | None = None

    @property
    def rank(self) -> int:
        return self.term.rank


Steps: TypeAlias = "Generator[Ast, Value, Value]"
Form: TypeAlias = "Callable[[Reader, Ast], Steps | Value]"


@dataclass(slots=True)
class Reader:
    """The state of translating the formulas of one function."""

    names: Names
    pool: Pool = field(default_factory=Pool)
    book: Rulebook = field(default_factory=default_rulebook)
    values: dict[Ast, Value] = field(default_factory=dict)

    def read(self, tree: Ast) -> Value:
        """Return the value of a tree.

        Raises: NotSupported for a form without plain source.
        """
        stack: list[tuple[Ast, Steps]] = []
        answer = self._entered(tree, stack)
        while stack:
            try:
                answer = self._entered(stack[-1][1].send(cast(Any, answer)), stack)
            except StopIteration as done:
                own, _ = stack.pop()
                answer = self._known(own, done.value)
        assert answer is not None
        return answer

    def _entered(self, tree: Ast, stack: list[tuple[Ast, Steps]]) -> Value | None:
        if tree in self.values:
            return self.values[tree]
        if tree.head not in FORMS:
            raise NotSupported(f"{text(tree)} has no plain source")
        found = FORMS[tree.head](self, tree)
        if isinstance(found, Value):
            return self._known(tree, found)
        stack.append((tree, found))
        return None

    def _known(self, tree: Ast, value: Value) -> Value:
        """Return a value with its node, and with the term of an equal part that was met before."""
        node = value.node or self.node_of(tree)
        term = value.term
        if node is not None and term.args and node.kind not in ("number", "size"):
            term = self._same(node, term)
        value = replace(value, term=term, node=node)
        self.values[tree] = value
        return value

    def _same(self, node: Node, term: Term) -> Term:
        """Return the term of an equal part that was met before, or of its transpose or negative; else `term`."""
        pool = self.pool
        found = pool.nodes.get(node)
        if found is not None:
            return found
        if (
            node.rank == 2
            and term.form not in ("transpose", "diagonal")
            and (flipped := pool.nodes.get(turned_node(node)))
        ):
            term = transposed(pool, flipped)
        elif term.form == "add":
            minus = scale(-1, node)
            if minus in pool.nodes:
                term = negated(self, pool.nodes[minus])
            elif node.rank == 2 and (flipped := pool.nodes.get(turned_node(minus))):
                term = negated(self, transposed(pool, flipped))
        pool.nodes[node] = term
        term.facts |= node.facts
        return term

    def node_of(self, tree: Ast) -> Node | None:
        """Return the node of a tree, built from the nodes of its operands."""
        operands = [self._leaf(child) for child in children(tree)]
        symbols = {name: node for name, node in self.names.symbols.items()}
        sizes = {name: Size.of(name) for name in self.names.size_names}
        return build_formula(exchanged(tree, operands), (), self.book, symbols, sizes=sizes)

    def _leaf(self, tree: Ast) -> Ast:
        value = self.values.get(tree)
        if value is None or value.node is None:
            return tree
        node = value.node
        leaf = given(node, lambda: formula_of(node))
        return transpose(leaf) if value.row and value.rank == 1 else leaf

    def number(self, value: Fraction | int) -> Term:
        return self.pool.number(value)


def turned_node(node: Node) -> Node:
    """Return the node of the transpose of a matrix."""
    return product(1, [(node, (0, 1))], (1, 0))


def operands(tree: Ast) -> Generator[Ast, Value, list[Value]]:
    found = []
    for child in tree.args:
        found.append((yield child))
    return found


def _number(reader: Reader, tree: Ast) -> Value:
    return Value(reader.number(cast(Fraction, tree.value)))


def _name(reader: Reader, tree: Ast) -> Value:
    name = str(tree.value)
    symbol = reader.names.symbols.get(name)
    if symbol is not None:
        return Value(reader.pool.term("name", (), name, symbol.shape, symbol.facts), node=symbol)
    if name in reader.names.size_names:
        return Value(reader.pool.term("size", (), name))
    if name == "pi":
        return Value(reader.pool.term("pi"))
    raise NotSupported(f"the name {name} has no plain source")


def _given(reader: Reader, tree: Ast) -> Steps:
    node: Node = given_value(tree)
    if node in reader.pool.nodes:
        return Value(reader.pool.nodes[node], node=node)
    inner = yield given_tree(tree)
    return Value(inner.term, node=node)


def _sum(reader: Reader, tree: Ast) -> Steps:
    values = yield from operands(tree)
    signs = cast("tuple[int, ...]", tree.value)
    rank = max(value.rank for value in values)
    shape = next(value.term.shape for value in values if value.rank == rank)
    rows = {value.row for value in values if value.rank == 1}
    is_wide = rank == 1 and len(rows) == 2
    if is_wide:
        column = next(v.term for v in values if v.rank == 1 and not v.row)
        row = next(v.term for v in values if v.rank == 1 and v.row)
        shape, rank = (*column.shape, *row.shape), 2
    terms = [expanded(reader, value, rank) for value in values]
    facts = frozenset({"symmetric"}) if all("symmetric" in t.facts or not t.rank for t in terms) else frozenset()
    made = reader.pool.term("add", terms, signs, shape, facts)
    return Value(made, rank == 1 and rows == {True})


def expanded(reader: Reader, value: Value, rank: int) -> Term:
    """Return a vector as it expands beside a matrix: a column along columns, a row along rows."""
    if value.rank == 1 and rank == 2:
        return reader.pool.term("row" if value.row else "column", (value.term,), None, value.term.shape)
    return value.term


def _negative(reader: Reader, tree: Ast) -> Steps:
    value = yield tree.args[0]
    return Value(negated(reader, value.term), value.row)


def negated(reader: Reader, term: Term) -> Term:
    if term.form == "number":
        return reader.number(-term.data)
    return reader.pool.term("neg", (term,), None, term.shape, term.facts & {"symmetric", "diagonal", "lower", "upper"})


def _transpose(reader: Reader, tree: Ast) -> Steps:
    value = yield tree.args[0]
    return turned(reader, value)


def turned(reader: Reader, value: Value) -> Value:
    if value.rank == 1:
        return replace(value, row=not value.row)
    return Value(transposed(reader.pool, value.term), node=None if value.rank == 2 else value.node)


@dataclass(slots=True)
class Run:
    """A run of factors joined by `*`: scalars in front, arrays, scalars behind."""

    front: list[Term] = field(default_factory=list)
    arrays: list[Factor] = field(default_factory=list)
    behind: list[Term] = field(default_factory=list)


def _product(reader: Reader, tree: Ast) -> Steps:
    values = yield from operands(tree)
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
    elif value.rank > 2:
        raise NotSupported("a tensor in a product")
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
    if b.term.form == "neg":
        made_value = entrywise(reader, a, replace(b, term=b.term.args[0]), form)
        return replace(made_value, term=negated(reader, made_value.term))
    pair = expanded(reader, a, rank), expanded(reader, b, rank)
    symmetric = frozenset({"symmetric"}) if all("symmetric" in t.facts for t in pair) else frozenset[str]()
    return Value(reader.pool.term(form, pair, None, shape, symmetric), rank == 1 and a.row)


def inverse(reader: Reader, term: Term) -> Term:
    facts = term.facts & {"symmetric", "spd", "lower", "upper", "diagonal"}
    return reader.pool.term("inverse", (term,), None, term.shape[::-1], facts)


def _power(reader: Reader, tree: Ast) -> Steps:
    base = yield tree.args[0]
    exponent_tree = tree.args[1]
    is_entrywise = tree.value == ".^" or not base.rank
    if not is_entrywise and exponent_tree.head == "negative" and exponent_tree.args[0].value == "T":
        return turned(reader, Value(inverse(reader, base.term)))
    exponent = yield exponent_tree
    if is_entrywise:
        return _entry_power(reader, base, exponent)
    number = exponent.term.data if exponent.term.form == "number" else None
    if number == -1:
        return Value(inverse(reader, base.term))
    if number == 2:
        return Value(chained(reader.pool, [Factor(base.term)] * 2).term)
    if number == Fraction(1, 2):
        return Value(reader.pool.term("call", (base.term,), Call("sqrtm"), base.term.shape))
    if number is None or number.denominator != 1:
        return Value(reader.pool.term("fractional_power", (base.term, exponent.term), None, base.term.shape))
    return Value(reader.pool.term("matrix_power", (base.term, exponent.term), None, base.term.shape))


def _entry_power(reader: Reader, base: Value, exponent: Value) -> Value:
    pool, term = reader.pool, base.term
    number = exponent.term.data if exponent.term.form == "number" else None
    if number == 1:
        return base
    if number == Fraction(1, 2):
        return Value(pool.term("call", (term,), Call("sqrt"), term.shape), base.row)
    if number is not None and number < 0:
        inner = _entry_power(reader, base, Value(reader.number(-number))).term
        return Value(pool.term("div", (reader.number(1), inner), None, term.shape), base.row)
    if number == 2 and term.form == "call" and term.data.name == "norm2" and term.data.axis is None:
        return Value(pool.term("sum_of_squares", term.args, term.args[0].rank))
    rank = max(base.rank, exponent.rank)
    shape = base.term.shape if base.rank == rank else exponent.term.shape
    pair = expanded(reader, base, rank), expanded(reader, exponent, rank)
    return Value(pool.term("power", pair, None, shape), base.row or exponent.row)


def _shared(reader: Reader, tree: Ast) -> Steps:
    inner = yield definition(tree)
    if inner.term.args and not part_name(tree).isdigit():
        reader.pool.part_names.setdefault(inner.term, part_name(tree))
    return inner


def _call(reader: Reader, tree: Ast) -> Steps:
    word, args = call_name(tree), list(tree.args)
    if args and args[0].head == "compare":
        word += str(args[0].value)
        args[:1] = args[0].args
    if len(args) == 2:
        ordered = with_order(word, args[1])
        if ordered in reader.book.spellings and not (args[1].head == "name" and args[1].value in reader.names.symbols):
            word, args = ordered, args[:1]
    values = []
    for arg in args:
        values.append((yield arg))
    keywords: dict[str, Value] = {}
    for key, arg in call_keywords(tree):
        keywords[key] = yield arg
    return called(reader, tree, word, values, keywords)


def called(reader: Reader, tree: Ast, word: str, values: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """Return the value of a call, under the canonical name of its operation."""
    candidates = reader.book.candidates(word)
    candidate = next((c for c in candidates if _fits(c, values, "axis" in keywords)), candidates[0])
    rule = candidate.rule
    name = f"{rule.name}_{candidate.output}" if candidate.output else rule.name
    axis = None
    if "axis" in keywords:
        rank = next((value.rank for value in values if value.rank), 0)
        axis = int(keywords["axis"].term.data) % rank if rank > 1 else None
    node = reader.node_of(tree)
    assert node is not None
    shape = node.shape
    others = tuple((key, value.term) for key, value in keywords.items() if key != "axis")
    if rule.role == "inverse":
        return Value(inverse(reader, values[0].term), node=node)
    if rule.role == "diagonals" and values[0].rank == 1:
        facts = frozenset({"symmetric", "diagonal"})
        return Value(reader.pool.term("diagonal", (values[0].term,), None, shape, facts), node=node)
    if rule.role == "diagonal_trace" and values[0].term.form == "matmul":
        a, b = values[0].term.args
        return Value(reader.pool.term("trace_of_product", (a, transposed(reader.pool, b))), node=node)
    if rule.role == "diagonals" and values[0].term.form == "matmul":
        a, b = values[0].term.args
        return Value(reader.pool.term("diagonal_of_product", (a, transposed(reader.pool, b)), None, shape), node=node)
    if rule.role == "solution":
        run = Run(arrays=[Factor(inverse(reader, values[0].term)), Factor(values[1].term, values[1].row)])
        return replace(joined(reader, run), node=node)
    rank = len(shape)
    is_map = any(p.kind == "entry" for p in candidate.signature.parameters)
    args = [expanded(reader, value, rank) for value in values] if is_map else [value.term for value in values]
    row = is_map and rank == 1 and all(value.row for value in values if value.rank)
    data = Call(name, axis, others)
    return Value(reader.pool.term("call", args, data, shape, node.facts), row, node)


def _fits(candidate: Any, values: Sequence[Value], has_axis: bool) -> bool:
    parameters = candidate.signature.parameters
    if len(parameters) != len(values):
        return bool(parameters) and parameters[-1].repeated and len(values) >= len(parameters)
    for parameter, value in zip(parameters, values, strict=True):
        if parameter.kind in ("entry", "array", "integer", "number", "function"):
            continue
        if len(parameter.sizes) != value.rank and not has_axis:
            return False
    return True


FORMS: dict[str, Form] = {
    "number": _number,
    "name": _name,
    "given": _given,
    "sum": _sum,
    "dotted_sum": _sum,
    "product": _product,
    "negative": _negative,
    "transpose": _transpose,
    "power": _power,
    "shared": _shared,
    "call": _call,
}
