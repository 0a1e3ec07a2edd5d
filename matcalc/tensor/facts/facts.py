"""Finds the facts of a node, the range of its entries, and its tilt.

Facts and ranges are computed once per node from its operands, bottom-up, before it is interned; no fixpoint is needed.
Facts of operations come from the rulebook, those of products from their form as a chain: a palindrome around a
positive semidefinite centre is positive semidefinite, a chain of lower triangular matrices is lower triangular.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from functools import lru_cache, reduce

from matcalc.rulebook.load import default_rulebook
from matcalc.tensor.facts.chain import chain_between
from matcalc.tensor.facts.exchanges import exchanges_of_map
from matcalc.tensor.facts.finite import is_finite
from matcalc.tensor.facts.palindrome import mirror
from matcalc.tensor.facts.product_facts import (
    block_facts,
    closed_under,
    definite,
    entrywise_facts,
    is_over_entries,
    kronecker_facts,
    link_has,
    sum_facts,
)
from matcalc.tensor.facts.ranges import (
    NONNEGATIVE,
    POSITIVE,
    added,
    exactly,
    image,
    multiplied,
    power_range,
    scaled,
    square_of,
)
from matcalc.tensor.facts.schur import complement, definite_part, parallel_sum
from matcalc.tensor.nodes.node import ANY, Node, Range, parity_of, tilt_of
from matcalc.tensor.nodes.signature import PLAIN, tensors_of
from matcalc.tensor.sizes.size import is_nonnegative

LONGEST = 1_000_000
STRUCTURAL = frozenset(["selector", "number", "size", "product", "sum", "map"])
CONSTANT = frozenset(["constant"])
SYMMETRIC_OR_SKEW = frozenset(["symmetric", "skew"])


def closure(facts: Iterable[str]) -> frozenset[str]:
    """Return `facts` with all that they imply."""
    return _closed(frozenset(facts))


@lru_cache(maxsize=1024)
def _closed(facts: frozenset[str]) -> frozenset[str]:
    return default_rulebook().closure(facts)


def describe(node: Node, symmetry: frozenset[str] = frozenset()) -> None:
    """Fill in the facts and properties of a new node; its constructor has found whether it is symmetric or skew."""
    node.facts = symmetry
    node.length = min(_length(node), LONGEST)
    node.switches = _switches(node)
    node.structural = node.kind in STRUCTURAL and all(arg.structural for arg in node.args)
    DESCRIBE[node.kind](node)
    node.finite = is_finite(node)
    if node.kind != "symbol" and all("constant" in arg.facts for arg in node.args):
        node.facts |= CONSTANT


def _length(node: Node) -> int:
    """Return the estimated number of tokens in a node's printed form, which factoring reduces."""
    if node.kind == "map" and node.rule.role == "fixed_power":
        return node.args[0].length + 2
    if node.kind in ("map", "op"):
        return 2 + sum(a.length + 1 for a in node.args)
    if node.kind == "product":
        return max(1, sum(a.length + 1 for a in node.args) - 1 + (node.coef != 1) - 3 * _holds_mean(node))
    if node.kind == "sum":
        return 1 + sum(a.length + 1 for a in node.args)
    if node.kind == "recurrence":
        return 6 + sum(a.length + 1 for a in (*node.bodies, *node.args[: len(node.states)]))
    return 1


def _switches(node: Node) -> bool:
    """Return whether a node is 0 where its conditions do not hold: a product if any operand is, a sum if all are."""
    if node.kind == "product":
        return any(arg.switches for arg in node.args)
    if node.kind == "sum":
        return all(arg.switches for arg in node.args)
    return node.kind == "map" and node.rule.annihilates and node.rule.role != "weight"


def _holds_mean(node: Node) -> bool:
    """Return whether a product contains the sum of a vector over its length, which prints as one call."""
    sizes = [a.args[0].size for a in node.args if a.kind == "map" and a.args[0].kind == "size"]
    return bool(sizes) and any(
        a.kind == "product" and not a.rank and a.index_sizes == (s,) for a in node.args for s in sizes
    )


def _symbol(node: Node) -> None:
    node.facts = closure(node.data[1])
    node.range = POSITIVE if "positive" in node.facts else NONNEGATIVE if "nonnegative" in node.facts else ANY
    node.tilt = (0, 1) if node.rank == 2 and not node.facts & SYMMETRIC_OR_SKEW else (0, 0)


