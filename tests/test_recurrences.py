"""The text, nodes, plan and files of a recurrence grow with its steps, not with its tree.

Function calls and characters are counted, never seconds. A tree that doubles with each step would be 4,000 times as
long after twelve further steps. A bound of 2.6 for twice the steps excludes that.
"""

import cProfile

import numpy as np
import pytest

import matcalc as mc
from matcalc.tensor.nodes.node import toposort
from matcalc.tensor.substitute import remake
from tests.recurrences import QUOTIENTS, RECURRENCES

TWICE = 2.6
"""Bound on the growth for twice the steps, of costs that are proportional to them."""


def counted(work):
    """Return a result and the number of function calls it took."""
    profile = cProfile.Profile(builtins=False)
    profile.enable()
    try:
        result = work()
    finally:
        profile.disable()
    return result, sum(entry.callcount for entry in profile.getstats())


def texts(shown, found, what):
    """Add the calls for printing and reading, and the length of each text; it must read back."""
    text, found[f"print {what}"] = counted(lambda: str(shown))
    tex, found[f"latex of {what}"] = counted(shown.latex)
    back, found[f"read {what}"] = counted(lambda: mc.expression(text, shown.declarations))
    assert back.node is shown.node
    found[f"characters of {what}"], found[f"characters of latex of {what}"] = len(text), len(tex)
    found[f"characters of drawings of {what}"] = len(shown.tree()) + len(shown.dot()) + len(shown.mermaid())


def assert_linear(few, many):
    assert not {what: (few[what], many[what]) for what in few if many[what] > TWICE * few[what] + 2000}


@pytest.mark.parametrize("name", ["regulator", "network", "averages", "logistic", "squares", "descent"])
@pytest.mark.whole
def test_construction_and_texts_are_linear_in_the_steps(name):
    def passes(steps):
        found = {}
        (e, _), found["construct"] = counted(lambda: RECURRENCES[name](steps))
        texts(e, found, "value")
        return found

    passes(2)  # loads the rulebook
    assert_linear(passes(24), passes(48))


@pytest.mark.parametrize("name", ["logistic", "network", "matrix_squares"])
@pytest.mark.whole
def test_gradients_are_linear_in_the_steps(name):
    def passes(steps):
        found = {}
        e, wrt = RECURRENCES[name](steps)
        gradient, found["derive"] = counted(lambda: e.gradient(wrt))
        texts(gradient, found, "gradient")
        found["derive"] += found.pop("print gradient")  # the shortest form was printed in the search for it
        return found

    passes(10)  # builds the patterns of rewrites
    assert_linear(passes(12), passes(24))


@pytest.mark.parametrize("name", ["averages"])
@pytest.mark.whole
def test_what_is_compiled_is_linear_in_the_steps(name, tmp_path):
    def compiled(steps):
        e, wrt = RECURRENCES[name](steps)
        fn, calls = counted(lambda: mc.value_and_gradient(e, wrt, target="numpy"))
        path = tmp_path / f"{name}{steps}.py"
        fn.save(path)
        return calls, len(fn.source), len(str(fn.plan)), len(path.read_text())

    compiled(4)
    few, many = compiled(12), compiled(24)
    assert all(after <= TWICE * before for before, after in zip(few, many, strict=True)), (few, many)


@pytest.mark.parametrize(("name", "steps"), [("matrix_squares", 12), ("newton", 8), ("halley", 4), ("network", 14)])
def test_every_node_is_what_its_operands_make(name, steps):
    e, wrt = {**RECURRENCES, **QUOTIENTS}[name](steps)
    for node in toposort(e.gradient(wrt).node):
        assert remake(node, {a: a for a in node.args}) is node


@pytest.mark.sampled(4)
@pytest.mark.parametrize("steps", [6, 7, 8, 20])
def test_coefficients_stay_within_floating_point_numbers(steps):
    e, wrt = QUOTIENTS["reciprocal_root"](steps)
    fn = mc.value_and_gradient(e, wrt, target="numpy")
    x, a = 0.4, 2 + 1e-30j
    for _ in range(steps):
        x = x * (3 - a * x * x) / 2
    value, slope = fn(x=0.4, a=2.0)
    assert (value, slope) == pytest.approx((x.real, x.imag / 1e-30), rel=1e-12)
    assert mc.expression(str(e), e.declarations).node is e.node


@pytest.mark.whole
def test_a_regulator_over_twelve_steps_compiles():
    e, wrt = RECURRENCES["regulator"](12)
    fn = mc.value_and_gradient(e, wrt, target="numpy")
    assert len(fn.source) < 30_000
    rng = np.random.default_rng(5)
    x, A, B, K, Q = rng.normal(size=3), *(rng.normal(size=s) / 3 for s in [(3, 3), (3, 2), (2, 3), (3, 3)])

    def cost(K, x=x):
        total = 0
        for _ in range(12):
            u = -K @ x
            total = total + x @ Q @ x + u @ u
            x = A @ x + B @ u
        return total

    given = {"x": x, "A": A, "B": B, "K": K, "Q": Q}
    value, gradient = fn(**{name: given[name] for name in fn.args})
    assert value == pytest.approx(cost(K), rel=1e-12)
    step = 1e-30
    for i in range(2):
        for j in range(3):
            turned = K.astype(complex)
            turned[i, j] += 1j * step
            assert gradient[i, j] == pytest.approx(cost(turned).imag / step, rel=1e-10)
