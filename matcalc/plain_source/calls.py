"""Translates calls: arguments that are functions, comparisons, and operations that are products in disguise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from matcalc.calculus.function_bodies import derivative
from matcalc.errors import NotSupported
from matcalc.formula.notation.write_node import formula_of
from matcalc.language.identifiers import supply
from matcalc.language.syntax import Ast, call_keywords, call_name, leaf_of, rebuild, with_order
from matcalc.language.syntax import call as ast_call
from matcalc.language.syntax import name as ast_name
from matcalc.language.write import text
from matcalc.plain_source.arithmetic import Run, expanded, inverse, joined
from matcalc.plain_source.index_forms import common_axes, side_by_side
from matcalc.plain_source.pairs import distances, remember_direction
from matcalc.plain_source.read import Reader, Steps, Value, negated
from matcalc.plain_source.terms.contraction import aligned
from matcalc.plain_source.terms.products import Factor, diagonal_of_product, power_of, trace_of_product
from matcalc.plain_source.terms.term import Call, Term, transposed
from matcalc.rulebook.load import Candidate
from matcalc.tensor.raw_nodes import parameter, symbol
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.substitute import substitute

ANY_RANK = ("entry", "array", "integer", "number", "function")


def call(reader: Reader, tree: Ast) -> Steps:
    """Translate a call."""
    word, args = call_name(tree), list(tree.args)
    if args and args[0].head == "compare":
        word += str(args[0].value)
        args[:1] = args[0].args
    if len(args) == 2:
        ordered = with_order(word, args[1])
        is_symbol = args[1].head == "name" and args[1].value in reader.names.symbols
        word, args = (ordered, args[:1]) if ordered in reader.book.spellings and not is_symbol else (word, args)
    keywords = dict(call_keywords(tree))
    axis_tree = keywords.pop("axis", None)
    if any(candidate.rule.kind == "implicit" for candidate in reader.book.candidates(word)):
        raise NotSupported(f"{word} has no plain source: it solves an equation")
    functions = _function_positions(reader, word)
    values: list[Value] = []
    for k, arg in enumerate((*args, *keywords.values())):
        if k in functions:
            values.append((yield from _function(reader, arg)))
        else:
            values.append((yield arg))
    if functions and _has_tangents(reader, word, len(values)):
        at = max(functions) + 1
        values.insert(at, (yield from _function(reader, _slope(reader, args[at - 1]))))
    axis = None
    if axis_tree is not None:
        rank = next((value.rank for value in values if value.rank), 0)
        axis = int((yield axis_tree).term.data) % rank if rank > 1 else None
    return called(reader, tree, word, values, axis)


def _function_positions(reader: Reader, word: str) -> set[int]:
    """Return the positions at which an operation takes a function."""
    return {
        k
        for candidate in reader.book.candidates(word)
        for k, parameter in enumerate(candidate.signature.parameters)
        if parameter.kind == "function"
    }


def _has_tangents(reader: Reader, word: str, count: int) -> bool:
    """Whether a call of an operation has arguments in its repeated parameter, along which it is differentiated."""
    parameters = reader.book.candidates(word)[0].signature.parameters
    return parameters[-1].repeated and count >= len(parameters)


def _as_function(tree: Ast) -> Ast:
    return tree if tree.head == "function" else Ast("function", (ast_call(str(tree.value), ast_name("x")),), "x")


def _slope(reader: Reader, tree: Ast) -> Ast:
    """Return the derivative of a function argument as a function."""
    tree = _as_function(tree)

    def of_parameter(node: Ast) -> Ast:
        is_parameter = node.head == "name" and node.value == tree.value
        return leaf_of(parameter(), lambda: node) if is_parameter else node

    body = derivative(reader.node_of(rebuild(tree.args[0], of_parameter)))
    x = symbol("x", ())
    return Ast("function", (formula_of(substitute(body, {parameter(): x})),), "x")


def _function(reader: Reader, tree: Ast) -> Steps:
    """Translate a function argument, `x -> body` or the name of an elementwise function."""
    tree = _as_function(tree)
    own = str(tree.value)
    before = reader.parameters
    reader.parameters = {**before, own: Value(reader.pool.term("parameter", (), own))}
    inner = yield tree.args[0]
    reader.parameters = before
    return Value(reader.pool.term("function", (inner.term,), own))


def called(reader: Reader, tree: Ast, word: str, values: Sequence[Value], axis: int | None) -> Value:
    """Return the value of a call, under the canonical name of its operation."""
    candidates = reader.book.candidates(word)
    if candidates[0].rule.keeps_rows:
        values = [_with_row(reader, value) for value in values]
    candidate = next((c for c in candidates if _fits(c, values, axis is not None)), candidates[0])
    if candidate.rule.associative and len(values) > 2:
        return _folded(reader, candidate, values)
    if any(value.axes for value in values):
        return _open_call(reader, tree, candidate, values, axis)
    if reader.parameters:
        return Value(operation(reader, candidate, [value.term for value in values], axis, ()))
    node = reader.needed_node(tree)
    special = _special(reader, candidate, values, axis)
    if special is not None:
        return replace(special, node=node)
    rank = node.rank
    is_map = any(p.kind == "entry" for p in candidate.signature.parameters)
    row = is_map and rank == 1 and all(value.row for value in values if value.rank)
    args = [expanded(reader, value, rank) for value in values] if is_map else [value.term for value in values]
    return Value(operation(reader, candidate, args, axis, node.shape), row, node)


def _with_row(reader: Reader, value: Value) -> Value:
    """Return a row as a matrix of one row."""
    if not value.row or value.rank != 1 or value.axes:
        return value
    return Value(reader.pool.term("as_row", (value.term,), None, (Size.of(1), *value.term.shape)))


def _open_call(reader: Reader, tree: Ast, candidate: Candidate, values: Sequence[Value], axis: int | None) -> Value:
    """Return a call over open indices: of an elementwise operation, or of a reduction of vectors."""
    if any(p.kind == "entry" for p in candidate.signature.parameters):
        terms, axes, shape = side_by_side(reader, values)
        return Value(operation(reader, candidate, terms, None, shape), axes=axes)
    first = values[0]
    if axis is not None or candidate.output:
        raise NotSupported(f"{text(tree)} has no plain source over open indices")
    if len(values) > 1 or first.rank != 1:
        return _vectorized(reader, tree, candidate, values)
    if candidate.rule.role == "euclidean_length" and (pairs := distances(reader, first)) is not None:
        return pairs
    count = len(first.axes)
    is_reduction = candidate.signature.outputs[0].kind == "scalar"
    shape = first.term.shape[:count] if is_reduction else first.term.shape
    made = operation(reader, candidate, [first.term], count, shape)
    if candidate.rule.role == "direction":
        remember_direction(reader, first, made)
    return Value(made, axes=first.axes)


def _vectorized(reader: Reader, tree: Ast, candidate: Candidate, values: Sequence[Value]) -> Value:
    """Return an operation that is applied once for each value of the open indices of its arguments."""
    axes = common_axes(values)
    pool, sizes = reader.pool, dict[str, Size]()
    args: list[Term] = []
    moved: list[tuple[str, Term, str]] = []
    parameters = candidate.signature.parameters
    lengths: dict[int, Size] = {}
    for value in values:
        lengths.update(zip(value.axes, value.term.shape, strict=False))
    for k, value in enumerate(values):
        declared = parameters[min(k, len(parameters) - 1)].sizes
        names = [str(size.value) for size in declared]
        sizes.update(zip(names, value.term.shape[len(value.axes) :], strict=False))
        if not value.axes:
            args.append(value.term)
            continue
        core = tuple(reader.new_label() for _ in range(value.rank))
        used = {*reader.names.scope, *reader.names.parts, *(one for one, _, _ in moved)}
        letter = next(supply("EFGH", used))
        moved.append((letter, aligned(pool, value.term, value.axes + core, axes + core), f"({','.join(names)})"))
        args.append(pool.term("parameter", (), letter, value.term.shape[len(value.axes) :]))
    out = [str(size.value) for size in candidate.signature.outputs[0].sizes]
    if any(name not in sizes for name in out):
        raise NotSupported(f"{text(tree)} has no plain source over open indices")
    body = operation(reader, candidate, args, None, [sizes[name] for name in out])
    function = pool.term("function", (body,), ", ".join(letter for letter, _, _ in moved))
    signature = f"{','.join(one for _, _, one in moved)}->({','.join(out)})"
    shape = [*(lengths[label] for label in axes), *(sizes[name] for name in out)]
    term = pool.term("vectorized", (function, *(arg for _, arg, _ in moved)), signature, shape)
    return Value(term, axes=axes)


def operation(
    reader: Reader, candidate: Candidate, args: Sequence[Term], axis: int | None, shape: Sequence[object]
) -> Term:
    """Return the term of an operation; one of several results is an item of them all."""
    rule, pool = candidate.rule, reader.pool
    if not candidate.output:
        return pool.term("call", args, Call(rule, candidate.index, axis), shape)  # type: ignore[arg-type]
    if axis is not None:
        raise NotSupported(f"{rule.name} along an axis has no plain source")
    whole = pool.term("joint", args, Call(rule, candidate.index, axis), ())
    return pool.term("item", (whole,), rule.outputs.index(candidate.output), shape)  # type: ignore[arg-type]


def _folded(reader: Reader, candidate: Candidate, values: Sequence[Value]) -> Value:
    """Return an operation of two operands applied to more of them, from the left."""
    total = values[0]
    for value in values[1:]:
        rank = max(total.rank, value.rank)
        pair = [expanded(reader, total, rank), expanded(reader, value, rank)]
        shape = next(term.shape for term in pair if term.rank == rank)
        row = (total.row or not total.rank) and (value.row or not value.rank)
        total = Value(operation(reader, candidate, pair, None, shape), row and rank == 1)
    return total


def _special(reader: Reader, candidate: Candidate, values: Sequence[Value], axis: int | None) -> Value | None:
    """Return an operation that has a term of its own: an inverse, a solution, the trace of a product."""
    role, pool, first = candidate.rule.role, reader.pool, values[0].term if values else None
    if first is None or axis is not None:
        return None
    if role == "logarithm" and first.form == "call" and first.data.rule.role == "determinant":
        if not first.args[0].facts & {"spd", "psd"}:
            return None
        return Value(pool.term("call", first.args, Call(reader.book.playing("log_determinant"))))
    if role == "weighted_logarithm" and "positive" in first.facts and first.rank == values[1].rank:
        logarithm = Call(reader.book.playing("logarithm"))
        pair = first, pool.term("call", (values[1].term,), logarithm, values[1].term.shape)
        return Value(pool.term("mul", pair, None, first.shape), values[0].row)
    if role == "inverse":
        return Value(inverse(reader, first))
    if role == "diagonals" and first.rank == 1:
        return Value(pool.term("diagonal", (first,), None, first.shape * 2, frozenset({"symmetric", "diagonal"})))
    if role in PRODUCTS and first.form == "neg" and first.rank == 2:
        made = _special(reader, candidate, [replace(values[0], term=first.args[0])], axis)
        return made and replace(made, term=negated(reader, made.term))
    if role == "diagonal_trace" and first.form == "matrix_power" and first.args[1].form == "number":
        rest = int(first.args[1].data) - 1
        return Value(trace_of_product(pool, power_of(pool, first.args[0], rest), transposed(pool, first.args[0])))
    if role in PRODUCTS and first.form == "matrix_product":
        a, b = first.args[0], transposed(pool, first.args[1])
        if role == "diagonal_trace":
            return Value(trace_of_product(pool, a, b))
        return Value(diagonal_of_product(pool, a, b))
    if role == "solution":
        run = Run(arrays=[Factor(inverse(reader, first)), Factor(values[1].term, values[1].row)])
        return joined(reader, run)
    return None


PRODUCTS = ("diagonal_trace", "diagonals")
"""Operations that need only some entries of a product, by role."""


def _fits(candidate: Candidate, values: Sequence[Value], has_axis: bool) -> bool:
    parameters = candidate.signature.parameters
    if len(parameters) != len(values):
        return bool(parameters) and parameters[-1].repeated and len(values) >= len(parameters) - 1
    for k, (declared, value) in enumerate(zip(parameters, values, strict=True)):
        if declared.kind in ANY_RANK or (has_axis and k == 0):
            continue
        if len(declared.sizes) != value.rank:
            return False
    return True
