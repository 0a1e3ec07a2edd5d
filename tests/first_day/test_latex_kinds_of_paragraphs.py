r"""Kinds of phrases in paragraphs, each in several fields, with its value by NumPy, and its ambiguous neighbours."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import matcalc as mc
from oracle.data import declared

SIZES = {"n": 5, "m": 4, "d": 3, "k": 2, "T": 6, "N": 5, "K": 3}
Case = tuple[str, str, Callable[..., Any]]


def norm(v):
    return np.sqrt(np.sum(v**2))


def pairs(n):
    return [(i, j) for i in range(n) for j in range(i + 1, n)]


def steps(x, last):
    """x_{i+1} - x_i, and a last value."""
    return np.array([*(x[i + 1] - x[i] for i in range(len(x) - 1)), last])


def laplacian(W, a):
    return sum(W[i, j] * (a[i] ** 2 - a[i] * a[j]) for i in range(len(a)) for j in range(len(a)))


def kernel(x, y):
    return np.exp(-(norm(x - y) ** 2))


def entropy(S, W):
    total = 0.0
    for s in S:
        p = np.exp(W @ s) / np.sum(np.exp(W @ s))
        total -= np.sum(p * np.log(p))
    return total


def divergence(S, W, V):
    total = 0.0
    for s in S:
        p, q = (np.exp(A @ s) / np.sum(np.exp(A @ s)) for A in (W, V))
        total += np.sum(p * np.log(p / q))
    return total


def lag(x, c, first):
    state, total = first, 0.0
    for y in x:
        state = c * state + y
        total += state**2
    return total


SOFTMAX = r"(a \mid s) = \frac{\exp(WEIGHTS_a^\top s)}{\sum_{b=1}^K \exp(WEIGHTS_b^\top s)}"
P, Q = (name + SOFTMAX.replace("WEIGHTS", weights) for name, weights in (("p", "w"), ("q", "v")))

LENGTHS: list[Case] = [
    (r"\sum_{i<j} q_i q_j |\mathbf{R}_i - \mathbf{R}_j|", "R: matrix(N, d); q: vector(N)",
     lambda R, q: sum(q[i] * q[j] * norm(R[i] - R[j]) for i, j in pairs(5))),
    (r"\sum_{i=1}^{n-1} (|\mathbf{x}_{i+1} - \mathbf{x}_i| - 1)^2", "X: matrix(n, d)",
     lambda X: sum((norm(X[i + 1] - X[i]) - 1) ** 2 for i in range(4))),
    (r"|\vec{u} + c \mathbf{v}|^3", "u, v: vector(n); c: scalar", lambda u, v, c: norm(u + c * v) ** 3),
    (r"\sum_{i=1}^{n-1} |\mathbf{b}_i|, \quad \mathbf{b}_i = \mathbf{r}_{i+1} - \mathbf{r}_i", "r: matrix(n, d)",
     lambda r: sum(norm(r[i + 1] - r[i]) for i in range(4))),
    (r"|\mathbf{A} \mathbf{x}|", "A: matrix(n, d); x: vector(d)", lambda A, x: norm(A @ x)),
]  # fmt: skip
NAMES: list[Case] = [
    (r"\kappa \sum_{i=1}^n (1 - \cos\theta_i), \quad \cos\theta_i = \frac{a_i}{b_i}",
     "a, b: vector(n) positive; kappa: scalar", lambda a, b, kappa: kappa * np.sum(1 - a / b)),
    (r"c (3\cos^2(\phi) - 1), \quad \cos\phi = a^\top b", "a, b: vector(n); c: scalar",
     lambda a, b, c: c * (3 * (a @ b) ** 2 - 1)),
    (r"\sum_{i=1}^n q_i \sin\alpha_i, \quad \sin\alpha_i = x_i / \ell", "x, q: vector(n); ell: scalar positive",
     lambda x, q, ell: np.sum(q * x / ell)),
    (r"\sum_{i=1}^{n-2} (1 - \cos\theta_i), \quad \cos\theta_i = b_i^\top b_{i+1}, \quad b_i = r_{i+1} - r_i",
     "r: matrix(n, d)", lambda r: sum(1 - (r[i + 1] - r[i]) @ (r[i + 2] - r[i + 1]) for i in range(3))),
    (r"The error is \[ E = \sum_{i,j} (v_{ij} - [W H]_{ij})^2, \] where $V = [v_{ij}]$ are data and $H = (h_{ij})$.",
     "V: matrix(n, m); W: matrix(n, k); H: matrix(k, m)", lambda V, W, H: np.sum((V - W @ H) ** 2)),
    (r"The energy is \[ E = \sum_{pqrs} D_{pq} D_{rs} g_{pqrs}, \] where $g_{pqrs} = (pq|rs)$ are integrals.",
     "D: matrix(k, k); g: tensor(k, k, k, k)", lambda D, g: np.einsum("pq,rs,pqrs", D, D, g)),
    (r"The overlap is \[ E = \sum_{pq} D_{pq} S_{pq}, \] where $S_{pq} = \langle p | q \rangle$.",
     "D, S: matrix(k, k)", lambda D, S: np.sum(D * S)),
    (r"\log|I_n - c W|, \quad w_{ij} = a_{ij} \big/ \sum_{k=1}^n a_{ik}", "A: matrix(n, n) positive; c: scalar",
     lambda A, c: np.linalg.slogdet(np.eye(5) - c * A / np.sum(A, axis=1)[:, None])[1]),
    (r"U = \sum_{i=1}^n u_{LJ}(r_i), \quad u_{LJ}(r) = r^2 - r", "r: vector(n)", lambda r: np.sum(r**2 - r)),
    (r"\sum_{i=1}^n\sum_{j=2}^m (h_{ij} - h_{i(j-1)})^2", "H: matrix(n, m)",
     lambda H: sum((H[i, j] - H[i, j - 1]) ** 2 for i in range(5) for j in range(1, 4))),
    (r"\norm[\big]{x}^2 + \abs[\Big]{x^\top y}", "x, y: vector(n)", lambda x, y: x @ x + abs(x @ y)),
    (r"\newcommand{\len}[1]{\|#1\|} \len[\bigg]{x}", "x: vector(n)", lambda x: norm(x)),
]  # fmt: skip
ENDS: list[Case] = [
    (r"\sum_{i=1}^n d_i^2, \quad d_i = \begin{cases} x_{i+1} - x_i & i < n \\ 0 & i = n \end{cases}", "x: vector(n)",
     lambda x: np.sum(steps(x, 0) ** 2)),
    (r"\sum_{i=1}^n e^{d_i}, \quad d_i = \begin{cases} x_1 - x_n & i = n \\ x_{i+1} - x_i & "
     r"\text{otherwise} \end{cases}",
     "x: vector(n)", lambda x: np.sum(np.exp(steps(x, x[0] - x[-1])))),
    (r"\sum_{i=1}^n (c - d_i)^2, \quad d_i = \begin{cases} x_i - x_{i-1} & i > 1 \\ x_1 & i = 1 \end{cases}",
     "x: vector(n); c: scalar",
     lambda x, c: sum((c - (x[i] - x[i - 1] if i else x[0])) ** 2 for i in range(5))),
    (r"\sum_{i=1}^{n} q_i \begin{cases} x_{i+1} & i \le n - 1 \\ 1 & i > n - 1 \end{cases}", "x, q: vector(n)",
     lambda x, q: q[:-1] @ x[1:] + q[-1]),
    (r"\sum_{i=1}^n\sum_{j=1}^m \sqrt{c + (\nabla_1 u)_{i,j}^2}, \quad (\nabla_1 u)_{i,j} = \begin{cases} u_{i+1,j} - "
     r"u_{i,j} & \text{if } i < n, \\ 0 & \text{if } i = n, \end{cases}", "u: matrix(n, m); c: scalar positive",
     lambda u, c: np.sum(np.sqrt(c + np.vstack([u[1:] - u[:-1], np.zeros((1, 4))]) ** 2))),
    (r"The energy is \[ E = \sum_{i=1}^n\sum_{j=1}^m (u_{i+1,j} - u_{i,j})^2 \] with $u_{n+1,j} = u_{1,j}$ and "
     r"$u_{i,m+1} = u_{i,1}$.", "u: matrix(n, m)", lambda u: np.sum((np.roll(u, -1, 0) - u) ** 2)),
]  # fmt: skip
FUNCTIONS: list[Case] = [
    (r"S(u) + 2 S(v), \quad S(w) = \sum_{i=1}^{n-1} \sum_{j=1}^m (w_{i+1,j} - w_{ij})^2", "u, v: matrix(n, m)",
     lambda u, v: np.sum((u[1:] - u[:-1]) ** 2) + 2 * np.sum((v[1:] - v[:-1]) ** 2)),
    (r"T(U + V), \quad T(a) = \sum_{i=1}^n a_{ii}^2", "U, V: matrix(n, n)", lambda U, V: np.sum(np.diag(U + V) ** 2)),
    (r"a^\top K a, \quad K_{ij} = K(x_i, x_j), \quad K(x, x') = \exp(-\|x - x'\|^2)", "X: matrix(n, d); a: vector(n)",
     lambda X, a: sum(a[i] * a[j] * kernel(X[i], X[j]) for i in range(5) for j in range(5))),
    (r"\sum_{i=1}^n (y_i - f(x_i))^2, \quad f(x) = \sum_{j=1}^n a_j k(x, x_j), \quad k(x, z) = \exp(-\|x - z\|^2)",
     "X: matrix(n, d); a, y: vector(n)",
     lambda X, a, y: sum((y[i] - sum(a[j] * kernel(X[i], X[j]) for j in range(5))) ** 2 for i in range(5))),
    (r"\sum_{i=1}^n f(x_i)^2, \quad f(x) = \sum_{j=1}^n a_j x^\top x_j", "X: matrix(n, d); a: vector(n)",
     lambda X, a: np.sum((X @ X.T @ a) ** 2)),
    (r"\sum_{i=1}^n f(x_i), \quad f(x) = \sum_{j=1}^d x_j^3", "X: matrix(n, d)", lambda X: np.sum(X**3)),
    (rf"\sum_{{t=1}}^T H(p(\cdot \mid s_t)), \quad H(p(\cdot \mid s)) = -\sum_{{a=1}}^K p(a "
     rf"\mid s) \log p(a \mid s), \quad {P}",
     "S: matrix(T, d); W: matrix(K, d)", entropy),
    (r"\sum_{t=1}^T D(p(\cdot \mid s_t) \,\|\, q(\cdot \mid s_t)), \quad D(p(\cdot \mid s) \,\|\, q(\cdot \mid s)) = "
     rf"\sum_{{a=1}}^K p(a \mid s) \log \frac{{p(a \mid s)}}{{q(a \mid s)}}, \quad {P}, \quad {Q}",
     "S: matrix(T, d); W, V: matrix(K, d)", divergence),
]  # fmt: skip
PROSE: list[Case] = [
    (r"Returns follow $r_t = \mu + \varepsilon_t$. The loss is \[ L = \sum_{t=1}^T \varepsilon_t^4. \]",
     "r: vector(T); mu: scalar", lambda r, mu: np.sum((r - mu) ** 4)),
    (r"For the model $y_i = x_i^\top w - \xi_i$ we minimize \[ L = \sum_{i=1}^n e^{\xi_i}. \]",
     "X: matrix(n, d); y: vector(n); w: vector(d)", lambda X, y, w: np.sum(np.exp(X @ w - y))),
    (r"In the model $y = c W y + \epsilon$ the criterion is \[ L = \|\epsilon\|^2. \]",
     "y: vector(n); W: matrix(n, n); c: scalar", lambda y, W, c: np.sum((y - c * W @ y) ** 2)),
    (r"Let \[ r = X w - y \] be the residual. The fit is found by minimizing $\|r\|^2 + c \|w\|^2$.",
     "X: matrix(n, d); y: vector(n); w: vector(d); c: scalar", lambda X, y, w, c: np.sum((X @ w - y) ** 2) + c * w @ w),
    (r"The risk is \[ J(w, b) = \|X w + b - y\|^2. \] We minimize $J(\theta)$ over all $\theta = (w, b)$.",
     "X: matrix(n, d); y: vector(n); w: vector(d); b: scalar", lambda X, y, w, b: np.sum((X @ w + b - y) ** 2)),
    (r"With \[ f(u) = u^\top u \] we minimize $f(X w - y)$.", "X: matrix(n, d); y: vector(n); w: vector(d)",
     lambda X, y, w: np.sum((X @ w - y) ** 2)),
    (r"The states are \[ s_t = x_t^2, \quad v_t = s_t + c. \] We maximize the objective $\sum_{t=1}^T \log v_t$.",
     "x: vector(T); c: scalar positive", lambda x, c: np.sum(np.log(x**2 + c))),
    (r"The value iteration is $P_{i+1} = \mathcal{F}(P_i)$ with the operator \[ \mathcal{F}(P) = Q + A^\top P A. \]",
     "A, Q, P: matrix(n, n)", lambda A, Q, P: Q + A.T @ P @ A),
    (r"We iterate $x^{(k+1)} = T(x^{(k)})$ with \[ T(x) = A x + b. \]", "A: matrix(n, n); b, x: vector(n)",
     lambda A, b, x: A @ x + b),
    (r"The loss is \[ J = a^\top L a, \] where $L = D - W$, $D$ being the diagonal matrix "
     r"given by $D_{ii} = \sum_j W_{ij}$.",
     "W: matrix(n, n); a: vector(n)", laplacian),
    (r"The state $x_{t+1} = c x_t + u_t$ has the initial value $x_1$, and the cost is \[ J "
     r"= \sum_{t=1}^T x_{t+1}^2. \]",
     "u: vector(T); c: scalar; x_1: scalar", lambda u, c, x_1: lag(u, c, x_1)),
    (r"The filter is \begin{align} s_t &= c\, s_{t-1} + y_t, & & \\ L &= \sum_{t=1}^T "
     r"s_t^2, & & \end{align} with $s_0 = 2$.",
     "y: vector(T); c: scalar", lambda y, c: lag(y, c, 2.0)),
]  # fmt: skip
READ = [*LENGTHS, *NAMES, *ENDS, *FUNCTIONS, *PROSE]


def data_of(let: str) -> dict[str, Any]:
    found = {}
    for name, (sizes, facts) in declared(let).items():
        x = np.random.default_rng(zlib.crc32(name.encode())).standard_normal([SIZES[size] for size in sizes])
        found[name] = abs(x) + 0.5 if "positive" in facts else x
    return found


@pytest.mark.sampled(12)
@pytest.mark.parametrize(("latex", "let", "value"), READ, ids=[row[0][:70] for row in READ])
def test_a_kind_is_read_in_all_fields(latex: str, let: str, value: Callable[..., Any]) -> None:
    found, data = mc.expression(latex, let, dialect="latex"), data_of(let)
    np.testing.assert_allclose(found(**{name: data[name] for name in found.symbols}), value(**data), rtol=1e-10)


REFUSED = [
    (r"|r_1 - r_2|", "r_1, r_2: vector(d)", "of a vector is not supported"),
    (r"\frac{1}{|\mathbf{y}|} \sum_i y_i", "y: vector(n)", "of a vector is not supported"),
    (r"|\mathbf{r} - s|", "r, s: vector(d)", "of a vector is not supported"),
    (r"\sum_i \theta_i + \cos\theta_i, \quad \cos\theta_i = a_i", "a: vector(n)", "not solved for the name"),
    (r"\cos\theta_i = a_i, \quad \sum_i \sin\theta_i", "a: vector(n)", "not solved for the name"),
    (r"The error is \[ E = \|V\|^2, \] where $V = [v_{ij} + 1]$.", "V: matrix(n, m)", "several formulas"),
    (r"The error is \[ E = \|V\|^2, \] where $V = [w_{ij}]$.", "V: matrix(n, m)", "several formulas"),
    (r"The sum is \[ E = \sum_{ij} D_{ij} a_{ij}, \] where $a_{ij} = (ij)$.", "D: matrix(n, n)", "only words describe"),
    (r"The sum is \[ E = \sum_{ij} g_{ij}, \] where $g_{ij} = (ik|j)$.", "g: matrix(n, n)", "expected an operand"),
    (r"\sum_{i=1}^n \begin{cases} x_{i+2} & i < n \\ 0 & i = n \end{cases}", "x: vector(n)", "outside axis 0"),
    (r"\sum_i \begin{cases} x_{i+1} & i < n \\ 0 & i = n \end{cases}", "x: vector(n)", "without bounds"),
    (r"\sum_{i=1}^n \begin{cases} x_{i+1} & i < m \\ 0 & \text{otherwise} \end{cases}",
     "x: vector(n)", "outside axis 0"),
    (r"T(U), \quad T(a) = \sum_{i=1}^{n} |a_{ij}| + \sum_i a_i", "U: matrix(n, n)", "a matrix in a function"),
    (r"S(u), \quad S(w) = \sum_{i=1}^{n-1} (w_{i+1,i} - w_{ii})^2", "u: vector(n)", "2 subscripts for 1 axes"),
    (r"a^\top K a, \quad K_{ij} = K(x_i, x_j)", "X: matrix(n, d); a: vector(n)", "entries of the same letter"),
    (rf"\sum_{{t=1}}^T H(q(\cdot \mid s_t)), \quad H(p(\cdot \mid s)) = -\sum_{{a=1}}^K p(a "
     rf"\mid s)^2, \quad {P}, \quad {Q}",
     "S: matrix(T, d); W, V: matrix(K, d)", "of other distributions"),
    (r"The model is $y_i = \mu \xi_i$. The loss is \[ L = \sum_i \exp \xi_i. \]",
     "y: vector(n); mu: scalar", "entry of a vector xi"),
    (r"The model is $y_i = \xi_i + \xi_i$. The loss is \[ L = \sum_i \xi_i^2. \]",
     "y: vector(n)", "entry of a vector xi"),
    (r"The loss is \[ L = \|x\|^2. \] We minimize $L + c \|y\|^2$.",
     "x, y: vector(n); c: scalar", "may be the formula"),
    (r"With \[ r = x - y, \] one minimizes $\|r\|^2$ and the other minimizes $\|r\|_1$.",
     "x, y: vector(n)", "does not name a part"),
    (r"We iterate $x_{k+1} = T(x_{k+1})$ with \[ T(x) = A x. \]",
     "A: matrix(n, n); x: vector(n)", "its steps are defined"),
    (r"We iterate $x_{k+1} = 2 T(x_k)$ with \[ T(x) = A x. \]",
     "A: matrix(n, n); x: vector(n)", "its steps are defined"),
    (r"We iterate $x_{k+1} = T(x_k)$ with \[ T(x) = A x. \] The loss is $L = \|x\|^2$.",
     "A: matrix(n, n); x: vector(n)", "several formulas"),
    (r"\norm[2]{x}", "x: vector(n)", "argument in brackets"),
    (r"\newcommand{\len}[1]{\|#1\|} \len[p]{x}", "x: vector(n)", "argument in brackets"),
]  # fmt: skip


@pytest.mark.sampled(12)
@pytest.mark.parametrize(("latex", "let", "message"), REFUSED, ids=[row[0][:70] for row in REFUSED])
def test_an_ambiguous_neighbour_is_refused(latex: str, let: str, message: str) -> None:
    with pytest.raises(mc.MatcalcError, match=message):
        mc.expression(latex, let, dialect="latex")
