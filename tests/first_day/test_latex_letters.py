r"""One letter for two things: sizes and states, numbers and entries, sizes and indices, arguments and data."""

import numpy as np
import pytest
from scipy import stats

import matcalc as mc

RNG = np.random.default_rng(4)
X = RNG.standard_normal((4, 3))
S = RNG.standard_normal((4, 4))
W = RNG.standard_normal((3, 3))
R = RNG.standard_normal((2, 3, 3))
a, v, g = RNG.standard_normal(4), RNG.standard_normal(3), RNG.standard_normal(3)
DATA = {"X": X, "S": S, "W": W, "R": R, "a": a, "v": v, "g": g, "sigma": 0.5, "q": np.array([0, 3, 1, 1])}
LET = (
    "X: matrix(n, d); S: matrix(n, n); W: matrix(d, d); R: tensor(k, d, d); a: vector(n); v: vector(d); "
    "g: vector(d); sigma: scalar; q: index(n); r: index(n)"
)
DATA["r"] = np.array([1, 0, 1, 0])


def value(latex):
    e = mc.expression(latex, LET, dialect="latex")
    return e(**{name: DATA[name] for name in map(str, e.symbols)})


def states():
    h, total = np.zeros(3), 0.0
    for t in range(4):
        h = np.tanh(W @ h + X[t])
        total += v @ h
    return total


def normed(x):
    return g * (x - x.mean()) / np.sqrt(x.var() + 0.5)


TWO = [
    (r"\sum_{t=1}^n v^\top d_t, \quad d_t = \tanh(W d_{t-1} + x_t), \quad d_0 = 0", states()),
    (r"\sum_{i=1}^n \sigma_i a_i + \sigma, \quad \sigma_i = a_i^2 + \sigma", np.sum((a**2 + 0.5) * a) + 0.5),
    (
        r"\sum_{i=1}^n \frac{a_i}{\sigma_i^2} + \log \sigma_i, \quad \sigma_i^2 = a_i^2 + \sigma^2",
        np.sum(a / (a**2 + 0.25) + 0.5 * np.log(a**2 + 0.25)),
    ),
    (r"\sum_{i=1}^n \sum_{d \neq i} S_{id}", S.sum() - np.trace(S)),
    (r"\sum_{i=1}^n \sum_{k=1}^n S_{ik} a_k", np.sum(S @ a)),
    (
        r"\sum_{i=1}^n \|f(x_i)\|^2, \quad f(x) = g \odot \frac{x - \mu}{\sqrt{s^2 + \sigma}}, "
        r"\quad \mu = \frac1d \sum_{j=1}^d x_j, \quad s^2 = \frac1d \sum_{j=1}^d (x_j - \mu)^2",
        sum(np.sum(normed(x) ** 2) for x in X),
    ),
    (
        r"\sum_i \|f(x_i + v)\|^2, \quad f(x) = g \odot (x - \mu), \quad \mu = \frac1d \sum_{j=1}^d x_j",
        sum(np.sum((g * (x + v - (x + v).mean())) ** 2) for x in X),
    ),
    (r"\|P(X - B)\|_F^2, \quad P(Z) = X \odot Z, \quad B = 2 X", np.sum(X**4)),
    (r"\sigma^2(v) + \sigma, \quad \sigma^2(x) = x^\top x".replace(r"\sigma^2", "s^2"), v @ v + 0.5),
    (r"s(v) + s^2(g), \quad s^2(x) = x^\top x", np.sqrt(v @ v) + g @ g),
    (r"\sum_{i,j} p_{ij} S_{ij}, \quad p_{ij} = S_{ij}^2, \quad p_{ii} = 0", np.sum((1 - np.eye(4)) * S**3)),
    (r"\sum_{i=1}^n x_{q_i}^\top R_{r_i} x_i", sum(X[DATA["q"][i]] @ R[DATA["r"][i]] @ X[i] for i in range(4))),
    (
        r"\sum_{t=1}^{n-1} u_t a_t, \quad u_t = \sum_{l=0}^{n-1-t} \sigma^l e_{t+l}, \quad e_t = v^\top x_{t+1} - a_t",
        sum(a[t] * sum(0.5 ** (s - t) * (v @ X[s + 1] - a[s]) for s in range(t, 3)) for t in range(3)),
    ),
    (
        r"\sum_i c(a_i), where $c(t) = \begin{cases} -t & \text{if } t < 0 \\ t^2 & \text{if } 0 \le t \le \sigma \\ 1"
        r" & \text{otherwise} \end{cases}$.",
        np.sum(np.where(a < 0, -a, np.where(a <= 0.5, a**2, 1))),
    ),
    (
        r"\sum_i a_i \Phi(a_i) + \phi(a_i), where $\Phi$ and $\phi$ are the standard normal cdf and pdf.",
        np.sum(a * stats.norm.cdf(a) + stats.norm.pdf(a)),
    ),
    (r"\[ a^\top \sigma(S a) \] with data $a$, weights $S$ and the logistic function $\sigma$.", None),
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("latex", "truth"), TWO)
def test_one_letter_for_two_things(latex, truth):
    if truth is None:
        e = mc.expression(latex, LET.replace("sigma: scalar; ", ""), dialect="latex")
        np.testing.assert_allclose(e(S=S, a=a), a @ (1 / (1 + np.exp(-S @ a))))
        return
    np.testing.assert_allclose(value(latex), truth)


REFUSED = [
    (r"\sum_{i=1}^n \sum_{d=1}^n d S_{id}", "both a size and an index"),
    (r"\sum_i a_i \Phi(a_i), where $\Phi$ is the feature map and $a$ the data.", "only words describe"),
    (r"\sum_{i} \|x_i\|^2/2\sigma^2 v^\top x_i", "a / b c can be read in two ways"),
    (r"\[ a^\top S a \] where $a$ is data and $S$ a matrix, with the step function $\sigma$.", "deny|only words"),
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("latex", "message"), REFUSED)
def test_two_readings_are_refused(latex, message):
    with pytest.raises(mc.MatcalcError, match=message):
        mc.expression(latex, LET, dialect="latex")
