r"""Left sides that only name a formula: words above a name, functions and their multiples, quotients of names."""

import numpy as np
import pytest

import matcalc as mc

pytestmark = pytest.mark.sampled(14)
LET = "X: matrix(n, d); y: vector(n); w: vector(d); c: scalar positive"
RNG = np.random.default_rng(12)
DATA = {"X": RNG.standard_normal((4, 2)), "y": RNG.standard_normal(4), "w": RNG.standard_normal(2), "c": 0.8}
SQUARE = np.sum((DATA["X"] @ DATA["w"] - DATA["y"]) ** 2)


def value(latex, let=LET):
    e = mc.expression(latex, let, dialect="latex")
    return e(**{name: DATA[name] for name in map(str, e.symbols)})


NAMES = ["L", r"\mathcal{L}", r"\ell", r"\hat{L}", r"\mathbf{L}", r"\mathrm{Loss}"]
SCRIPTS = ["^{sup}", "^{CE}", "_{sup}", "^{total}", "_{out}^{sup}", "^{sup}_{out}", "^{ sup }", r"^{\text{sup}}"]
FRAMES = ["{side} = {formula}", "$${side} = {formula}$$", r"\begin{{aligned}} {side} &= {formula} \end{{aligned}}"]
FORMULA = r"c \|X w - y\|^2"


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize("name", NAMES)
def test_words_above_a_name_that_nothing_else_contains(name, script, frame):
    for arguments in ("", "(w)"):
        latex = frame.format(side=f"{name}{script}{arguments}", formula=FORMULA)
        np.testing.assert_allclose(value(latex), DATA["c"] * SQUARE)


ELSEWHERE = [
    (r"L^{sup} = c L^{sup} + \|w\|^2", "is a word"),
    (r"L^{sup} = c L^{aux} + \|w\|^2", "is a word"),
    (r"J = L^{sup} + c, \quad L^{sup} = \|w\|^2", "is a word"),
    (r"J = c u^{sup}, \quad u = c^2", "is a word"),
    (r"c^{sup} = \|w\|^2", "is a word"),
    (r"L^{sup} = c \cdot total", "is a word"),
]


@pytest.mark.parametrize(("latex", "words"), ELSEWHERE)
def test_words_above_other_names_are_refused(latex, words):
    with pytest.raises(mc.ParseError, match=words) as caught:
        value(latex)
    assert latex[caught.value.at :].startswith(("sup", "aux", "total"))


FACTORS = ["-2", "2", "-", "", r"\frac{1}{2}", r"-\frac12", r"-\tfrac{1}{2}"]
FUNCTIONS = [
    r"\ln\mathcal{L}", r"\log L(w)", r"\log\mathcal{L}(w, c)", r"\log p(y \mid X)", r"\ln \frac{L_0}{L_1}",
    r"\log\Lambda", r"\exp(E)", r"\log(L)", r"\log_{10} L",
]  # fmt: skip


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_multiple_of_a_function_has_the_value_of_the_right_side(factor, function):
    np.testing.assert_allclose(value(rf"{factor}{function} = {FORMULA}"), DATA["c"] * SQUARE)


QUOTIENTS = [
    r"\frac{G^E}{RT}", r"\frac{G^{E}}{R T}", r"\frac{G^\mathrm{E}}{RT}", r"\frac{\Delta G^E}{RT}", r"G^E / RT",
    r"\beta G^{ex}",
]  # fmt: skip


@pytest.mark.parametrize("side", QUOTIENTS)
def test_a_quotient_of_names_beside_other_names_of_the_same_letter(side):
    latex = rf"{side} = \sum_{{i=1}}^n y_i G_i, \quad G_i = c + y_i^2"
    np.testing.assert_allclose(value(latex), np.sum(DATA["y"] * (DATA["c"] + DATA["y"] ** 2)))


EQUATIONS = [
    r"2 E = \|w\|^2", r"\frac{1}{E} = \|w\|^2", r"-2 (A - B) = \|w\|^2", r"-2 \log c = \|w\|^2",
    r"-2 \log E = E \|w\|^2", r"-2 \log E + F = \|w\|^2", r"-2 \log E = u, \quad u = E \|w\|^2",
    r"\frac{c^E}{T} = \|w\|^2", r"\frac{G^2}{T} = G \|w\|^2", r"\frac{G^c}{T} = G \|w\|^2",
    r"\frac{G^E}{T} = T \|w\|^2", r"\|w\|^2 u, \quad -2 \log u = c",
]  # fmt: skip


@pytest.mark.parametrize("latex", EQUATIONS)
def test_an_equation_is_no_label(latex):
    with pytest.raises(mc.ParseError, match="more than a name|not solved"):
        value(latex)


SUMS = [
    r"\mathcal{L}_S + c \mathcal{L}_C", "L_1 + L_2", r"L_{rec} - \frac{c}{2} R(w)", "c E_0 + F", "A(w) + c B(w) + G",
]  # fmt: skip


@pytest.mark.parametrize("middle", SUMS)
@pytest.mark.parametrize("form", ["J = {m} = {f}", r"\begin{{aligned}} J &= {m} \\ &= {f} \end{{aligned}}"])
def test_sums_of_names_between_two_signs(form, middle):
    np.testing.assert_allclose(value(form.format(m=middle, f=FORMULA)), DATA["c"] * SQUARE)


BETWEEN = [
    r"E_0 + \|y\|",
    "E + c",
    r"c + w^\top w",
    r"E + \log c",
    r"E + e^c",
    r"E + 2\pi",
    r"E + \operatorname{tr}(X)",
]


@pytest.mark.parametrize("middle", BETWEEN)
def test_sums_with_formulas_between_two_signs_are_refused(middle):
    with pytest.raises(mc.ParseError, match="between formulas"):
        value(f"J = {middle} = {FORMULA}")
    with pytest.raises(mc.ParseError, match="between formulas"):
        value(r"J = E + F = E \|X w - y\|^2")


@pytest.mark.parametrize("middle", ["E + F", "E + c F"])
def test_a_name_between_two_signs_that_another_line_defines_is_refused(middle):
    with pytest.raises(mc.ParseError, match="no formula uses it"):
        value(rf"J = {middle} = {FORMULA}, \quad E = c^2")