def _number(node: Node) -> None:
    node.range = exactly(node.value)
    node.facts = closure(_sign_facts(node) + (["integer"] if node.value.denominator == 1 else []))


def _size(node: Node) -> None:
    coefficients = [c for _, c in node.size.terms]
    node.range = POSITIVE if all(c > 0 for c in coefficients) else ANY
    node.facts = closure([*_sign_facts(node), "integer"])


def _constant(node: Node) -> None:
    array = node.array
    if array.size and bool((array == array).all()):
        node.range = Range(float(array.min()), float(array.max()))
    facts = _sign_facts(node)
    if node.rank == 2 and node.shape[0] == node.shape[1]:
        facts += ["symmetric"] if (array == array.T).all() else []
    node.facts = closure(facts)
    node.tilt = (0, 1) if node.rank == 2 and not node.facts & SYMMETRIC_OR_SKEW else (0, 0)


def _selector(node: Node) -> None:
    node.range = Range(0.0, 1.0)
    node.facts = frozenset(["symmetric"]) if node.selector.kind == "flip" else frozenset()


def _product(node: Node) -> None:
    node.ground = mirror(node) if any(node.indices) and not node.rank else None
    node.range = _product_range(node)
    facts = _sign_facts(node)
    if node.coef.denominator == 1 and all("integer" in arg.facts or arg.kind == "selector" for arg in node.args):
        facts.append("integer")
    if node.rank == 2 and node.shape[0] == node.shape[1]:
        facts += _matrix_facts(node)
    node.facts = closure(facts)
    node.tilt = (0, 0) if node.facts & SYMMETRIC_OR_SKEW else _product_tilt(node)


def _sum(node: Node) -> None:
    node.range = reduce(added, (scaled(arg.range, coef) for coef, arg in node.terms), Range(0.0, 0.0))
    facts = _sign_facts(node)
    facts += sum_facts(node)
    if "psd" in facts and any("spd" in arg.facts for arg in node.args):
        facts.append("spd")
    facts += block_facts(node)
    if "symmetric" in facts or "symmetric" in node.facts:
        node.ground = found = complement(node)
        facts += [found.fact] if found is not None else []
    facts += node.facts
    node.facts = closure(facts)
    if not node.facts & SYMMETRIC_OR_SKEW:
        node.tilt = tilt_of(node.args)


def _map(node: Node) -> None:
    node.range = _map_range(node)
    facts = _sign_facts(node)
    even = SYMMETRIC_OR_SKEW if parity_of(node) == "even" else frozenset(["symmetric"])
    if node.rank == 2 and all(even & arg.facts for arg in node.args):
        facts.append("symmetric")
    node.facts = closure(facts)
    node.commuting = max(_multiplied(arg).commuting for arg in node.args)
    node.exchanges = exchanges_of_map(node)
    if not node.facts & SYMMETRIC_OR_SKEW:
        node.tilt = tilt_of(node.args)


def _multiplied(node: Node) -> Node:
    """Return the node of which `node` is a multiple, `node` itself if there is no other."""
    is_multiple = node.kind == "product" and node.indices == (tuple(range(node.rank)),) == (node.out,)
    return node.args[0] if is_multiple else node


def _op(node: Node) -> None:
    rule = node.rule
    known = _parameter_facts(node)
    repeated = next((p.name for p in rule.signature.parameters if p.repeated), None)
    tangents = len(node.args) >= len(tensors_of(rule.signature)) and repeated is not None
    declared = next((o.facts for o in rule.signature.outputs if o.name == node.output), ())
    facts = list(declared)
    for conditions, output, fact in rule.fact_rules:
        about_tangents = any(p == repeated for _, p in conditions)
        if tangents and not about_tangents:
            continue
        needed = conditions if tangents else [c for c in conditions if c[1] != repeated]
        if output in ("Y", node.output) and all(f in known.get(p, frozenset()) for f, p in needed):
            facts.append(fact)
    facts = list(_of_core(closure(facts), node.rank - node.batch_rank))
    interval = None if tangents else rule.interval
    node.range = Range(*interval) if interval else ANY
    if "positive" in facts:
        node.range = POSITIVE
    elif "nonnegative" in facts and not node.range.nonnegative:
        node.range = NONNEGATIVE
    node.facts = closure(facts + _sign_facts(node))
    node.commuting = _commuting_from(node, facts)
    if node.rank - node.batch_rank == 2 and not node.facts & SYMMETRIC_OR_SKEW:
        matrices = [a for a in node.args if a.rank == 2]
        inherits = rule.transpose_same and matrices and node.batch_rank == 0
        node.tilt = tilt_of(matrices) if inherits else (0, 1)


