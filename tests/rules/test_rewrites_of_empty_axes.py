"""Every rewrite for empty axes: both sides have one value wherever the left side is a number."""

import itertools

import numpy as np
import pytest

from matcalc.calculus.evaluate.evaluate import evaluate
from matcalc.calculus.simplify.compiled_rewrites import compiled
from matcalc.evidence.numeric.sampling import sample
from matcalc.rulebook import default_rulebook
from matcalc.rulelab.rewrite_check import applied_sides
from matcalc.tensor.nodes.node import toposort

BOOK = default_rulebook()
TRIED = [r for r in BOOK.rewrites if "[" not in str(r).partition("=>")[0] and "if orthonormal" not in str(r)]
"""A part of an empty axis is an error when written; no matrix with fewer rows than columns is orthonormal."""
POWER = {"k": 2}


def needs_an_entry(node, sizes):
    """Return whether an operation that needs an entry has an empty argument."""
    if node.kind not in ("op", "map") or not node.rule.nonempty:
        return False
    batch = len(node.batches[0]) if node.kind == "op" else 0
    return any(size.evaluate(sizes) == 0 for size in node.args[0].shape[batch:])


def data_of(symbols, sizes):
    """Return arrays with the facts of symbols."""
    rng = np.random.default_rng(0)
    shapes = {node: tuple(size.evaluate(sizes) for size in node.shape) for node in symbols}
    return {node.name: sample(rng, shape, frozenset(node.facts)) for node, shape in shapes.items()}


def value(node, data, sizes):
    try:
        with np.errstate(all="ignore"):
            return np.asarray(evaluate([node], data, sizes)[0], float)
    except np.linalg.LinAlgError:
        return np.asarray(np.nan)


@pytest.mark.parametrize("rewrite", TRIED, ids=str)
@pytest.mark.sampled(30)
def test_nothing_is_rewritten_to_what_it_is_worth(rewrite):
    for pattern in compiled(rewrite, BOOK):
        left, right = applied_sides(pattern, BOOK, {})
        symbols = [node for node in toposort([left, right]) if node.kind == "symbol"]
        names = sorted({name for node in symbols for size in node.shape for name in size.names})
        for lengths in itertools.product((0, 1, 2), repeat=len(names)):
            sizes = POWER | dict(zip(names, lengths, strict=True))
            if 0 not in lengths or any(needs_an_entry(node, sizes) for node in toposort([left])):
                continue
            data = data_of(symbols, sizes)
            wanted = value(left, data, sizes)
            if np.all(np.isfinite(wanted)):
                np.testing.assert_allclose(
                    value(right, data, sizes), wanted, rtol=1e-10, atol=1e-10, err_msg=str(sizes)
                )
