"""Products that almost match a rewrite: indices of its left side identified, shared, output or masked.

`variants` yields changes of a rewrite's left side in one index. Operands are on their diagonal, under a mask,
transposed, repeated or weighted on their summed index. The whole is on its diagonal, in a trace, a Hadamard product, or
a larger product. Two variables are one, or a batch axis is an axis of the operation. The rewrite may or may not fire,
but its result must have the same value.
"""

import itertools
import warnings

import numpy as np

from matcalc.calculus.evaluate.evaluate import evaluate
from matcalc.calculus.simplify.compiled_rewrites import compiled
from matcalc.calculus.simplify.index_by_word import outline, outline_of
from matcalc.calculus.simplify.rewrite import results
from matcalc.evidence.numeric.sampling import drawn, shape_at
from matcalc.rulelab.rewrite_check import PART, applied_sides, chosen_symbols
from matcalc.tensor.constructors import eye, product, selector, symbol
from matcalc.tensor.nodes.node import sizes_used, toposort
from matcalc.tensor.raw_nodes import parameter
from matcalc.tensor.sizes.selectors import Selector
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.substitute import Batched, instantiate, substitute

SIZES = ((3, 3), (4, 3), (1, 1), (1, 3))
"""Lengths of every second size: equal ones, tall, 1."""
BOUND = 1e-7
MOST_WAYS = 3
"""Maximal number of matches tried for one product; equal factors give many."""
DATA = 2
"""Number of data sets."""


def variants(left):
    """Yield the products that almost match a left side, each with its change."""
    yield from operands_changed(left)
    yield from read_otherwise(left)
    if left.kind == "product":
        yield from indices_changed(left)
    yield from variables_changed(left)


def operands_changed(left):
    """Yield the left side with an operand on its diagonal, masked, transposed or repeated."""
    for user in toposort(left):
        if user.kind not in ("op", "map"):
            continue
        for arg in dict.fromkeys(user.args):
            if arg.kind in ("number", "size"):
                continue
            for how, changed in readings(arg):
                if changed is not arg and changed.shape == arg.shape:
                    yield f"{how} in {user.rule.name}", exchanged(left, user, arg, changed)


def readings(node):
    """Yield tensors of the same shape that contain a tensor at other indices, or beside others."""
    if node.rank == 1:
        yield "squared", product(1, [(node, (0,)), (node, (0,))], (0,))
        yield "flipped", product(1, [(node, (0,)), (selector(Selector("flip", node.shape * 2)), (0, 1))], (1,))
        yield "summed", product(1, [(node, (0,)), (node, (1,))], (1,))
    if node.rank != 2:
        return
    weight = symbol("w_", node.shape[1:])
    yield "under itself", product(1, [(node, (0, 1)), (node, (0, 1))], (0, 1))
    yield "weighted", product(1, [(node, (0, 1)), (weight, (1,))], (0, 1))
    if node.shape[0] != node.shape[1]:
        return
    size = node.shape[0]
    mask, flip = selector(Selector("mask", node.shape)), selector(Selector("flip", node.shape))
    yield "on its diagonal", product(1, [(node, (0, 0))], (0, 0))
    yield "under eye", product(1, [(node, (0, 1)), (eye(size), (0, 1))], (0, 1))
    yield "flipped under eye", product(1, [(node, (0, 2)), (flip, (2, 0))], (0, 0))
    yield "flipped", product(1, [(node, (0, 2)), (flip, (2, 1))], (0, 1))
    yield "masked", product(1, [(node, (0, 1)), (mask, (0, 1))], (0, 1))
    yield "turned", product(1, [(node, (1, 0))], (0, 1))
    yield "squared", product(1, [(node, (0, 1)), (node, (1, 2))], (0, 2))
    yield "squared, on the diagonal", product(1, [(node, (0, 1)), (node, (1, 0))], (0, 0))
    yield "row sums on the diagonal", product(1, [(node, (0, 1))], (0, 0))


def exchanged(root, user, arg, other):
    """Return a node with an operand of one of its users exchanged."""
    new = rebuilt(user, {a: other if a is arg else a for a in user.args})
    return substitute(root, {user: new})


def rebuilt(node, args):
    made = {a: Batched(b) for a, b in args.items()}
    return instantiate(node, made, {}, ()).node


def read_otherwise(left):
    """Yield larger products that contain the left side, with its axes read once, twice, together or not at all."""
    axes = tuple(range(left.rank))
    shape = dict(enumerate(left.shape))
    other = symbol("W_", left.shape)
    yield "beside another", product(1, [(left, axes), (other, axes)], axes)
    yield "squared", product(1, [(left, axes), (left, axes)], axes)
    yield "times another, summed", product(1, [(left, axes), (other, axes)], ())
    yield "repeated", product(1, [(left, axes)], (*axes, left.rank), {**shape, left.rank: Size.of("k_")})
    for axis in axes:
        rest = tuple(a for a in axes if a != axis)
        yield f"summed over {axis}", product(1, [(left, axes)], rest)
        yield f"on a diagonal of {axis}", product(1, [(left, axes)], (axis, *axes))
        turned = tuple(left.rank if a == axis else a for a in axes)
        yield f"times itself at {axis}", product(1, [(left, axes), (left, turned)], (*rest, axis, left.rank)[:3])
    for one, two in itertools.combinations(axes, 2):
        if left.shape[one] == left.shape[two]:
            at = tuple(one if a == two else a for a in axes)
            yield "on its diagonal", product(1, [(left, at)], tuple(dict.fromkeys(at)))
            yield "as a diagonal", product(1, [(left, at)], at)
            yield "traced", product(1, [(left, at)], tuple(a for a in dict.fromkeys(at) if a != one))


