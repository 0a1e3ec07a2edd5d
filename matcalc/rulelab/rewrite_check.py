"""Tests a rewrite: it fires on its own left side, its result is not larger, and both sides are equal.

Both sides must be equal inside larger tensors too (see `batch`), wherever the rewrite fires there.

A rewrite is tested on symbols with the facts that it requires, on random data with these facts; a function variable is
exp and a number 5/2 or -2. A node is larger than another if it has more results that depend on a choice
(eigenvectors), then more roots of sums (not norms), then more work: operations count more than elementwise
functions, and these more than sums and products, each once in the DAG. This order makes rewriting terminate. A stable
form (a `factor`, or `numeric`) may be larger, since no other rewrite reverts it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

import numpy as np

from matcalc.calculus.evaluate.evaluate import evaluate
from matcalc.calculus.simplify.compiled_rewrites import Pattern, compiled, compiled_as, kinds, sides
from matcalc.calculus.simplify.index_by_word import outline, outline_of
from matcalc.calculus.simplify.rewrite import results
from matcalc.calculus.simplify.rewrite_index import readings
from matcalc.evidence.numeric.sampling import MODES, Array, drawn, shape_at
from matcalc.formula.elaborate.rule_formula import build_formula
from matcalc.formula.notation.write_node import formula_of
from matcalc.language.write import text
from matcalc.rulebook.load import Rulebook, default_rulebook
from matcalc.rulebook.notations import spelled
from matcalc.rulebook.rule import Rewrite
from matcalc.rulelab.batch import error, in_tensors, symbols_of
from matcalc.rulelab.rule_point import is_worded
from matcalc.tensor.constructors import symbol
from matcalc.tensor.nodes.node import Node, exponent_of, toposort
from matcalc.tensor.raw_nodes import parameter
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.substitute import substitute

NUMBERS = (Fraction(5, 2), Fraction(-2))
"""Values of a number variable: a power that is real only for positive bases, and one for bases of both signs."""

BOUND = 1e-9
TALL = ((4, 3), (3, 2))  # columns can be orthonormal
CYCLE = len(MODES)
"""A further mode: the largest entries of a matrix form a cycle, a permutation that is not its own inverse; numbers and
vectors are even, so that powers of both signs are real. One more mode has singular matrices."""

ZEROS = CYCLE + 2
"""The mode where every symbol without a fact is 0. Sides are compared where each part of the left one is finite."""

PART = 2  # the value of an integer variable: a number of rows or columns
WORK = {"op": 32, "map": 30}
"""The work of a node for each operand; an operand of a sum or product counts 1."""


def rewrite_faults(rewrite: Rewrite, book: Rulebook) -> list[str]:
    """Return the faults of a rewrite; none if it passes every test.

    Raises: RuleError for a side that cannot be built.
    """
    found: dict[str, str] = {}
    for kind in kinds(rewrite):
        for pattern in compiled_as(rewrite, kind, book):
            for what, detail in (*_index_faults(kind, pattern, book), *_faults(pattern, book)):
                found.setdefault(what, f"{rewrite} {what}{detail}")
    return list(found.values())


def _index_faults(kind: str, pattern: Pattern, book: Rulebook) -> Iterator[tuple[str, str]]:
    """Yield a fault if the rewrite would never be tried on its own left side."""
    if kind not in readings(pattern.rewrite, outline_of(pattern.left), book):
        yield "is never tried", f": its left side becomes {text(formula_of(pattern.left))}; write it so"


def _faults(pattern: Pattern, book: Rulebook) -> Iterator[tuple[str, str]]:
    chosen = chosen_symbols(pattern, book)
    if chosen is None:
        yield "has a condition that no declared fact makes hold", ""
        return
    left, right = applied_sides(pattern, book, chosen)
    if left is right:
        yield "says nothing: both sides are the same by construction", ""
        return
    if left.shape != right.shape:
        yield "changes the shape", f" from {_shape(left)} to {_shape(right)}"
        return
    if right not in list(results(pattern, left, book)):
        yield "does not fire on its own left side", ""
    if pattern.rewrite.splits:
        if widest(right, left.kind) >= widest(left, left.kind):
            yield "splits nothing", f": an {left.kind} on the right is as wide as the one on the left"
    elif pattern.rewrite.factor or pattern.rewrite.numeric:
        met = (n for n in toposort([right]) if outline(n).may_contain(outline_of(left)))
        if any(made is not n for n in met for made in results(pattern, n, book)):
            yield "fires on its own right side", ""
    elif _measure(right) > _measure(left):
        yield "makes a formula larger", f": {work(left)} to {work(right)}"
    for number in NUMBERS if pattern.others else NUMBERS[:1]:
        error = difference(*applied_sides(pattern, book, chosen, number))
        if error is None:
            yield "has no random data at which both sides are finite", ""
        elif error > BOUND:
            yield "is wrong: its sides differ", f" by {error:.2g}"
    yield from _in_tensors(pattern, left, book)


def _in_tensors(pattern: Pattern, left: Node, book: Rulebook) -> Iterator[tuple[str, str]]:
    """Test a rewrite wherever it fires on its left side inside larger tensors, with reductions over every axis."""
    patterns = compiled(pattern.rewrite, book)

    def fired(nodes: Sequence[Node]) -> Iterator[tuple[Node, Node]]:
        for node in toposort(nodes):
            for other in patterns:
                if outline(node).may_contain(outline_of(other.left)):
                    yield from ((node, result) for result in results(other, node, book))

    symbols = symbols_of(left)
    sizes = _lengths(symbols, [left], TALL[1])
    for mode in range(CYCLE + 1):

        def draw(number: int, mode: int = mode) -> dict[str, Array]:
            rng = np.random.default_rng([17, mode, number])
            return {s.name: _drawn(rng, s, sizes, mode) for s in symbols}

        found = [(at.lift, error(at, fired)) for at in in_tensors(left, draw, sizes)]
        for lift, off in found:
            if off > BOUND:
                yield "is wrong inside a larger tensor", f", {lift}: by {off:.2g}"
        if found:
            return


def applied_sides(
    pattern: Pattern, book: Rulebook, chosen: Mapping[Node, Node], number: Fraction = NUMBERS[0]
) -> tuple[Node, Node]:
    """Return both sides over the chosen symbols, with values for function and number variables."""
    left, right = pattern.left, pattern.right
    if pattern.others:
        body = build_formula(f"{spelled('exponential')}(x)", (), book, {"x": parameter()})
        given = tuple((name, body if isinstance(v, Node) else number) for name, v in pattern.others)
        found = sides(pattern.rewrite, pattern.declared, given, book)
        left, right = found.left, found.right
    return substitute(left, dict(chosen)), substitute(right, dict(chosen))


def chosen_symbols(pattern: Pattern, book: Rulebook) -> dict[Node, Node] | None:
    """Return replacements of the symbols in the conditions, with facts under which the conditions hold, or None."""
    chosen: dict[Node, Node] = {}
    for fact, node in pattern.conditions:
        variables = [n for n in toposort([node]) if n.kind == "symbol"]
        options = [fact, *(f for f in book.facts if f != fact)]
        trials = ({v: _with_fact(v, f, book) for v in variables} for f in options)
        holding = (t for t in trials if fact in substitute(node, t).facts)
        found = next(holding, None)
        if found is None:
            return None
        chosen.update(found)
    return chosen


def _with_fact(variable: Node, fact: str, book: Rulebook) -> Node:
    fits = book.facts[fact].of == "any" or len(variable.shape) == 2
    square = len(variable.shape) == 2 and variable.shape[0] == variable.shape[1]
    if not fits or (book.facts[fact].of == "square" and not square):
        return variable
    return symbol(variable.name, variable.shape, sorted({*variable.data[1], fact}))


def _measure(node: Node) -> tuple[int, int, int]:
    """Return the measure that a rewrite must not increase: choices, then roots, then work."""
    powers = [exponent_of(n) for n in toposort([node])]
    roots = sum(base.kind in ("sum", "product") and exponent.denominator != 1 for base, exponent in powers)
    return gauge_parts(node), roots, work(node)


def gauge_parts(node: Node) -> int:
    """Return the number of results in a node that depend on a choice; a rewrite may add work to remove them."""
    return sum(is_gauge_part(n) for n in toposort([node]))


def is_gauge_part(node: Node) -> bool:
    """Whether a node is a result that depends on a choice: the vectors of a decomposition, not its values."""
    return node.kind == "op" and node.rule.gauge is not None and len(node.shape) - node.batch_rank == 2


def work(node: Node) -> int:
    """Return the work in a node; a change of sign counts 0, and so does an operation that passes its operand on."""
    counted = (n for n in toposort([node]) if not (n.kind == "product" and _is_sign(n) or _passes_on(n)))
    return sum(WORK.get(n.kind, 1) * len(n.args) for n in counted)


def widest(node: Node, kind: str) -> int:
    """Return the number of factors and terms of the widest op (or map), which a splitting rewrite must decrease."""
    order, width = toposort([node]), dict[Node, int]()
    for n in order:
        width[n] = 1 + sum(width[a] for a in n.args if n.kind in ("product", "sum"))
    return max((sum(width[a] for a in n.args) for n in order if n.kind == kind), default=0)


def _is_sign(node: Node) -> bool:
    return len(node.args) == 1 and node.coef == -1


def _passes_on(node: Node) -> bool:
    """Whether a node is an operation whose differential is that of its only operand."""
    if node.kind != "op" or len(node.args) != 1:
        return False
    return node.rule.differentials == {"": f"d{node.rule.parameters[0].name}"}


def difference(left: Node, right: Node) -> float | None:
    """Return the largest relative difference of two nodes at random data; None if they are never finite.

    With a domain in words, the data of one mode may be outside of it.
    """
    worded = in_words([left])
    has_choice = any(n.kind == "op" and n.rule.gauge for n in toposort([left]))
    modes = range(CYCLE + 1 + (not worded and not has_choice))
    found = [[_difference(left, right, lengths, mode) for lengths in TALL] for mode in modes]
    errors = sorted(max(e for e in several if e is not None) for several in found if several != [None, None])
    if not errors:  # such as log(x - y), and logarithms of decreasing functions
        apart = [_difference(left, right, TALL[0], 0, signs) for signs in SIGNS]
        errors = [e for e in apart if e is not None]
    if not errors:
        return None
    has_border = any(n.kind == "op" and in_words([n]) for n in toposort([left]))
    at_zero = None if has_choice or has_border else _difference(left, right, TALL[0], ZEROS)
    return max(errors[-2 if worded and len(errors) > 1 else -1], at_zero or 0.0)


SIGNS = ((1, -1), (-1, -1), (-1, 1))
"""Signs of the first variable and of the others, tried if data of mixed signs are outside the domain."""


def _difference(
    left: Node, right: Node, lengths: Sequence[int], mode: int, signs: tuple[int, int] | None = None
) -> float | None:
    """Return the relative difference at one set of data: infinite without a right side, None without a left one."""
    symbols = [n for n in toposort([left, right]) if n.kind == "symbol" and n is not parameter()]
    sizes = _lengths(symbols, [left, right], lengths)
    rng = np.random.default_rng([13, mode])
    data = {s.name: _drawn(rng, s, sizes, mode) for s in symbols}
    if signs:
        data = {name: signs[k > 0] * (0.25 + np.abs(data[name])) for k, name in enumerate(sorted(data))}
    one, other = (_value(node, data, sizes) for node in (left, right))
    if one is None or mode == ZEROS and any(_value(part, data, sizes) is None for part in toposort([left])):
        return None  # the right side may have a wider domain
    if other is None:
        return np.inf  # the right side must not have a smaller domain
    terms = [_value(term, data, sizes) for term in (left, *(left.args if left.kind == "sum" else ()))]
    scale = max(float(np.max(np.abs(term), initial=0.0)) for term in terms if term is not None)
    return float(np.max(np.abs(one - other), initial=0.0)) / max(1.0, scale)


def _lengths(symbols: Sequence[Node], roots: Sequence[Node], lengths: Sequence[int]) -> dict[str, int]:
    """Return a length for each size name in nodes."""
    names = dict.fromkeys(name for s in symbols for size in s.shape for name in size.names)
    sizes = {name: lengths[k % 2] for k, name in enumerate(names)}
    sizes.update(dict.fromkeys(_integers(roots) - set(sizes), PART))
    return sizes


def _value(node: Node, data: Mapping[str, Array], sizes: Mapping[str, int]) -> Array | None:
    """Return a value; None if it raises or is not finite."""
    try:
        found = np.asarray(evaluate([node], data, sizes)[0])
    except np.linalg.LinAlgError:
        return None
    return found if np.all(np.isfinite(found)) else None


def _integers(roots: Sequence[Node]) -> set[str]:
    """Return the size names in the shapes and integer parameters of nodes."""
    nodes = toposort(roots)
    found = [*(size for n in nodes for size in n.shape)]
    found += [p for n in nodes if n.kind in ("map", "op") for p in n.params if isinstance(p, Size)]
    found += [n.selector.offset for n in nodes if n.kind == "selector"]
    return {name for size in found for name in size.names}


def in_words(nodes: Sequence[Node]) -> bool:
    """Whether an operation has a domain in words, so that random data may be outside of it."""
    rules = (n.rule for n in toposort(nodes) if n.kind in ("op", "map"))
    return any(is_worded(rule, default_rulebook()) for rule in rules)


def _drawn(rng: np.random.Generator, node: Node, sizes: Mapping[str, int], mode: int) -> Array:
    shape = shape_at(node.shape, sizes)
    facts = sorted(node.data[1])
    if mode == ZEROS and not facts:
        return np.zeros(shape)
    if facts or mode < CYCLE:
        return drawn(rng, shape, facts, mode)
    found = MODES[0](rng, shape)
    if len(shape) != 2:
        return 2 * np.sign(found) * np.ceil(np.abs(found)) if mode == CYCLE else found
    if mode == CYCLE:
        return np.roll(found + 4 * np.eye(*shape), 1, axis=0)
    found[:, -1] = 0.0
    return found


def _shape(node: Node) -> str:
    return " x ".join(map(str, node.shape)) or "a scalar"


__all__ = ["applied_sides", "chosen_symbols", "difference", "rewrite_faults", "work"]
