r"""Sets of indices and ranges of data in passages: P(i) = \{p \in A(i) : y_p = y_i\}, c_i \in \{1, \dots, J\}."""

import numpy as np
import pytest

import matcalc as mc
from matcalc.errors import MatcalcError

LET = "x: vector(n); w: vector(n); y: index(n); A: matrix(n, n)"


def pairs(x, w, keep):
    return sum(w[i] * x[j] for i in range(len(x)) for j in range(len(x)) if keep(i, j))


def coulomb(x, w, y, A):
    return sum(w[i] / (1 + (x[i] - x[j]) ** 2) for i in range(len(x)) for j in range(len(x)) if i != j)


def means(x, w, y, A):
    """Return the weighted means over the others of the same class; each has one."""
    found = 0.0
    for i in range(len(x)):
        others = [j for j in range(len(x)) if j != i and y[j] == y[i]]
        found += w[i] * sum(x[j] for j in others) / (1 + len(others))
    return found


SETS = [
    (r"\sum_{i=1}^{n} w_i \sum_{j \in [n]\setminus\{i\}} x_j", lambda x, w, y, A: pairs(x, w, lambda i, j: i != j)),
    (
        r"\sum_{i=1}^{n} \sum_{j \in \{1,\dots,n\} \backslash \{i\}} \frac{w_i}{1 + (x_i - x_j)^2}", coulomb,
    ),
    (r"\sum_{j \in [n]\setminus\{2\}} -x_j w_j", lambda x, w, y, A: -sum(x[j] * w[j] for j in range(len(x)) if j != 1)),
    (
        r"\sum_{i \in I} w_i \sum_{j \in N(i)} x_j, \quad N(i) = I \setminus \{i\}, \quad I = \{1, \dots, n\}",
        lambda x, w, y, A: pairs(x, w, lambda i, j: i != j),
    ),
    (
        r"\sum_{i \in V} w_i \sum_{j \in N_i} x_j, V = \{1, 2, \ldots, n\}, N_i = \{j \in V \mid A_{ij} > 0\}",
        lambda x, w, y, A: pairs(x, w, lambda i, j: A[i, j] > 0),
    ),
    (
        r"\sum_{i=1}^{n} w_i \sum_{p \in P(i)} x_p \\ A(i) = [n] \setminus \{i\} \\ P(i) = \{p \in A(i) : y_p = y_i\}",
        lambda x, w, y, A: pairs(x, w, lambda i, j: i != j and y[i] == y[j]),
    ),
    (
        r"\sum_{i=1}^{n} \frac{w_i}{1 + |P(i)|} \sum_{p \in P(i)} x_p \\ P(i) = \{p \in [n] : p \ne i, y_p = y_i\}",
        means,
    ),
    (
        r"\sum_{i=1}^{n} w_i \sum_{j \in S_i} -x_j \\ S_i = \{j \in [n] : x_j > x_i\}",
        lambda x, w, y, A: -pairs(x, w, lambda i, j: x[j] > x[i]),
    ),
    (
        r"\sum_{i=1}^{n} w_i \sum_{j: y_j = y_i} - x_j", lambda x, w, y, A: -pairs(x, w, lambda i, j: y[i] == y[j]),
    ),
]  # fmt: skip


@pytest.mark.parametrize("formula, truth", SETS)
def test_sums_over_sets_of_indices(formula, truth):
    for n, seed in ((5, 0), (2, 1), (1, 2)):
        rng = np.random.default_rng(seed)
        data = {"x": rng.standard_normal(n), "w": rng.standard_normal(n), "y": rng.integers(0, min(n, 2), n)}
        data["A"] = rng.standard_normal((n, n))
        e = mc.expression(formula, _used(formula), dialect="latex")
        if n == 1 and r"\{2\}" in formula:
            continue
        found = e(**{name: data[name] for name in e.symbols})
        np.testing.assert_allclose(found, truth(**data), rtol=1e-12, atol=1e-12)


def _used(formula):
    kept = [x for x in LET.split("; ") if x[0] != "A" or "A_{" in formula]
    return "; ".join(x for x in kept if x[0] != "y" or "y_" in formula)