def _parameter_facts(node: Node) -> dict[str, frozenset[str]]:
    """Return the facts of each argument under its parameter's name; a function's facts come from its range."""
    known: dict[str, frozenset[str]] = {}
    cores = (_core_facts(a, a.rank - len(b)) for a, b in zip(node.args, node.batches, strict=True))
    values = iter(node.params)
    for parameter in node.rule.signature.parameters:
        if parameter.kind in PLAIN:
            value = next(values, None)
            known[parameter.name] = frozenset(_sign_facts(value)) if isinstance(value, Node) else frozenset()
        elif parameter.repeated:
            rest = list(cores)
            known[parameter.name] = frozenset.intersection(*rest) if rest else closure(["symmetric"])
        else:
            known[parameter.name] = next(cores, frozenset())
    return known


def _core_facts(arg: Node, rank: int) -> frozenset[str]:
    """Return the facts of the cores of an argument; matrices whose two axes commute are symmetric."""
    facts = _of_core(arg.facts, rank)
    return closure([*facts, "symmetric"]) if rank == 2 < arg.rank and arg.commuting <= arg.rank - 2 else facts


def _of_core(facts: frozenset[str], rank: int) -> frozenset[str]:
    """Return the facts that hold for each slice of this rank: rows do not inherit the facts of matrices."""
    if rank == 2:
        return facts
    known = default_rulebook().facts
    return frozenset(f for f in facts if f not in known or known[f].of == "any")


def _sign_facts(node: Node) -> list[str]:
    if node.range.positive:
        return ["positive"]
    return ["nonnegative"] if node.range.nonnegative else []


def _product_range(node: Node) -> Range:
    result = _term_range(node)
    return Range(min(result.low, 0.0), max(result.high, 0.0)) if len(set(node.out)) < len(node.out) else result


def _term_range(node: Node) -> Range:
    """Return the range of a product's entries where the indices of its result agree; elsewhere they are 0."""
    result = Range(1.0, 1.0)
    counts = Counter(node.operands)
    summed = any(i not in node.out for i in range(len(node.index_sizes)))
    if node.ground is not None:
        is_strict = is_over_entries(node) and all("spd" in arg.facts or arg.range.positive for arg in node.args)
        result = POSITIVE if is_strict else NONNEGATIVE
    else:
        for (arg, at), count in counts.items():
            own = _range_at(arg, at)
            squared = square_of(own)
            part = own if count == 1 else squared if count % 2 == 0 else multiplied(squared, own)
            result = multiplied(result, part) if result != Range(1.0, 1.0) else part
    if summed:
        is_positive = result.positive or all(arg.range.positive for arg in node.args)
        result = POSITIVE if is_positive else NONNEGATIVE if result.nonnegative else ANY
    return scaled(result, node.coef)


def _range_at(arg: Node, at: tuple[int, ...]) -> Range:
    """Return the range of an operand; of its diagonal alone if its indices are equal."""
    if len(at) == 2 and at[0] == at[1] and not arg.range.positive and "psd" in arg.facts:
        return POSITIVE if "spd" in arg.facts else NONNEGATIVE
    return arg.range


def _map_range(node: Node) -> Range:
    rule = node.rule
    if rule.role == "fixed_power":
        return power_range(node.args[0].range, node.params[0].numerator, node.params[0].denominator)
    if rule.monotone and len(node.args) == 1 and not node.params:
        return image(rule, node.args[0].range)
    if rule.interval:
        return Range(*rule.interval)
    known = {p.name: a for p, a in zip(rule.signature.parameters, node.args, strict=False)}
    for conditions, _, fact in rule.fact_rules:
        if all(f in known[p].facts for f, p in conditions if p in known):
            return POSITIVE if fact == "positive" else NONNEGATIVE if fact == "nonnegative" else ANY
    return ANY


def _is_negative_complement(node: Node) -> bool:
    return node.rank == 2 and complement(node, -1) is not None