def indices_changed(left):
    """Yield a product with two indices identified, with an index output, or with an index in another operand too."""
    sizes = left.sizes
    inner = [i for i in sizes if i not in left.out]
    for one, two in itertools.combinations(sizes, 2):
        if sizes[one] == sizes[two]:
            now = [(arg, tuple(one if i == two else i for i in at)) for arg, at in left.operands]
            out = tuple(one if i == two else i for i in left.out)
            yield f"index {two} is {one}", product(left.coef, now, out, sizes)
    for index in inner:
        yield f"index {index} put out", product(left.coef, left.operands, (*left.out, index), sizes)
        weight = (symbol("w_", (sizes[index],)), (index,))
        yield f"index {index} weighted", product(left.coef, [*left.operands, weight], left.out, sizes)
        matrix = (symbol("W_", (sizes[index], Size.of("k_"))), (index, len(sizes)))
        yield f"index {index} held", product(left.coef, [*left.operands, matrix], (*left.out, len(sizes)), sizes)
    for place, (arg, at) in enumerate(left.operands):
        if arg.kind not in ("number", "size"):
            yield f"operand {place} twice", product(left.coef, [*left.operands, (arg, at)], left.out, sizes)


def variables_changed(left):
    """Yield a left side with two variables identified, and with a batch axis that is one of its own axes."""
    symbols = [n for n in toposort(left) if n.kind == "symbol" and n is not parameter()]
    for one, two in itertools.permutations(symbols, 2):
        if one.shape == two.shape and one.facts >= two.facts:
            yield f"{two.name} is {one.name}", substitute(left, {two: one})
    for size in dict.fromkeys(size for s in symbols for size in s.shape):
        lifted = {s: Batched(symbol(s.name, (size, *s.shape)), (0,)) for s in symbols if s.shape and not s.data[1]}
        made = instantiate(left, lifted, {}, (size,)) if lifted else None
        if made is None or not made.batch:
            continue
        node = made.node
        yield f"a batch of {size}", node
        for axis in range(1, node.rank):
            if node.shape[axis] == size:
                at = tuple(0 if a == axis else a for a in range(node.rank))
                yield f"a batch that is axis {axis}", product(1, [(node, at)], tuple(dict.fromkeys(at)))


def faults(rewrite, book):
    """Return the wrong results of a rewrite on products that almost match it, and how often it fired."""
    found, fired = [], 0
    for pattern in compiled(rewrite, book):
        chosen = chosen_symbols(pattern, book)
        left, _ = applied_sides(pattern, book, chosen)
        for how, node in variants(left):
            for part in toposort(node):
                is_met = outline(part).may_contain(outline_of(pattern.left))
                ways = results(pattern, part, book) if is_met else iter(())
                for made in dict.fromkeys(itertools.islice(ways, MOST_WAYS)):
                    fired += 1
                    off = error(part, made)
                    if off > BOUND:
                        found.append(f"{rewrite}, {how}: {off:.2g} off")
    return found, fired


def error(node, made):
    """Return the largest relative difference of two nodes over sizes and data at which the first is finite."""
    worst = 0.0
    for lengths, mode in itertools.product(SIZES, range(DATA)):
        names = sizes_used([node, made])
        sizes = {name: lengths[k % 2] for k, name in enumerate(n for n in names if n != "k")} | {
            "k": min(PART, *lengths)
        }
        symbols = [n for n in toposort([node, made]) if n.kind == "symbol" and n is not parameter()]
        data = {s.name: datum(s, sizes, mode) for s in symbols}
        one = value(node, data, sizes)
        if one is None:
            continue
        other = value(made, data, sizes)
        if other is None or other.shape != one.shape:
            return np.inf
        scale = max(1.0, float(np.max(np.abs(one), initial=0.0)))
        worst = max(worst, float(np.max(np.abs(one - other), initial=0.0)) / scale)
    return worst


def datum(node, sizes, mode):
    rng = np.random.default_rng([29, mode, *node.name.encode()])
    return drawn(rng, shape_at(node.shape, sizes), sorted(node.data[1]), mode)


def value(node, data, sizes):
    """Return a value, None where there is none or SciPy warns."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            found = np.asarray(evaluate([node], data, sizes)[0])
        except (np.linalg.LinAlgError, ValueError, Warning):
            return None
    return found if np.all(np.isfinite(found)) else None