REFUSED = [
    r"\sum_{i=1}^{n} w_i \sum_{j \in N(i)} x_j, \quad N(i) = S \setminus \{i\}",  # S is not defined
    r"\sum_{j \in J \setminus \{2\}} x_j w_j",
    r"\sum_{i \in I} w_i x_i, \quad I = \{1, \dots, n\}, \quad I = \{1, \dots, m\}",
    r"w^\top I x + \sum_{i \in I} w_i x_i, \quad I = \{1, \dots, n\}",  # the identity
    r"\sum_{i=1}^{n} w_i \max_{p \in P(i)} x_p \\ P(i) = \{p \in [n] : p \ne i\}",
    r"\sum_{i=1}^{n} w_i \sum_{j \in N_i} x_j, \quad N_i = \{j \in [n] \cup \{i\} : j > i\}",
    r"\sum_{i=1}^{n} w_i \sum_{j \in N_i} x_j, \quad N_i = [n] \cup \{i\}",
]


@pytest.mark.parametrize("formula", REFUSED)
def test_other_sets_are_refused(formula):
    with pytest.raises(MatcalcError):
        mc.expression(formula, "x: vector(n); w: vector(n)", dialect="latex")


PAIRS = r"\sum_{i=1}^{N} \mathbf{u}_{o_i}^\top \mathbf{v}_{c_i}"
ROWS, COLUMNS = "U: matrix(J, d); V: matrix(J, d)", "U: matrix(d, J); V: matrix(d, J)"
TOLD = [
    "We minimise $${0}$$ with $c_i, o_i \\in \\{{1, \\dots, J\\}}$.",
    "We minimise $${0}$$ with $c_i \\in \\{{1, \\dots, J\\}}$ and $o_i \\in \\{{1, \\dots, J\\}}$.",
    "We minimise $${0}$$ with $c_i, o_i \\in \\{{0, 1, \\dots, J - 1\\}}$.",
    "We minimise $${0}$$ with $c_i, o_i \\in [J]$.",
    "Let $c_i$ and $o_i$ be indices into a vocabulary of size $J$. We minimise $${0}$$",
    "The pairs $c_i$, $o_i$ are indices into the item list of length $J$. We minimise $${0}$$",
]


@pytest.mark.parametrize("text", TOLD)
@pytest.mark.parametrize("let", [ROWS, COLUMNS])
def test_a_range_of_data_tells_rows_from_columns(text, let):
    e = mc.expression(text.format(PAIRS), f"{let}; c: index(N); o: index(N)", dialect="latex")
    rng = np.random.default_rng(1)
    U, V = rng.standard_normal((2, 4, 3))
    c, o = rng.integers(0, 4, (2, 6))
    wanted = sum(U[o[i]] @ V[c[i]] for i in range(6))
    given = (U, V) if let is ROWS else (U.T, V.T)
    np.testing.assert_allclose(e(U=given[0], V=given[1], c=c, o=o), wanted, rtol=1e-12)


NOT_TOLD = [
    ("We minimise $${0}$$", ROWS, "can be row or column"),
    ("We minimise $${0}$$ with $c_i, o_i \\in \\{{1, \\dots, K\\}}$.", ROWS, "can be row or column"),
    (
        "We minimise $${0}$$ with $c_i, o_i \\in [J]$.",
        "U: matrix(J, J); V: matrix(J, J)", "can be row or column",
    ),
    (
        "Let $c_i$, $o_i$ be indices into a list of size $J$. We minimise $${0}$$ with $c_i \\in [d]$.",
        ROWS, "in two different ranges",
    ),
    ("We minimise $${0}$$ with $c_i, o_i \\in [J]$. The $v_j$ are the columns of $V$.", ROWS, "range of these"),
]  # fmt: skip


@pytest.mark.parametrize("text, let, message", NOT_TOLD)
def test_rows_or_columns_that_are_not_told_are_refused(text, let, message):
    with pytest.raises(MatcalcError) as caught:
        mc.expression(text.format(PAIRS), f"{let}; c: index(N); o: index(N)", dialect="latex")
    assert message in caught.value.message


NEGATIVE = r"For each word $c_i$ we draw negative words $s_{i1}, \dots, s_{iM}$ in $\{1, \dots, J\}$, all "
NEGATIVE += (
    r"indices into a vocabulary of size $J$, and minimise \[ \sum_{i=1}^{N} \sum_{l=1}^{M} v_{s_{il}}^\top v_{c_i}. \]"
)