def _matrix_facts(node: Node) -> list[str]:
    """Return the facts of a square product, by its symmetry, its chain of factors and the Schur complements in it."""
    first, last = node.out
    if first == last:
        return _diagonal_facts(node)
    facts = [*node.facts, *_masked(node, first, last)]
    if node.coef > 0 and "symmetric" in facts and mirror(node):
        facts.append("psd")
    if len(node.args) == 1 and node.args[0].kind == "sum" and "symmetric" in node.args[0].facts:
        node.ground = found = complement(node)
        facts += [found.fact] if found is not None else []
    links = chain_between(node, first, last)
    if links is None or not links.matrices:
        return facts + entrywise_facts(node, first, last) + kronecker_facts(node, first, last)
    for fact in ("lower", "upper", "diagonal") if links.weighted else closed_under("matrix"):
        if fact == "orthogonal" and (abs(node.coef) != 1 or links.scalars):
            continue
        if fact == "nonsingular" and (not node.coef or any(not s.range.nonzero for s in links.scalars)):
            continue
        if all(link_has(arg, forward, fact) for arg, forward in links.matrices):
            facts.append(fact)
    sign = 1 if node.coef > 0 else -1
    is_odd = len(links.matrices) % 2 == 1
    if sign < 0 and is_odd and "symmetric" in facts and mirror(node, _is_negative_complement):
        facts.append("psd")
    if "psd" in facts and (strict := definite(node, links) or definite_part(links.matrices, sign)) is not None:
        node.ground = node.ground or strict
        facts.append("spd")
    is_plain = not links.weighted and not links.scalars and node.coef > 0
    if is_plain and (parallel := parallel_sum(links.matrices)) is not None:
        node.ground = parallel
        facts += [f for f in ("spd", "psd", "symmetric") if all(f in a.facts for a, _ in links.matrices[::2])]
    single = links.matrices[0][0] if len(links.matrices) == 1 and not links.weighted else None
    if single is not None and node.coef > 0 and all(s.range.positive for s in links.scalars):
        facts += [f for f in ("spd", "psd") if f in single.facts]
    return facts


def _masked(node: Node, first: int, last: int) -> list[str]:
    """Return the facts of the triangles to which masks restrict a matrix."""
    masks = [(a.selector, at) for a, at in node.operands if a.kind == "selector" and a.selector.kind == "mask"]
    masked = {at for rule, at in masks if is_nonnegative(rule.offset)}
    return [fact for fact, at in (("lower", (first, last)), ("upper", (last, first))) if at in masked]


def _diagonal_facts(node: Node) -> list[str]:
    entries, facts = _term_range(node), ["diagonal", "symmetric"]
    if entries.positive:
        facts.append("spd")
    elif entries.nonnegative:
        facts.append("psd")
    if not node.args and abs(node.coef) == 1:
        facts.append("orthogonal")
    return facts


def _product_tilt(node: Node) -> tuple[int, int]:
    """Count the leaf matrices and those read against their index order on a walk from the first output."""
    if node.rank != 2:
        return (0, 0)
    first, last = node.out
    links = chain_between(node, first, last)
    if links is not None:
        pairs = links.matrices
    else:
        pairs = tuple(
            (a, last not in i[:1] and first not in i[1:])
            for a, i in node.operands
            if len(i) == 2 and i[0] != i[1] and (first in i or last in i)
        )
    transposed = sum(a.tilt[0] if forward else a.tilt[1] - a.tilt[0] for a, forward in pairs)
    return (transposed, sum(a.tilt[1] for a, _ in pairs))


def _recurrence(node: Node) -> None:
    state = node.states[node.position]
    node.range = state.range
    node.commuting = _commuting_from(node, state.facts)


def _commuting_from(node: Node, facts: Collection[str]) -> int:
    """Return `Node.commuting` of batched matrices with these facts: symmetric ones of equal sizes commute."""
    return node.rank - 2 if "symmetric" in facts and node.rank > 2 and node.shape[-2] == node.shape[-1] else node.rank


DESCRIBE = {
    "symbol": _symbol,
    "number": _number,
    "size": _size,
    "constant": _constant,
    "selector": _selector,
    "product": _product,
    "sum": _sum,
    "map": _map,
    "op": _op,
    "recurrence": _recurrence,
}
