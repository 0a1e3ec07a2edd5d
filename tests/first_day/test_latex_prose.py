r"""Passages of sentences with formulas between the words, lists, and names of papers, against NumPy's loops."""

import numpy as np
import pytest

import matcalc as mc

RNG = np.random.default_rng(29)
n, d, m, k = 4, 3, 2, 2
X, Z = RNG.standard_normal((n, d)), RNG.standard_normal((n, d))
y, w, v = RNG.standard_normal(n), RNG.standard_normal(d), RNG.standard_normal(d)
W, a, s = RNG.standard_normal((m, d)), RNG.standard_normal(m), np.abs(RNG.standard_normal(n)) + 0.5
DATA = {"X": X, "y": y, "w": w, "v": v, "W": W, "a": a, "s": s, "Xtilde": Z, "yhat": s, "c": 0.7, "lam": 0.3}
LET = (
    "X, Xtilde: matrix(n, d); y: vector(n); w, v: vector(d); W: matrix(m, d); a: vector(m);"
    "s, yhat: vector(n) positive; c, lam: scalar positive"
)
LEAST = np.sum((y - X @ w) ** 2)


def value(latex, let=LET, data=DATA):
    e = mc.expression(latex, let, dialect="latex")
    return e(**{name: data[name] for name in map(str, e.symbols)})


PASSAGES = [
    (
        r"Let $r_i = y_i - x_i^\top w$ be the residual of sample $i$. We minimise \[ L(w) = \sum_{i=1}^n r_i^2. \]",
        LEAST,
    ),
    (
        r"For each sample $i$ we observe a response $y_i$ and covariates $x_i$. With residuals "
        r"$r_i = y_i - x_i^\top w$, the objective reads \begin{equation} L = \sum_{i=1}^n r_i^2. \end{equation}",
        LEAST,
    ),
    (
        r"Under the model $y_i = x_i^\top w + \epsilon_i$ with $\epsilon_i \sim \mathcal{N}(0, c)$ the loss is "
        r"\[ \ell(w) = \sum_{i=1}^n (y_i - x_i^\top w)^2. \] It is convex in $w$.",
        LEAST,
    ),
    (
        r"The series evolves as $y_{t+1} = c\, y_t + \eta_t$. We fit \[ J = \sum_{t=1}^{n-1} (y_{t+1} - c\, y_t)^2. \]",
        sum((y[t + 1] - 0.7 * y[t]) ** 2 for t in range(n - 1)),
    ),
    (
        r"Given weights $s_i > 0$, i.e.\ the inverse noise levels, we define $e_i = y_i - x_i^\top w$. "
        r"The cost is \begin{align} C &= A + c B, \\ A &= \sum_{i=1}^n s_i e_i^2, \\ B &= \|w\|^2. \end{align}",
        np.sum(s * (y - X @ w) ** 2) + 0.7 * w @ w,
    ),
    (
        r"Let $f(x) = \tanh(W x) \in \mathbb{R}^m$ and let $\tilde{x}_i$ be a perturbed version of $x_i$. "
        r"The consistency loss is $$ L = \sum_{i=1}^n \| f(x_i) - f(\tilde{x}_i) \|^2. $$",
        sum(np.sum((np.tanh(W @ X[i]) - np.tanh(W @ Z[i])) ** 2) for i in range(n)),
    ),
    (
        r"The contribution of sample $i$ is \[ \ell_i = (y_i - x_i^\top w)^2, \] and the total loss is "
        r"$\ell = \sum_{i=1}^n \ell_i$.",
        LEAST,
    ),
    (
        r"We combine two terms. \begin{align} L_{u \to v} &= \sum_{i=1}^n y_i^2, \\ L_{v \to u} &= \sum_{i=1}^n s_i^2,"
        r" \end{align} and the overall objective is $L = \tfrac12 (L_{u \to v} + L_{v \to u})$.",
        0.5 * (np.sum(y**2) + np.sum(s**2)),
    ),
    (
        r"We use leaky units, where $g(u) = u$ for $u > 0$ and $c u$ otherwise. The penalty is "
        r"\[ P = \sum_{i=1}^n g(y_i). \]",
        np.sum(np.where(y > 0, y, 0.7 * y)),
    ),
    (
        r"The loss is \[ L = \sum_{i=1}^n \zeta(y_i), \] where $\zeta$ is the softplus function.",
        np.sum(np.log1p(np.exp(y))),
    ),
    (
        r"Prices are \[ P = \sum_{i=1}^n s_i N(d_{1,i}) - y_i N(d_{2,i}), \] where $N(\cdot)$ is the standard normal "
        r"distribution function and \[ d_{1,i} = c\, y_i, \qquad d_{2,i} = d_{1,i} - s_i. \]",
        None,
    ),
    (
        r"Let $m_i = \max_j W_{ij}$ for each row. Then we report \[ R = \sum_{i=1}^m a_i m_i. \]",
        a @ W.max(axis=1),
    ),
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("latex", "truth"), PASSAGES, ids=[x[:40] for x, _ in PASSAGES])
def test_passages_of_sentences(latex, truth):
    if truth is None:
        from scipy.stats import norm

        truth = sum(s[i] * norm.cdf(0.7 * y[i]) - y[i] * norm.cdf(0.7 * y[i] - s[i]) for i in range(n))
    np.testing.assert_allclose(value(latex), truth)


