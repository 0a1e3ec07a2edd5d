"""Five models with a step index: the formula, the data, and the symbols of the gradient."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Array = np.ndarray
Data = dict[str, Array]


@dataclass(frozen=True)
class Model:
    """A formula with its declarations and typical sizes; `data` returns arguments for a size and a number of steps."""

    text: str
    declarations: str
    wrt: tuple[str, ...]
    data: Callable[[int, int], Data]
    grid: tuple[tuple[int, int], ...]
    sizes: dict[str, int]


def stable(rng: np.random.Generator, n: int) -> Array:
    """Return a matrix with spectral norm 0.95."""
    A = rng.standard_normal((n, n))
    return 0.95 * A / np.linalg.norm(A, 2)


def spd(rng: np.random.Generator, n: int) -> Array:
    B = rng.standard_normal((n, n))
    return B @ B.T / n + np.eye(n)


def kalman_data(n: int, T: int) -> Data:
    rng, p = np.random.default_rng(0), max(1, n // 2)
    A, H, Q, R = stable(rng, n), rng.standard_normal((p, n)) / np.sqrt(n), spd(rng, n), spd(rng, p)
    x0, P0, Y = rng.standard_normal(n), spd(rng, n), rng.standard_normal((T, p))
    return {"A": A, "H": H, "Q": Q, "R": R, "x0": x0, "P0": P0, "Y": Y}


def rnn_data(n: int, T: int) -> Data:
    rng, m = np.random.default_rng(1), max(1, n // 2)
    W, U, b, c = stable(rng, n), rng.standard_normal((n, m)) / 3, rng.standard_normal(n), rng.standard_normal(n)
    h0, X, y = rng.standard_normal(n), rng.standard_normal((T, m)), rng.standard_normal(T)
    return {"W": W, "U": U, "b": b, "c": c, "h0": h0, "X": X, "y": y}


def garch_data(n: int, T: int) -> Data:
    e = np.random.default_rng(2).standard_normal(T)
    return {"w": np.float64(0.1), "a": np.float64(0.1), "b": np.float64(0.8), "s": np.float64(1.0), "e": e}


def rk4_data(n: int, T: int) -> Data:
    rng = np.random.default_rng(3)
    A = stable(rng, n) - np.eye(n)
    x0, b, Y = rng.standard_normal(n), rng.standard_normal(n) / 2, rng.standard_normal((T, n))
    return {"A": A, "b": b, "x0": x0, "h": np.float64(0.05), "Y": Y}


def lqr_data(n: int, T: int) -> Data:
    rng, m = np.random.default_rng(4), max(1, n // 4)
    A, B = stable(rng, n), rng.standard_normal((n, m)) / np.sqrt(n)
    return {"A": A, "B": B, "Q": spd(rng, n), "R": spd(rng, m), "X0": spd(rng, n), "T": T}


MATRICES = ((2, 10_000), (20, 100), (20, 1000), (100, 100))
MODELS = {
    "kalman": Model(
        "sum{t: logdet(S[t]) + v[t]'*inv(S[t])*v[t]}/2 where x[0] = x0, P[0] = P0, v[t] = Y[t, :] - H*x[t], "
        "S[t] = H*P[t]*H' + R, K[t] = P[t]*H'*inv(S[t]), x[t+1] = A*(x[t] + K[t]*v[t]), "
        "P[t+1] = A*(P[t] - K[t]*H*P[t])*A' + Q, t < T",
        "A: matrix(n, n); H: matrix(p, n); Q: matrix(n, n) spd; R: matrix(p, p) spd; x0: vector(n); "
        "P0: matrix(n, n) spd; Y: matrix(T, p)",
        ("A", "H", "Q", "R"),
        kalman_data,
        MATRICES,
        {"n": 20, "p": 10},
    ),
    "rnn": Model(
        "sum{t: (c'*h[t+1] - y[t])^2} where h[0] = h0, h[t+1] = tanh(W*h[t] + U*X[t, :] + b), t < T",
        "W: matrix(n, n); U: matrix(n, m); b, c, h0: vector(n); X: matrix(T, m); y: vector(T)",
        ("W", "U", "b", "c"),
        rnn_data,
        MATRICES,
        {"n": 20, "m": 10},
    ),
    "garch": Model(
        "sum{t: log(g[t]) + e[t]^2/g[t]} where g[0] = s, g[t+1] = w + a*e[t]^2 + b*g[t], t < T",
        "e: vector(T); s, w, a, b: scalar positive",
        ("w", "a", "b"),
        garch_data,
        ((1, 100), (1, 1000), (1, 10_000)),
        {},
    ),
    "rk4": Model(
        "sum{t: norm2(x[t+1] - Y[t, :])^2} where x[0] = x0, k1[t] = A*tanh(x[t]) + b, "
        "k2[t] = A*tanh(x[t] + h/2*k1[t]) + b, k3[t] = A*tanh(x[t] + h/2*k2[t]) + b, "
        "k4[t] = A*tanh(x[t] + h*k3[t]) + b, x[t+1] = x[t] + h/6*(k1[t] + 2*k2[t] + 2*k3[t] + k4[t]), t < T",
        "A: matrix(n, n); b, x0: vector(n); h: scalar; Y: matrix(T, n)",
        ("A", "b", "x0"),
        rk4_data,
        MATRICES,
        {"n": 20},
    ),
    "lqr": Model(
        "tr(P[0]*X0) where P[T] = Q, P[t] = Q + A'*P[t+1]*A - A'*P[t+1]*B*inv(R + B'*P[t+1]*B)*B'*P[t+1]*A, t < T",
        "A: matrix(n, n); B: matrix(n, m); Q: matrix(n, n) spd; R: matrix(m, m) spd; X0: matrix(n, n) spd",
        ("A", "B", "Q", "R"),
        lqr_data,
        MATRICES,
        {"n": 20, "m": 5},
    ),
}
