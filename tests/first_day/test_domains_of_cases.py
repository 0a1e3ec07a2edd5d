r"""Cases over all values of a symbol, 0 < h \le a and h > a; energies \mathcal{E} beside \mathbf{E}; naming words."""

import numpy as np
import pytest

import matcalc as mc
from matcalc.errors import MatcalcError

CAPPED = r"\gamma(h) = \begin{cases} h/a, & 0 < h \le a, \\ 1, & h > a. \end{cases}"
LET = "h: vector(K) positive; g: vector(K); a: scalar positive"


def capped(h, a):
    return np.array([x / a if x <= a else 1.0 for x in h])


COVERED = [
    (r"\sum_{k=1}^{K} (g_k - \gamma(h_k))^2 \\ " + CAPPED, lambda h, g, a: np.sum((g - capped(h, a)) ** 2)),
    (
        r"\sum_{k=1}^{K} g_k \begin{cases} h_k/a & 0 < h_k \le a \\ 1 & h_k > a \end{cases}",
        lambda h, g, a: g @ capped(h, a),
    ),
    (
        r"\sum_{k=1}^{K} g_k \begin{cases} 1 & h_k > a \\ h_k/a & 0 \le h_k \le a \end{cases}",
        lambda h, g, a: g @ capped(h, a),
    ),
    (
        r"\sum_{k=1}^{K} g_k f(h_k), \quad f(t) = \begin{cases} t/a & 0 < t \le a \\ 1 & t > a \end{cases}",
        lambda h, g, a: g @ capped(h, a),
    ),
    (
        r"\sum_{k=1}^{K} g_k \begin{cases} h_k^2 & 0 < h_k < 1 \\ h_k & 1 \le h_k \le a \\ a & h_k > a \end{cases}",
        lambda h, g, a: sum(y * (x**2 if x < 1 else x if x <= a else a) for x, y in zip(h, g, strict=True)),
    ),
]


@pytest.mark.parametrize("formula, truth", COVERED)
def test_cases_over_all_values_of_a_positive_symbol(formula, truth):
    rng = np.random.default_rng(2)
    for count, a in ((9, 1.2), (1, 0.4), (0, 1.0)):
        h, g = rng.uniform(0.01, 2.5, count), rng.standard_normal(count)
        e = mc.expression(formula, LET, dialect="latex")
        np.testing.assert_allclose(e(h=h, g=g, a=a), truth(h, g, a), rtol=1e-12, atol=1e-14)


OPEN = [
    (r"\sum_{k=1}^{K} (g_k - \gamma(h_k))^2 \\ " + CAPPED, "h: vector(K); g: vector(K); a: scalar positive"),
    (r"\sum_{k=1}^{K} (g_k - \gamma(h_k - 1))^2 \\ " + CAPPED, LET),
    (r"\sum_{k=1}^{K} (h_k - \gamma(g_k))^2 \\ " + CAPPED, LET),
    (r"\sum_{k=1}^{K} \gamma(h_k) + \gamma(g_1) \\ " + CAPPED, LET),
    (r"\sum_{k=1}^{K} g_k \begin{cases} h_k/a & 1 < h_k \le a \\ 1 & h_k > a \end{cases}", LET),
    (r"\sum_{k=1}^{K} g_k \begin{cases} h_k/a & 0 < h_k < a \\ 1 & h_k > a \end{cases}", LET),
    (r"\sum_{k=1}^{K} g_k \begin{cases} h_k/a & 0 < h_k \le a \\ 1 & g_k > a \end{cases}", LET),
]


@pytest.mark.parametrize("formula, let", OPEN)
def test_cases_that_leave_values_out_are_refused(formula, let):
    with pytest.raises(MatcalcError, match="the last case needs the word otherwise"):
        mc.expression(formula, let, dialect="latex")


MATRICES = "D: matrix(d, d); B: matrix(d, d); v: scalar"


def strain(D, B, v):
    F = D @ B
    E = (F.T @ F - np.eye(len(F))) / 2
    return v * np.sum(E * E)


ENERGIES = [
    r"\mathcal{E} = v\,\mathbf{E}:\mathbf{E}, \quad \mathbf{E} = \tfrac12(\mathbf{F}^\top\mathbf{F} - \mathbf{I}), "
    r"\quad \mathbf{F} = \mathbf{D}\mathbf{B}",
    r"\mathcal{E} = v \operatorname{tr}(E^\top E) \\ E = \frac12 (F^\top F - I) \\ F = D B",
    r"For a cell with edge matrix $D$ and inverse rest-shape matrix $B$ the energy is "
    r"$\mathcal{E} = v\,\mathbf{E}:\mathbf{E}$ "
    r"with \[ \mathbf{E} = \tfrac12(\mathbf{F}^\top\mathbf{F} - \mathbf{I}), \quad \mathbf{F} = DB. \]",
]  # fmt: skip


