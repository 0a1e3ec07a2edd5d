"""Further facts of textbooks about recurrences: limits, smoothers, adjoints of running sums, stacked states."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.linalg import inv, matrix_power
from test_recurrence_facts import (
    B0,
    DATA,
    DECLARED,
    KALMAN,
    P0,
    STEPS,
    X0,
    A,
    B,
    C,
    E,
    H,
    M,
    N,
    Q,
    R,
    U,
    Y,
    close,
    value,
)

import matcalc as mc

LONG = 400
SMALL = A / (1.5 * np.abs(np.linalg.eigvals(A)).max())


def at(text: str, wrt: str = "", **given: Any) -> Any:
    """Return the value of a formula, or of its gradient, at data that replace some of those of all facts."""
    e = mc.expression(text, DECLARED)
    e = mc.gradient(e, wrt) if wrt else e
    data = {**DATA, "n": N, "m": M, **given}
    return np.asarray(e(**{name: data[name] for name in e.symbols}))


@pytest.mark.whole
def test_the_limit_of_a_linear_system_and_its_gradient() -> None:
    f = "x0'*x[T] where x[0] = zeros(n), x[t+1] = A*x[t] + b, t < T"
    z, dual = inv(np.eye(N) - SMALL) @ B0, inv(np.eye(N) - SMALL).T @ X0
    close(at(f, A=SMALL, T=LONG), X0 @ z)
    close(at(f, "A", A=SMALL, T=LONG), np.outer(dual, z), 1e-11)
    close(at(f, "b", A=SMALL, T=LONG), dual, 1e-11)


@pytest.mark.whole
def test_the_limit_of_a_lyapunov_recurrence_and_its_gradient() -> None:
    f = "tr(S*P[T]) where P[0] = P0, P[t+1] = A*P[t]*A' + Q, t < T"
    kron = np.eye(N * N) - np.kron(SMALL, SMALL)
    p = np.linalg.solve(kron, Q.ravel()).reshape(N, N)
    s = np.linalg.solve(kron.T, DATA["S"].ravel()).reshape(N, N)
    close(at(f, A=SMALL, T=LONG), np.trace(DATA["S"] @ p), 1e-11)
    close(at(f, "A", A=SMALL, T=LONG), 2 * s @ SMALL @ p, 1e-11)
    close(at(f, "Q", A=SMALL, T=LONG), s, 1e-11)


def _joint_states() -> tuple[Any, Any]:
    """Return mean and covariance of all states given all observations, as one Gaussian."""
    count = STEPS
    forward = np.zeros((count, count, N, N))
    for t in range(count):
        for s in range(t + 1):
            forward[t, s] = matrix_power(A, t - s)
    lower = np.block([[forward[t, s] for s in range(count)] for t in range(count)])
    noise = np.kron(np.eye(count), Q)
    noise[:N, :N] = P0
    prior = lower @ noise @ lower.T
    mean = np.concatenate([matrix_power(A, t) @ X0 for t in range(count)])
    seen = np.kron(np.eye(count), H)
    gain = prior @ seen.T @ inv(seen @ prior @ seen.T + np.kron(np.eye(count), R))
    return (mean + gain @ (Y.ravel() - seen @ mean)).reshape(count, N), prior - gain @ seen @ prior


@pytest.mark.whole
def test_the_smoother_is_the_conditional_gaussian() -> None:
    means, cov = _joint_states()
    text = (
        "z[0] = x0, P[0] = P0, v[t] = Y[t, :] - H*z[t], S1[t] = H*P[t]*H' + R, F[t] = z[t] + P[t]*H'*inv(S1[t])*v[t], "
        "W1[t] = P[t] - P[t]*H'*inv(S1[t])*H*P[t], z[t+1] = A*F[t], P[t+1] = A*W1[t]*A' + Q, "
        "s[T] = z[T], V1[T] = P[T], J[t] = W1[t]*A'*inv(P[t+1]), s[t] = F[t] + J[t]*(s[t+1] - z[t+1]), "
        "V1[t] = W1[t] + J[t]*(V1[t+1] - P[t+1])*J[t]', t < T"
    )
    close(value(f"s[:-1] where {text}"), means, 1e-11)
    blocks = np.array([cov[k * N : (k + 1) * N, k * N : (k + 1) * N] for k in range(STEPS)])
    close(value(f"V1[0] where {text}"), blocks[0], 1e-11)
    close(value(f"sum{{t: V1[t]}} where {text}"), blocks.sum(0), 1e-11)


@pytest.mark.whole
def test_kalman_gradients_by_fishers_identity() -> None:
    means, cov = _joint_states()
    blocks = cov.reshape(STEPS, N, STEPS, N).swapaxes(1, 2)
    second = blocks + means[:, None, :, None] * means[None, :, None, :]
    pairs = range(STEPS - 1)
    close(value(KALMAN, "A"), -inv(Q) @ sum(second[t + 1, t] - A @ second[t, t] for t in pairs), 1e-10)
    gaps = [np.outer(Y[t], means[t]) - H @ second[t, t] for t in range(STEPS)]
    close(value(KALMAN, "H"), -inv(R) @ sum(gaps), 1e-10)
    steps = [
        second[t + 1, t + 1] - A @ second[t, t + 1] - second[t + 1, t] @ A.T + A @ second[t, t] @ A.T for t in pairs
    ]
    close(value(KALMAN, "Q"), sum(inv(Q) - inv(Q) @ s @ inv(Q) for s in steps) / 2, 1e-10)
    close(value(KALMAN, "x0"), -inv(P0) @ (means[0] - X0), 1e-10)


@pytest.mark.whole
def test_newton_for_the_polar_factor() -> None:
    u, _, v = np.linalg.svd(C)
    close(at("X[T] where X[0] = C, X[t+1] = (X[t] + inv(X[t])')/2, t < T", T=40), u @ v, 1e-11)


def test_adjoints_of_running_sums_and_products() -> None:
    weights = np.arange(1.0, STEPS + 1)
    total = "sum{t: (t + 1)*s[t+1]} where s[0] = 0, s[t+1] = s[t] + e[t], t < T"
    close(value(total, "e"), np.cumsum(weights[::-1])[::-1])
    products = "sum{t: (t + 1)*s[t+1]} where s[0] = 1, s[t+1] = s[t]*e[t], t < T"
    close(value(products, "e"), np.cumsum((weights * np.cumprod(E))[::-1])[::-1] / E)


@pytest.mark.whole
def test_stacked_states_are_a_block_toeplitz_matrix() -> None:
    free = np.concatenate([matrix_power(A, t + 1) for t in range(STEPS)])
    rows = [[matrix_power(A, t - s) @ B if s <= t else np.zeros((N, M)) for s in range(STEPS)] for t in range(STEPS)]
    found = value("x[1:] where x[0] = x0, x[t+1] = A*x[t] + B*U[t, :], t < T")
    close(found.ravel(), free @ X0 + np.block(rows) @ U.ravel())


@pytest.mark.whole
def test_the_gradient_of_a_geometric_sum_of_matrices() -> None:
    f = "sum{t: tr(C'*X[t])} where X[0] = eye(n), X[t+1] = A*X[t], t < T"
    terms = (
        matrix_power(A.T, i) @ C @ matrix_power(A.T, j) for i in range(STEPS) for j in range(STEPS) if i + j < STEPS - 1
    )
    close(value(f, "A"), sum(terms))