def test_negative_words_are_words():
    let = "V: matrix(J, d); c: index(N); s: index(N, M)"
    e = mc.expression(NEGATIVE.replace(r" in $\{1, \dots, J\}$", ""), let, dialect="latex")
    rng = np.random.default_rng(1)
    V, c, s = rng.standard_normal((4, 3)), rng.integers(0, 4, 5), rng.integers(0, 4, (5, 2))
    np.testing.assert_allclose(e(V=V, c=c, s=s), sum(V[s[i, k]] @ V[c[i]] for i in range(5) for k in range(2)))


def test_negative_numbers_may_be_others():
    text = r"We minimise \[ \sum_{i=1}^{n} (x_i - r_i)^2 \] with the negative residual $r_i$."
    with pytest.raises(MatcalcError, match="may change a formula"):
        mc.expression(text, "x: vector(n); r: vector(n)", dialect="latex")


def scores(theta, delta, y):
    """Return the sum of theta_i - delta_v up to the category of each person."""
    return sum(sum(theta[i] - delta[v] for v in range(y[i] + 1)) for i in range(len(theta)))


def graded(theta, delta, y):
    """Return the log likelihood of categories with step difficulties, of persons and one item."""
    found = 0.0
    for i in range(len(theta)):
        weights = [np.exp(sum(theta[i] - delta[v] for v in range(k + 1))) for k in range(len(delta))]
        found += np.log(weights[y[i]] / sum(weights))
    return found


TOTALS = [
    (r"\sum_{i=1}^{n} \log P_{i y_i} \\ P_{ik} = \exp \sum_{v=1}^{k} (\theta_i - \delta_v)", scores),
    (r"\sum_{i=1}^{n} S_{i,y_i} \\ S_{ik} = \sum_{v=1}^{k} (\theta_i - \delta_v)", scores),
    (
        r"\sum_{i=1}^{n} \log P_{i y_i} \\ P_{ik} = \frac{\exp \sum_{v=1}^{k} (\theta_i - \delta_v)}"
        r"{\sum_{h=1}^{K} \exp \sum_{v=1}^{h} (\theta_i - \delta_v)}",
        graded,
    ),
    (
        r"The probability of category $k$ is \[ P_{ik} = \frac{\exp \sum_{v=1}^{k} (\theta_i - \delta_v)}"
        r"{\sum_{h=1}^{K} \exp \sum_{v=1}^{h} (\theta_i - \delta_v)}. \] We maximise "
        r"\[ \sum_{i=1}^{n} \log P_{i y_i} \] with the response $y_i \in \{1, \dots, K\}$.",
        graded,
    ),
]
PEOPLE = "theta: vector(n); delta: vector(K); y: index(n)"


@pytest.mark.parametrize("formula, truth", TOTALS)
def test_totals_up_to_data(formula, truth):
    for n, K in ((5, 3), (3, 3), (1, 1)):
        rng = np.random.default_rng(n)
        theta, delta, y = rng.standard_normal(n), rng.standard_normal(K), rng.integers(0, K, n)
        e = mc.expression(formula, PEOPLE, dialect="latex")
        np.testing.assert_allclose(e(theta=theta, delta=delta, y=y), truth(theta, delta, y), rtol=1e-11)


@pytest.mark.parametrize("formula", [
    r"\sum_{i=1}^{n} \sum_{v=1}^{y_i} (\theta_i - \delta_v)",  # y_i counts from 0, or is a number of terms
    r"\sum_{i=1}^{n} S_{i,y_i} \\ S_{ik} = \sum_{v=1}^{k-1} (\theta_i - \delta_v)",
    r"\sum_{i=1}^{n} S_{i,y_i} \\ S_{ik} = \sum_{v=2}^{k} (\theta_i - \delta_v)",
    r"\sum_{i=1}^{n} S_{i,y_i} \\ S_{ik} = \sum_{v=k}^{K} (\theta_i - \delta_v)",
    r"\sum_{i=1}^{n} S_{i,y_i} \\ S_{ik} = k \sum_{v=1}^{k} (\theta_i - \delta_v)",
])  # fmt: skip
def test_other_totals_up_to_data_are_refused(formula):
    with pytest.raises(MatcalcError):
        mc.expression(formula, PEOPLE, dialect="latex")