@pytest.mark.parametrize("formula", ENERGIES)
def test_an_energy_in_script_is_no_other_name(formula):
    rng = np.random.default_rng(0)
    D, B = rng.standard_normal((2, 3, 3))
    e = mc.expression(formula, MATRICES, dialect="latex")
    np.testing.assert_allclose(e(D=D, B=B, v=1.5), strain(D, B, 1.5), rtol=1e-12)


REFUSED = [
    r"v \mathcal{E} + \operatorname{tr}(\mathbf{E}), \quad \mathcal{E} = \operatorname{tr}(D), \quad \mathbf{E} = D B",
    r"\mathcal{E} = \operatorname{tr}(E) \\ \mathcal{E} = \operatorname{tr}(D) \\ E = D B",
    r"The energy is $\operatorname{tr}(D B) + v$. It is evaluated with the inverse $B$.",
    r"The energy is $\operatorname{tr}(D B) + v$. It is evaluated with the inverse shape matrix $B$.",
]


@pytest.mark.parametrize("formula", REFUSED)
def test_names_and_words_that_may_mean_another_value_are_refused(formula):
    with pytest.raises(MatcalcError):
        mc.expression(formula, MATRICES, dialect="latex")


def prices(x, w):
    groups = [sum(x[i, j] ** 2 for j in range(x.shape[1])) ** 0.5 for i in range(len(x))]
    return np.log(sum(w[i] * groups[i] ** 3 for i in range(len(x))) ** (1 / 3))


def shares(x, w):
    parts = [w[i] * np.exp(np.sum(x[i])) for i in range(len(x))]
    return sum(w[i] * parts[i] / sum(parts) for i in range(len(x)))


NUMBERS = [
    (
        r"W = \log P \\ P = \left(\sum_{g=1}^{n} w_g P_g^3\right)^{1/3} \\ "
        r"P_g = \left(\sum_{j=1}^{k} x_{gj}^2\right)^{1/2}", prices,
    ),
    (
        r"\log Q, Q_i = \Bigl(\sum_{j=1}^{k} x_{ij}^2\Bigr)^{1/2}, Q = \Bigl(\sum_{i=1}^{n} w_i Q_i^3\Bigr)^{1/3}",
        prices,
    ),
    (
        r"\sum_{i=1}^{n} w_i \frac{Z_i}{Z}, Z = \sum_{l=1}^{n} Z_l, Z_i = w_i \exp\Bigl(\sum_{j=1}^{k} x_{ij}\Bigr)",
        shares,
    ),
    (
        r"The share is \[ \sum_{i=1}^{n} w_i \frac{Z_i}{Z}, \] where $Z = \sum_{l=1}^{n} Z_l$ and "
        r"$Z_i = w_i \exp(\sum_{j=1}^{k} x_{ij})$.", shares,
    ),
]  # fmt: skip


@pytest.mark.parametrize("formula, truth", NUMBERS)
def test_a_number_made_of_entries_of_the_same_letter(formula, truth):
    rng = np.random.default_rng(1)
    for n, k in ((4, 3), (1, 1), (3, 3)):
        x, w = rng.uniform(0.5, 1.5, (n, k)), rng.uniform(0.5, 1.5, n)
        e = mc.expression(formula, "x: matrix(n, k) positive; w: vector(n) positive", dialect="latex")
        np.testing.assert_allclose(e(x=x, w=w), truth(x, w), rtol=1e-12)


CIRCULAR = [
    r"\log P \\ P = \sum_{g=1}^{n} w_g P_g \\ P_g = P \sum_{j=1}^{k} x_{gj}",
    r"\log P \\ P = \sum_{g=1}^{n} w_g P_g \\ P = \sum_{g=1}^{n} w_g \\ P_g = \sum_{j=1}^{k} x_{gj}",
    r"\log P_{gh} \\ P = \sum_{g=1}^{n} w_g P_g \\ P_g = \sum_{j=1}^{k} x_{gj}",
]


@pytest.mark.parametrize("formula", CIRCULAR)
def test_numbers_and_entries_that_are_defined_by_each_other_are_refused(formula):
    with pytest.raises(MatcalcError):
        mc.expression(formula, "x: matrix(n, k) positive; w: vector(n) positive", dialect="latex")
