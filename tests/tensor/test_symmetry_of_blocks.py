"""A grid of blocks is inferred symmetric or skew for any number of blocks; past twelve, its terms are in groups."""

import pytest

import matcalc as mc


@pytest.mark.sampled(12)
@pytest.mark.parametrize("count", range(2, 7))
@pytest.mark.parametrize("fact", ["symmetric", "skew"])
def test_a_grid_of_blocks_is_as_symmetric_as_they_are(count, fact):
    names = [[f"A{min(i, j)}{max(i, j)}" for j in range(count)] for i in range(count)]
    let = "; ".join(f"{name}: matrix(n, n) {fact}" for name in sorted({name for row in names for name in row}))
    whole = "; ".join(", ".join(row) for row in names)
    for text in (f"[{whole}]", f"2*[{whole}]", f"exp(1)*[{whole}] + [{whole}]"):
        e = mc.expression(text, let)
        assert fact in e.node.facts, text
        assert mc.expression(str(e), e.declarations).node is e.node, text
    names[0][1] = names[0][0]
    e = mc.expression("[" + "; ".join(", ".join(row) for row in names) + "]", let)
    assert fact not in e.node.facts
