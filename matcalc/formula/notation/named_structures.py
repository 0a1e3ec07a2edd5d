"""Reads a node as the structure that a definition of the rulebook produces: `toeplitz(c)`, `duplication(n)`.

Only definitions marked `named` are tried. Their arrays are operands of the node, their sizes are those of its shape.
The instance of the definition must be the same node, so that the text is read back as that node.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import permutations, product
from math import isqrt

from matcalc.formula.elaborate.rule_formula import check_definition
from matcalc.rulebook.load import Candidate, Rulebook, default_rulebook
from matcalc.rulebook.rule import Rule
from matcalc.tensor.nodes.node import Node, sizes_used, toposort
from matcalc.tensor.nodes.signature import PLAIN, core_rank, tensors_of
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.substitute import Batched, instantiate

MOST = 6
"""Operands of a node that may be arrays of a structure."""


def structure_of(node: Node) -> tuple[Rule, tuple[Node | Size, ...]] | None:
    """Return the definition that produces a matrix, and its arguments in their order; None if there is none."""
    arrays = _arrays(node)
    if node.rank != 2 or len(arrays) > MOST or all(arg.kind != "selector" for arg in toposort([node])):
        return None
    book = default_rulebook()
    for candidate in _structures(book):
        for arguments in _calls(candidate, node, arrays, book):
            return candidate.rule, arguments
    return None


def _arrays(node: Node) -> list[Node]:
    """Return the operands of a product or a sum, and of products and sums in it, that are no selectors."""
    found: dict[Node, None] = {}
    pending = [node]
    while pending and len(found) <= MOST:
        for arg in pending.pop().args:
            if arg.kind in ("product", "sum"):
                pending.append(arg)
            if arg.kind not in ("selector", "number", "size"):
                found[arg] = None
    return list(found)


@lru_cache(maxsize=4)
def _structures(book: Rulebook) -> tuple[Candidate, ...]:
    rules = (rule for rule in book.rules.values() if rule.named)
    return tuple(candidate for rule in rules for candidate in book.spellings[rule.spelling] if candidate.rule is rule)


def _calls(
    candidate: Candidate, node: Node, arrays: Sequence[Node], book: Rulebook
) -> Iterator[tuple[Node | Size, ...]]:
    """Yield the arguments with which a definition produces the node."""
    parameters, tensors = candidate.signature.parameters, tensors_of(candidate.signature)
    template = check_definition(book, candidate, [core_rank(p, 0) for p in tensors], ())
    if template is None or len(tensors) > len(arrays):
        return
    found = {node.name: node for node in toposort([template.node]) if node.kind == "symbol"}
    symbols = {p.name: found.get(p.name) for p in tensors}
    for chosen in permutations(arrays, len(tensors)):
        pairs = list(zip(symbols.values(), chosen, strict=True))
        if any(s is None or s.rank != array.rank or not s.facts <= array.facts for s, array in pairs):
            continue
        nodes = {symbol: array for symbol, array in pairs if symbol is not None}
        for sizes in _sizes(template.node, node, nodes):
            if instantiate(template.node, {s: Batched(a) for s, a in nodes.items()}, sizes, ()).node is node:
                named = dict(zip(symbols, chosen, strict=True))
                yield tuple(named[p.name] if p.kind not in PLAIN else sizes[p.name] for p in parameters)


def _sizes(template: Node, node: Node, nodes: Mapping[Node, Node]) -> Iterator[dict[str, Size]]:
    """Yield the sizes of a definition: those that the shapes show, and for others the sizes in the node's shape."""
    shapes = [(template.shape, node.shape), *((s.shape, array.shape) for s, array in nodes.items())]
    shown = {
        size.names[0]: length
        for own, lengths in shapes
        for size, length in zip(own, lengths, strict=True)
        if size.names and size == Size.of(size.names[0])
    }
    others = [name for name in sizes_used([template]) if name not in shown]
    lengths = [size for _, lengths in shapes for size in lengths]
    whole = [int(str(size)) for size in lengths if not size.names]
    numbers = {isqrt(k) for k in whole} | {k // j for k in whole for j in whole if 0 < j < k}
    candidates = dict.fromkeys([name for size in lengths for name in size.names])
    for values in product([*map(Size.of, candidates), *map(Size.of, sorted(numbers))], repeat=len(others)):
        sizes = {**shown, **dict(zip(others, values, strict=True))}
        if all(tuple(size.substitute(sizes) for size in own) == lengths for own, lengths in shapes):
            yield sizes