FRAME = r"Let $r_i = y_i - x_i^\top w$ be the residuals. {0} We minimise \[ L = \sum_{{i=1}}^n r_i^2. \] {1}"
HARMLESS = [
    ("", "It is convex."),
    (r"Here $i = 1, \dots, n$.", ""),
    (r"There are $n$ samples with $d$ features each.", r"The parameter $w$ is estimated jointly."),
    ("", r"The set $\mathcal{C}$ is convex, and $w \in \mathbb{R}^d$."),
    (r"Assume $x_1, \dots, x_n \in \mathbb{R}^d$ are given.", ""),
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("words", HARMLESS)
def test_words_beside_a_formula(words):
    np.testing.assert_allclose(value(FRAME.format(*words)), LEAST)


HARMFUL = [
    ("", "The sum is divided by $n$."),
    ("", "The first sample is excluded."),
    ("", r"Here the sum runs over pairs $i \ne j$ only."),
    ("", r"plus the penalty $\lambda$."),
    ("", r"We add the penalty $\Omega$."),
    ("", "Logarithms have base 2."),
    (r"Instead of $r_i$ we use its square.", ""),
    ("", r"The gradient of $g(w) = \|w\|^2$ is not used."),
    ("", r"If $y_i > 0$ it counts, with $r_i = 0$ otherwise."),
    ("", r"Alternatively, $L = \sum_i s_i r_i^2$."),
    ("", "The final loss is $L/n$."),
    ("", r"We report $\log L$."),
    ("", "We use its logarithm."),
    ("", "It is zero for $n$ odd."),
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("words", HARMFUL)
def test_words_that_may_change_a_formula(words):
    with pytest.raises(mc.MatcalcError):
        mc.expression(FRAME.format(*words), LET, dialect="latex")


REFUSED = [
    (r"Let $r = y - X w$. The loss is \[ L = \|r\|^2 + \|B w\|^2, \] in which $B$ controls the fit.", "only words"),
    (
        r"The loss is \[ L = \sum_i \rho(y_i), \quad \rho(u) = u^2. \] As usual, $\rho(u) = |u|$ and $c > 0$.",
        "defined twice",
    ),
    (r"\sum_i \rho(y_i), \quad \rho(u) = u^2, \quad \rho(t) = t^4", "defined twice"),
    (r"\sum_{j=3}^n (\Delta^2 y_j)^2", "difference or a factor"),
    (
        r"\nu(X) + \nu(2 \tilde{X}), \quad \nu(X) = \sum_{i=1}^n \|x_i\|^2",
        "reads its rows|only other values",
    ),
    (r"\|(w, v)^\top\|^2", "transposed list"),
    (r"\|[w, v]^\top\|^2", "transposed list"),
    (r"w^\top \operatorname{concat}(w, W)", "concatenated"),
    (r"The loss is \[ L = \sum_{i=1}^n |y_i|, \] where $|\cdot|$ denotes the square.", "only words"),
    (r"s^\top [y_1, y_3, \ldots, y_n]^\top", "list|dots"),
]


@pytest.mark.parametrize(("latex", "message"), REFUSED)
def test_refused(latex, message):
    with pytest.raises(mc.MatcalcError, match=message):
        mc.expression(latex, LET, dialect="latex")


def test_a_function_of_rows_is_read_at_another_array():
    latex = r"\nu(X) + \nu(\tilde{X}), \quad \nu(X) = \sum_{i=1}^n \|x_i\|^2"
    np.testing.assert_allclose(value(latex), np.sum(X**2) + np.sum(DATA["Xtilde"] ** 2), rtol=1e-13)


F = np.tanh(X @ W.T)
LISTS = [
    (r"s^\top (y_1, \ldots, y_n)^\top", s @ y),
    (r"\|s - f\|^2, \quad f = (g(y_1), \ldots, g(y_n))^\top, \quad g(t) = t^2 + c", np.sum((s - y**2 - 0.7) ** 2)),
    (
        r"\|s - f\|^2, \quad f = [g(y_1), g(y_2), \dots, g(y_n)]^\top, \quad g(t) = t^2 + c",
        np.sum((s - y**2 - 0.7) ** 2),
    ),
    (
        r"\|y - \Phi a\|^2, \quad \Phi = [\phi(x_1), \ldots, \phi(x_n)]^\top, \quad \phi(x) = \tanh(W x)",
        np.sum((y - F @ a) ** 2),
    ),
    (r"\|\Phi y\|^2, \quad \Phi = [\phi(x_1), \ldots, \phi(x_n)], \quad \phi(x) = \tanh(W x)", np.sum((F.T @ y) ** 2)),
    (r"\|u\|^2, \quad u = (c, y_1, c^2)^\top", 0.7**2 + y[0] ** 2 + 0.7**4),
    (r"\|z\|^2 + z_3, \quad z = (c, 1, \tau)^\top, \quad \tau = c^3", 0.49 + 1 + 0.343**2 + 0.343),
    (r"\|u\|^2 + u_2, \quad u = [w^\top, v^\top]^\top", w @ w + v @ v + w[1]),
    (
        r"\sum_{i=1}^n (y_i - b^\top z_i)^2, \quad z_i = (1, x_i^\top)^\top, \quad b = (c, w^\top)^\top",
        np.sum((y - 0.7 - X @ w) ** 2),
    ),
    (r"\sum_{i=1}^n \|[x_i; \tilde{x}_i]\|^2", np.sum(X**2) + np.sum(Z**2)),
    (r"\sum_{i=1}^n \|\operatorname{concat}(x_i, \tilde{x}_i)\|^2", np.sum(X**2) + np.sum(Z**2)),
    (r"\|\mathrm{Concat}(X, \tilde{X}) b\|^2, \quad b = (w^\top, v^\top)^\top", np.sum((X @ w + Z @ v) ** 2)),
]  # fmt: skip


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("latex", "truth"), LISTS, ids=[x[:40] for x, _ in LISTS])
def test_lists(latex, truth):
    np.testing.assert_allclose(value(latex), truth)


NAMES = [
    (r"\sum_i (y_i - \hat{y}_i)^2", np.sum((y - s) ** 2)),
    (r"\|X - \tilde{X}\|_F^2", np.sum((X - Z) ** 2)),
    (r"\sum_i w^\top \tilde{\mathbf{x}}_i", np.sum(Z @ w)),
    (
        r"\sum_{i=1}^n (y_i - \hat m_{-i})^2, \quad \hat m_{-i} = \frac{1}{n-1} \sum_{j \ne i} y_j",
        sum((y[i] - (sum(y) - y[i]) / (n - 1)) ** 2 for i in range(n)),
    ),
    (
        r"c \sum_{j=3}^n (\Delta^2 y_j)^2, \quad \Delta^2 y_j = y_j - 2 y_{j-1} + y_{j-2}",
        0.7 * sum((y[j] - 2 * y[j - 1] + y[j - 2]) ** 2 for j in range(2, n)),
    ),
    (r"\sum_{j=2}^n |\Delta y_j|, \text{ where } \Delta y_j = y_j - y_{j-1}", np.sum(abs(np.diff(y)))),
    (r"L = \sum_{i=1}^n L_i, \quad L_i = y_i^2", y @ y),
    (r"\sum_{i=1}^n d_{1,i} d_{2,i}, \quad d_{1,i} = c y_i, \quad d_{2,i} = d_{1,i} - s_i", 0.7 * y @ (0.7 * y - s)),
    (
        r"\sum_{i=1}^n g_i, \quad g_i = \begin{cases} c y_i & \text{if } i < n \\ y_1 & \text{if } i = n \end{cases}",
        0.7 * sum(y[:-1]) + y[0],
    ),
    (r"\sum_{i=1}^n K(y_i), \quad K(y) = \sum_{j=1}^n e^{-(y - y_j)^2}", np.sum(np.exp(-((y[:, None] - y) ** 2)))),
    (r"\|g(w)\|^2, \quad g(x) = W(x - v)", np.sum((W @ (w - v)) ** 2)),
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("latex", "truth"), NAMES, ids=[x[:40] for x, _ in NAMES])
def test_names_of_papers(latex, truth):
    np.testing.assert_allclose(value(latex), truth)


def test_distances_of_rows_with_the_letter_of_their_matrix():
    r = RNG.standard_normal((n, d))
    latex = r"U(r_1, \dots, r_n) = \sum_{i<j} u(r_{ij}), \quad r_{ij} = \|r_i - r_j\|, \quad u(t) = t^2 - c"
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    found = value(latex, "r: matrix(n, d); c: scalar", {"r": r, "c": 0.7})
    np.testing.assert_allclose(found, sum(np.sum((r[i] - r[j]) ** 2) - 0.7 for i, j in pairs))


def test_residuals_of_another_step_are_no_state():
    latex = (
        r"Let $\epsilon_t = y_t - c$. The variance evolves as \begin{align} h_t &= \lambda + c \epsilon_{t-1}^2 "
        r"+ c h_{t-1}, "
        r"\qquad t = 2, \dots, n, \\ h_1 &= 1, \end{align} and we minimise \[ L = \sum_{t=1}^n \log h_t. \]"
    )
    h = [1.0]
    for t in range(1, n):
        h.append(0.3 + 0.7 * (y[t - 1] - 0.7) ** 2 + 0.7 * h[-1])
    found = value(latex, "y: vector(n); c, lambda: scalar positive", {"y": y, "c": 0.7, "lambda": 0.3})
    np.testing.assert_allclose(found, np.sum(np.log(h)))


def test_a_density_with_an_identity_has_the_size_of_its_vector():
    latex = r"\sum_{i=1}^n \log \mathcal{N}(x_i \mid v, c^2 I)"
    truth = sum(-d / 2 * np.log(2 * np.pi * 0.49) - np.sum((X[i] - v) ** 2) / 0.98 for i in range(n))
    np.testing.assert_allclose(value(latex), truth)
