"""The work of a simplification is bounded by nodes alone: every process returns the same, correct result."""

import numpy as np
import pytest

import matcalc as mc
from matcalc.calculus.simplify import effort
from matcalc.calculus.simplify import simplify as simplification
from matcalc.calculus.simplify.effort import Effort

LET = "X: matrix(n, n); Y: matrix(n, n)"
TEXTS = ("tr((X+Y)^6)", "sum(inv(X+Y)*X*inv(X+Y))", "norm2(X*Y - Y*X)^2", "logdet(X*X' + Y*Y')")


@pytest.mark.sampled(4)
@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("most", [0, 3, 50, 400])
def test_what_is_left_over_is_right(text, most, monkeypatch):
    rng = np.random.default_rng(0)
    data = {"X": rng.standard_normal((3, 3)), "Y": rng.standard_normal((3, 3))}
    wanted = mc.gradient(text, "X", LET)(data)
    along, step = rng.standard_normal((3, 3)), 1e-6
    values = [mc.expression(text, LET)({**data, "X": data["X"] + h * along}) for h in (step, -step)]
    monkeypatch.setattr(simplification, "Effort", lambda: Effort(most))
    simplification.rewriter.cache_clear()
    found = mc.gradient(text, "X", LET)
    np.testing.assert_allclose(found(data), wanted, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(np.sum(found(data) * along), (values[0] - values[1]) / (2 * step), rtol=1e-6)
    again = str(mc.gradient(text, "X", LET))
    assert again == str(found)
    simplification.rewriter.cache_clear()


def test_formulas_of_textbooks_stay_far_below():
    spent = []

    class Counted(Effort):
        def __init__(self):
            super().__init__()
            spent.append(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(simplification, "Effort", Counted)
        for text in TEXTS[1:]:
            mc.hessian(text, "X", LET)
    assert max(effort.MOST - one.left for one in spent) < effort.MOST / 4
