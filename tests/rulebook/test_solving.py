"""Functions that solve f(x) = y for x, by which LaTeX reads link functions on the left of a line."""

import math

import numpy as np
import pytest

import matcalc as mc
from matcalc.rulebook.load import default_rulebook

RULES = [rule for rule in default_rulebook().rules.values() if rule.undoes]
POINTS = np.array([0.05, 0.3, 0.5, 0.8, 0.95])


def test_there_are_some():
    assert {"log", "logit"} <= {rule.name for rule in RULES}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_the_function_undoes_its_own(rule):
    value = mc.expression(f"{rule.name}({rule.undoes}(x))", "x: vector(n)")(x=POINTS)
    np.testing.assert_allclose(value, POINTS, rtol=1e-13)


LINKS = [
    (r"\operatorname{logit}({})", lambda t: 1 / (1 + np.exp(-t))),
    (r"\mathrm{logit}\,{}", lambda t: 1 / (1 + np.exp(-t))),
    (r"\text{logit}({})", lambda t: 1 / (1 + np.exp(-t))),
    (r"\ln {}", np.exp),
    (r"\operatorname{log1p}({})", np.expm1),
    (r"\Phi^{-1}({})", lambda t: np.array([(1 + math.erf(s / math.sqrt(2))) / 2 for s in t])),
    (r"\Phi^{-1}\left({}\right)", lambda t: np.array([(1 + math.erf(s / math.sqrt(2))) / 2 for s in t])),
]


@pytest.mark.parametrize(("link", "solution"), LINKS)
@pytest.mark.parametrize("order", [1, -1])
def test_a_link_function_on_the_left_is_solved(link, solution, order):
    left = link.replace("{}", "p_i") if "{}" in link else link
    lines = [r"L = \sum_{i=1}^n y_i p_i^2", rf"{left} = \beta_0 + \beta_1 x_i"][::order]
    e = mc.expression(r", \quad ".join(lines), "x, y: vector(n); beta_0, beta_1: scalar", dialect="latex")
    y = np.arange(5.0)
    np.testing.assert_allclose(e(x=POINTS, y=y, beta_0=0.2, beta_1=-1.0), y @ solution(0.2 - POINTS) ** 2)


def test_a_link_function_without_a_solution_is_refused():
    latex = r"\sum_i p_i y_i, \quad \log_{10} p_i = a x_i"
    with pytest.raises(mc.MatcalcError, match="not solved for the name"):
        mc.expression(latex, "x, y: vector(n); a: scalar", dialect="latex")


LABELS = [r"\operatorname{logit}(p)", r"\log_{10} p", r"\Phi^{-1}(p)", r"\ln p"]


@pytest.mark.parametrize("label", LABELS)
def test_the_left_side_of_the_formula_itself_is_a_label(label):
    e = mc.expression(f"{label} = a + b x", "a, b, x: scalar", dialect="latex")
    assert e.node is mc.expression("a + b*x", "a, b, x: scalar").node


def test_a_definition_of_the_function_is_none_of_its_argument():
    latex = r"\operatorname{logit}(q) + \operatorname{logit}(r), \quad \operatorname{logit}(p) = \log\frac{p}{1 - p}"
    e = mc.expression(latex, "q, r: scalar", dialect="latex")
    assert e(q=0.3, r=0.6) == pytest.approx(math.log(0.3 / 0.7) + math.log(1.5))
