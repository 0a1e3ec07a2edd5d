"""Facts of textbooks about recurrences, at random data: filters, regulators, chains, iterations, running statistics."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.linalg import inv, matrix_power, slogdet

import matcalc as mc

STEPS, N, M = 6, 3, 2
RNG = np.random.default_rng(3)


def _spd(n: int) -> Any:
    half = RNG.normal(size=(n, n))
    return half @ half.T / n + np.eye(n)


A, B, C = RNG.normal(size=(N, N)) / 2, RNG.normal(size=(N, M)), RNG.normal(size=(N, N))
U, Y = RNG.normal(size=(STEPS, M)), RNG.normal(size=(STEPS, M))
X0, B0, P0, Q, R, H = RNG.normal(size=N), RNG.normal(size=N), _spd(N), _spd(N), _spd(M), RNG.normal(size=(M, N))
E, W = RNG.normal(size=STEPS), RNG.normal(size=(N, N)) / 2
DATA = {"A": A, "B": B, "C": C, "U": U, "Y": Y, "x0": X0, "b": B0, "P0": P0, "Q": Q, "R": R, "H": H, "e": E, "W": W,
        "a": 0.3, "w": 0.2, "g": 0.5, "T": STEPS, "S": _spd(N), "V": RNG.normal(size=(STEPS, N))}  # fmt: skip
DECLARED = (
    "A, C, W: matrix(n, n); B: matrix(n, m); U, Y: matrix(T, m); x0, b: vector(n); P0, Q, S: matrix(n, n) spd; "
    "R: matrix(m, m) spd; H: matrix(m, n); e: vector(T); a, w, g: scalar; V: matrix(T, n)"
)


def value(text: str, wrt: str = "") -> Any:
    """Return the value of a formula, or of its gradient, at the data of this file."""
    e = mc.expression(text, DECLARED)
    e = mc.gradient(e, wrt) if wrt else e
    sizes = {"n": N, "m": M}
    return np.asarray(e(**{name: DATA.get(name, sizes.get(name)) for name in e.symbols}))


def close(found: Any, wanted: Any, bound: float = 1e-12) -> None:
    """Assert that two arrays agree, relative to the largest entry."""
    assert np.shape(found) == np.shape(wanted)
    assert np.abs(found - wanted).max(initial=0) <= bound * max(1, np.abs(wanted).max(initial=0))


STATES = "x[0] = x0, x[t+1] = A*x[t] + B*U[t, :], t < T"


@pytest.mark.whole
def test_linear_system_and_its_adjoint() -> None:
    f = f"b'*x[T] where {STATES}"
    x = [X0]
    for u in U:
        x.append(A @ x[-1] + B @ u)
    adjoint = [matrix_power(A.T, STEPS - t) @ B0 for t in range(STEPS + 1)]
    close(value(f), B0 @ x[-1])
    close(value(f, "A"), sum(np.outer(adjoint[t + 1], x[t]) for t in range(STEPS)))
    close(value(f, "B"), sum(np.outer(adjoint[t + 1], U[t]) for t in range(STEPS)))
    close(value(f, "U"), np.array([B.T @ adjoint[t + 1] for t in range(STEPS)]))
    close(value(f, "x0"), adjoint[0])


@pytest.mark.whole
def test_constant_input_and_powers() -> None:
    power, rest = matrix_power(A, STEPS), inv(np.eye(N) - A)
    close(value("x[T] where x[0] = x0, x[t+1] = A*x[t] + b, t < T"), power @ X0 + rest @ (np.eye(N) - power) @ B0)
    f = "tr(X[T]) where X[0] = eye(n), X[t+1] = A*X[t], t < T"
    close(value(f, "A"), STEPS * matrix_power(A.T, STEPS - 1))
    f = "sum(C.*X[T]) where X[0] = eye(n), X[t+1] = A*X[t], t < T"
    terms = (matrix_power(A.T, j) @ C @ matrix_power(A.T, STEPS - 1 - j) for j in range(STEPS))
    close(value(f, "A"), sum(terms))
    close(value("sum{t: X[t]} where X[0] = eye(n), X[t+1] = A*X[t], t < T"), rest @ (np.eye(N) - power))


@pytest.mark.whole
def test_regulator_and_its_gradients_by_the_envelope() -> None:
    f = ("x0'*P[0]*x0 where P[T] = Q, K[t] = inv(R + B'*P[t+1]*B)*B'*P[t+1]*A, "
         "P[t] = Q + A'*P[t+1]*A - A'*P[t+1]*B*K[t], t < T")  # fmt: skip
    p = [Q]
    for _ in range(STEPS):
        gain = inv(R + B.T @ p[0] @ B) @ B.T @ p[0] @ A
        p.insert(0, Q + A.T @ p[0] @ A - A.T @ p[0] @ B @ gain)
    x, u = [X0], []
    for t in range(STEPS):
        u.append(-inv(R + B.T @ p[t + 1] @ B) @ B.T @ p[t + 1] @ A @ x[t])
        x.append(A @ x[t] + B @ u[t])
    cost = sum(s @ Q @ s for s in x) + sum(c @ R @ c for c in u)
    close(value(f), cost)
    close(value(f, "A"), 2 * sum(p[t + 1] @ np.outer(x[t + 1], x[t]) for t in range(STEPS)))
    close(value(f, "B"), 2 * sum(p[t + 1] @ np.outer(x[t + 1], u[t]) for t in range(STEPS)))
    close(value(f, "Q"), sum(np.outer(s, s) for s in x))
    close(value(f, "R"), sum(np.outer(c, c) for c in u))


KALMAN = (
    "sum{t: logdet(S1[t]) + v[t]'*inv(S1[t])*v[t]}/2 where z[0] = x0, P[0] = P0, v[t] = Y[t, :] - H*z[t], "
    "S1[t] = H*P[t]*H' + R, K[t] = A*P[t]*H'*inv(S1[t]), z[t+1] = A*z[t] + K[t]*v[t], "
    "P[t+1] = A*P[t]*A' + Q - K[t]*S1[t]*K[t]', t < T"
)


def _joint() -> tuple[Any, Any]:
    """Return mean and covariance of all observations as one Gaussian."""
    means, blocks, cov = [X0], np.zeros((STEPS, STEPS, N, N)), P0
    for t in range(STEPS):
        blocks[t, t] = cov
        for s in range(t + 1, STEPS):
            blocks[s, t] = A @ blocks[s - 1, t]
            blocks[t, s] = blocks[s, t].T
        cov = A @ cov @ A.T + Q
        means.append(A @ means[-1])
    whole = np.block([[H @ blocks[i, j] @ H.T + R * (i == j) for j in range(STEPS)] for i in range(STEPS)])
    return np.concatenate([H @ mean for mean in means[:-1]]), whole


@pytest.mark.whole
def test_kalman_likelihood_is_that_of_one_gaussian() -> None:
    mean, cov = _joint()
    rest = Y.ravel() - mean
    close(value(KALMAN), (slogdet(cov)[1] + rest @ inv(cov) @ rest) / 2)


@pytest.mark.whole
def test_kalman_gradients_by_the_joint_gaussian() -> None:
    mean, cov = _joint()
    rest = inv(cov) @ (Y.ravel() - mean)
    close(value(KALMAN, "Y"), rest.reshape(STEPS, M))
    slope = (inv(cov) - np.outer(rest, rest)) / 2
    close(value(KALMAN, "R"), sum(slope[k * M : (k + 1) * M, k * M : (k + 1) * M] for k in range(STEPS)))
    jac = np.concatenate([H @ matrix_power(A, t) for t in range(STEPS)])
    close(value(KALMAN, "x0"), -jac.T @ rest)


def test_network_by_backpropagation() -> None:
    f = "b'*x[T] where x[0] = x0, x[t+1] = tanh(W*x[t] + B*U[t, :]), t < T"
    x = [X0]
    for u in U:
        x.append(np.tanh(W @ x[-1] + B @ u))
    bar, grads = B0, [np.zeros((N, N)), np.zeros((N, M))]
    for t in reversed(range(STEPS)):
        d = (1 - x[t + 1] ** 2) * bar
        grads = [grads[0] + np.outer(d, x[t]), grads[1] + np.outer(d, U[t])]
        bar = W.T @ d
    close(value(f, "W"), grads[0])
    close(value(f, "B"), grads[1])


@pytest.mark.whole
def test_matrix_iterations() -> None:
    small = A / 4 + np.eye(N)
    inverse = mc.expression("X[T] where X[0] = eye(n), X[t+1] = X[t]*(2*eye(n) - A*X[t]), t < T", DECLARED)
    close(np.asarray(inverse(A=small, T=9)), inv(small))
    close(
        np.asarray(mc.expression("A*X[T] where X[0] = eye(n), X[t+1] = X[t]*(2*eye(n) - A*X[t]), t < T", DECLARED)(
            A=small, T=3)), np.eye(N) - matrix_power(np.eye(N) - small, 8))  # fmt: skip
    root = mc.expression(
        "Y1[T] where Y1[0] = S, Z[0] = eye(n), Y1[t+1] = (Y1[t] + inv(Z[t]))/2, Z[t+1] = (Z[t] + inv(Y1[t]))/2, t < T",
        DECLARED,
    )
    found = np.asarray(root(S=DATA["S"], T=12))
    close(found @ found, DATA["S"])


def test_gradient_descent_in_its_step_length() -> None:
    f = "b'*x[T] where x[0] = x0, x[t+1] = x[t] - a*(S*x[t] + b), t < T"
    s, a = DATA["S"], DATA["a"]
    start = X0 + inv(s) @ B0
    close(value(f, "a"), -STEPS * B0 @ s @ matrix_power(np.eye(N) - a * s, STEPS - 1) @ start, 1e-11)


@pytest.mark.whole
def test_running_statistics() -> None:
    rest = 1 - DATA["a"]
    close(
        value("s[T] where s[0] = w, s[t+1] = a*e[t] + (1 - a)*s[t], t < T"),
        rest**STEPS * DATA["w"] + DATA["a"] * sum(rest ** (STEPS - 1 - t) * E[t] for t in range(STEPS)),
    )
    close(value("s[1:] where s[0] = 0, s[t+1] = s[t] + e[t], t < T"), np.cumsum(E))
    close(value("s[1:] where s[0] = 1, s[t+1] = s[t]*e[t], t < T"), np.cumprod(E))
    welford = "k[0] = 0, q[0] = 0, k[t+1] = k[t] + (e[t] - k[t])/(t + 1), q[t+1] = q[t] + (e[t] - k[t])*(e[t] - k[t+1])"
    close(value(f"q[T] where {welford}, t < T"), np.var(E) * STEPS)
    close(value(f"q[T] where {welford}, t < T", "e"), 2 * (E - E.mean()))
    softmax = ("h[0] = -50, d[0] = 0, o[0] = zeros(n), h[t+1] = max(h[t], e[t]), "
               "d[t+1] = d[t]*exp(h[t] - h[t+1]) + exp(e[t] - h[t+1]), "
               "o[t+1] = o[t]*exp(h[t] - h[t+1]) + V[t, :]*exp(e[t] - h[t+1]), t < T")  # fmt: skip
    weights = np.exp(E) / np.exp(E).sum()
    close(value(f"o[T]/d[T] where {softmax}"), weights @ DATA["V"])
    close(value(f"h[T] + log(d[T]) where {softmax}", "e"), weights)


@pytest.mark.whole
def test_garch_recursive_least_squares_and_chain() -> None:
    garch = "h[T] where h[0] = w, h[t+1] = w + a*e[t]^2 + g*h[t], t < T"
    slope = np.array([1.0, 0.0])
    h = DATA["w"]
    for t in range(STEPS):
        slope = np.array([1.0, E[t] ** 2]) + DATA["g"] * slope
        h = DATA["w"] + DATA["a"] * E[t] ** 2 + DATA["g"] * h
    close(value(garch), h)
    close(np.array([value(garch, "w"), value(garch, "a")]), slope)
    rls = ("k[0] = x0, P[0] = P0, K[t] = P[t]*V[t, :]/(1 + V[t, :]'*P[t]*V[t, :]), "
           "k[t+1] = k[t] + K[t]*(e[t] - V[t, :]'*k[t]), P[t+1] = P[t] - K[t]*V[t, :]'*P[t], t < T")  # fmt: skip
    v = DATA["V"]
    final = inv(inv(P0) + v.T @ v)
    close(value(f"P[T] where {rls}"), final)
    close(value(f"k[T] where {rls}"), final @ (inv(P0) @ X0 + v.T @ E))
    chain = "logsumexp(x[T]) where x[0] = x0, x[t+1] = log(exp(W)'*exp(x[t])) + V[t, :], t < T"
    paths = np.array(list(np.ndindex(*[N] * (STEPS + 1))))
    scores = X0[paths[:, 0]] + sum(W[paths[:, t], paths[:, t + 1]] + v[t, paths[:, t + 1]] for t in range(STEPS))
    weight = np.exp(scores - scores.max())
    weight /= weight.sum()
    pairs = np.zeros((N, N))
    for t in range(STEPS):
        np.add.at(pairs, (paths[:, t], paths[:, t + 1]), weight)
    close(value(chain, "W"), pairs)
    close(value(chain, "x0"), np.bincount(paths[:, 0], weight))


@pytest.mark.whole
def test_integrators() -> None:
    rk = ("x[T] where x[0] = x0, k1[t] = A*x[t], k2[t] = A*(x[t] + a/2*k1[t]), k3[t] = A*(x[t] + a/2*k2[t]), "
          "k4[t] = A*(x[t] + a*k3[t]), x[t+1] = x[t] + a/6*(k1[t] + 2*k2[t] + 2*k3[t] + k4[t]), t < T")  # fmt: skip
    step = DATA["a"] * A
    one = np.eye(N) + step + step @ step / 2 + matrix_power(step, 3) / 6 + matrix_power(step, 4) / 24
    close(value(rk), matrix_power(one, STEPS) @ X0)
    crank = "x[T] where x[0] = x0, x[t+1] = inv(eye(n) - a/2*A)*(eye(n) + a/2*A)*x[t], t < T"
    close(value(crank), matrix_power(inv(np.eye(N) - step / 2) @ (np.eye(N) + step / 2), STEPS) @ X0)
