"""Measures formulas of small fixed sizes, with gradients, against loops written by hand for Numba and against JAX.

    python -m benchmarks.small_sizes         writes results/small_sizes.md

Each formula is of matrices of 3 x 3 or vectors of 3, for a number of points or elements. The hand-written loops treat
one element after another and keep everything of it in local variables. All run on one core; the calls alternate, and
the best of many rounds counts, in processor time. JAX is left out if it is not installed, and
at the largest number of systems, from which it did not return.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit

import matcalc as mc

RESULTS = Path(__file__).parent / "results" / "small_sizes.md"
SIZES = (1, 1000, 100_000)
ROUNDS = 9
ROUND = 2e-3  # seconds of a round of calls
LARGEST_SOLVES = 1000  # a JAX of two cores does not return from 100,000 solutions by LAPACK
Array = np.ndarray


@njit
def inverse(F: Array) -> tuple[float, tuple[float, ...]]:
    """Return the determinant and the entries of the inverse of a 3 x 3 matrix, by cofactors."""
    a, b, c, d, e, f, g, h, k = F[0, 0], F[0, 1], F[0, 2], F[1, 0], F[1, 1], F[1, 2], F[2, 0], F[2, 1], F[2, 2]
    p, q, r = e * k - f * h, f * g - d * k, d * h - e * g
    det = a * p + b * q + c * r
    s = 1 / det
    rows = (p * s, (c * h - b * k) * s, (b * f - c * e) * s, q * s, (a * k - c * g) * s, (c * d - a * f) * s)
    return det, (*rows, r * s, (b * g - a * h) * s, (a * e - b * d) * s)


@njit
def neo_hookean(F: Array, mu: float, lam: float) -> tuple[float, Array]:
    """Return the energy of elements with deformation gradients F, and its gradient."""
    value, gradient = 0.0, np.empty_like(F)
    for n in range(F.shape[0]):
        det, inv = inverse(F[n])
        log = np.log(abs(det))
        square = 0.0
        slope = lam * log - mu
        for i in range(3):
            for j in range(3):
                square += F[n, i, j] ** 2
                gradient[n, i, j] = mu * F[n, i, j] + slope * inv[3 * j + i]
        value += mu / 2 * (square - 3) - mu * log + lam / 2 * log * log
    return value, gradient


@njit
def gaussians(S: Array, y: Array) -> tuple[float, Array]:
    """Return the sum of logdet(S_n) + y_n'*inv(S_n)*y_n, and its gradient in S."""
    value, gradient = 0.0, np.empty_like(S)
    for n in range(S.shape[0]):
        det, inv = inverse(S[n])
        a, b, c = y[n, 0], y[n, 1], y[n, 2]
        z = (
            inv[0] * a + inv[1] * b + inv[2] * c,
            inv[3] * a + inv[4] * b + inv[5] * c,
            inv[6] * a + inv[7] * b + inv[8] * c,
        )
        w = (
            inv[0] * a + inv[3] * b + inv[6] * c,
            inv[1] * a + inv[4] * b + inv[7] * c,
            inv[2] * a + inv[5] * b + inv[8] * c,
        )
        value += np.log(abs(det)) + a * z[0] + b * z[1] + c * z[2]
        for i in range(3):
            for j in range(3):
                gradient[n, i, j] = inv[3 * j + i] - w[i] * z[j]
    return value, gradient


@njit
def solves(S: Array, y: Array, t: Array) -> tuple[float, Array]:
    """Return the sum of |inv(S_n)*y_n - t_n|^2, and its gradient in y."""
    value, gradient = 0.0, np.empty_like(y)
    for n in range(S.shape[0]):
        _, inv = inverse(S[n])
        a, b, c = y[n, 0], y[n, 1], y[n, 2]
        p = inv[0] * a + inv[1] * b + inv[2] * c - t[n, 0]
        q = inv[3] * a + inv[4] * b + inv[5] * c - t[n, 1]
        r = inv[6] * a + inv[7] * b + inv[8] * c - t[n, 2]
        value += p * p + q * q + r * r
        for i in range(3):
            gradient[n, i] = 2 * (inv[i] * p + inv[3 + i] * q + inv[6 + i] * r)
    return value, gradient


@njit
def rotation(X: Array, Y: Array, w: Array) -> tuple[float, Array]:
    """Return the sum of |exp(w)*x_n - y_n|^2 for the rotation about w by |w|, and its gradient in w."""
    a, b, c = w[0], w[1], w[2]
    square = a * a + b * b + c * c
    angle = np.sqrt(square)
    sin, cos = np.sin(angle), np.cos(angle)
    s, t = sin / angle, (1 - cos) / square
    ds = (cos - s) / square  # over w
    dt = (s - 2 * t) / square
    value, g0, g1, g2 = 0.0, 0.0, 0.0, 0.0
    for n in range(X.shape[0]):
        x, y, z = X[n, 0], X[n, 1], X[n, 2]
        dot = a * x + b * y + c * z
        u0, u1, u2 = b * z - c * y, c * x - a * z, a * y - b * x  # w x X
        v0, v1, v2 = a * dot - square * x, b * dot - square * y, c * dot - square * z  # w x (w x X)
        r0 = x + s * u0 + t * v0 - Y[n, 0]
        r1 = y + s * u1 + t * v1 - Y[n, 1]
        r2 = z + s * u2 + t * v2 - Y[n, 2]
        value += r0 * r0 + r1 * r1 + r2 * r2
        ru = r0 * u0 + r1 * u1 + r2 * u2
        rv = r0 * v0 + r1 * v1 + r2 * v2
        rw, rx = r0 * a + r1 * b + r2 * c, r0 * x + r1 * y + r2 * z
        common = ds * ru + dt * rv - 2 * t * rx
        g0 += common * a + s * (y * r2 - z * r1) + t * (dot * r0 + rw * x)
        g1 += common * b + s * (z * r0 - x * r2) + t * (dot * r1 + rw * y)
        g2 += common * c + s * (x * r1 - y * r0) + t * (dot * r2 + rw * z)
    return value, 2 * np.array([g0, g1, g2])


@njit
def sampson(X: Array, Y: Array, F: Array) -> tuple[float, Array]:
    """Return the sum of squared epipolar residuals y_n'*F*x_n, each over |(F*x_n)[:2]|^2, and its gradient in F."""
    value, gradient = 0.0, np.zeros((3, 3))
    for n in range(X.shape[0]):
        x, y, z = X[n, 0], X[n, 1], X[n, 2]
        l0 = F[0, 0] * x + F[0, 1] * y + F[0, 2] * z
        l1 = F[1, 0] * x + F[1, 1] * y + F[1, 2] * z
        l2 = F[2, 0] * x + F[2, 1] * y + F[2, 2] * z
        e = Y[n, 0] * l0 + Y[n, 1] * l1 + Y[n, 2] * l2
        below = 1 / (l0 * l0 + l1 * l1)
        ratio = e * below
        value += e * ratio
        c0 = 2 * ratio * (Y[n, 0] - ratio * l0)
        c1 = 2 * ratio * (Y[n, 1] - ratio * l1)
        c2 = 2 * ratio * Y[n, 2]
        gradient[0, 0] += c0 * x
        gradient[0, 1] += c0 * y
        gradient[0, 2] += c0 * z
        gradient[1, 0] += c1 * x
        gradient[1, 1] += c1 * y
        gradient[1, 2] += c1 * z
        gradient[2, 0] += c2 * x
        gradient[2, 1] += c2 * y
        gradient[2, 2] += c2 * z
    return value, gradient


@njit
def reprojection(X: Array, R: Array, t: Array, U: Array) -> tuple[float, Array]:
    """Return the sum of squared reprojection errors of points X seen at U, and its gradient in X."""
    value, gradient = 0.0, np.empty_like(X)
    for n in range(X.shape[0]):
        p = R[0, 0] * X[n, 0] + R[0, 1] * X[n, 1] + R[0, 2] * X[n, 2] + t[0]
        q = R[1, 0] * X[n, 0] + R[1, 1] * X[n, 1] + R[1, 2] * X[n, 2] + t[1]
        r = R[2, 0] * X[n, 0] + R[2, 1] * X[n, 1] + R[2, 2] * X[n, 2] + t[2]
        over = 1 / r
        e, f = p * over - U[n, 0], q * over - U[n, 1]
        value += e * e + f * f
        gp, gq = 2 * e * over, 2 * f * over
        gr = -(gp * p + gq * q) * over
        for i in range(3):
            gradient[n, i] = gp * R[0, i] + gq * R[1, i] + gr * R[2, i]
    return value, gradient


Case = tuple[str, str, str, Callable[..., tuple[float, Array]]]
CASES: dict[str, Case] = {
    "neo-Hookean elements": (
        "sum{n: mu/2*(sum{i,j: F[n,i,j]^2} - 3) - mu*logdet(F[n,:,:]) + lam/2*logdet(F[n,:,:])^2}",
        "F: tensor(N, 3, 3); mu: scalar positive; lam: scalar positive",
        "F",
        neo_hookean,
    ),
    "a covariance for each point": (
        "sum{n: logdet(S[n,:,:]) + y[n,:]'*(S[n,:,:]\\y[n,:])}",
        "S: tensor(N, 3, 3); y: matrix(N, 3)",
        "S",
        gaussians,
    ),
    "a system for each point": (
        "sum{n: norm2(S[n,:,:]\\y[n,:] - t[n,:])^2}",
        "S: tensor(N, 3, 3); y: matrix(N, 3); t: matrix(N, 3)",
        "y",
        solves,
    ),
    "rotation of points": (
        "norm2(X*R' - Y)^2 where h = norm2(w), K = [0, -w[2], w[1]; w[2], 0, -w[0]; -w[1], w[0], 0], "
        "R = eye(3) + sin(h)/h*K + (1 - cos(h))/h^2*K*K",
        "X: matrix(N, 3); Y: matrix(N, 3); w: vector(3)",
        "w",
        rotation,
    ),
    "epipolar residuals": (
        "sum{n: e[n]^2/(L[n,0]^2 + L[n,1]^2)} where L = X*F', e = {n: sum{i: Y[n,i]*L[n,i]}}",
        "X: matrix(N, 3); Y: matrix(N, 3); F: matrix(3, 3)",
        "F",
        sampson,
    ),
    "reprojection errors": (
        "sum{n: (P[n,0]/P[n,2] - U[n,0])^2 + (P[n,1]/P[n,2] - U[n,1])^2} where P = {n,i: sum{j: R[i,j]*X[n,j]} + t[i]}",
        "X: matrix(N, 3); R: matrix(3, 3); t: vector(3); U: matrix(N, 2)",
        "X",
        reprojection,
    ),
}


def data_of(name: str, size: int) -> dict[str, Any]:
    """Return random arguments in the order of the hand-written function."""
    rng = np.random.default_rng(size)
    points, near = rng.normal(size=(size, 3)), rng.normal(size=(size, 3))
    matrices = np.eye(3) + 0.2 * rng.normal(size=(size, 3, 3))
    one = np.eye(3) + 0.2 * rng.normal(size=(3, 3))
    return {
        "neo-Hookean elements": {"F": matrices, "mu": 1.3, "lam": 0.7},
        "a covariance for each point": {"S": matrices, "y": points},
        "a system for each point": {"S": matrices, "y": points, "t": near},
        "rotation of points": {"X": points, "Y": near, "w": np.array([0.3, -0.5, 0.8])},
        "epipolar residuals": {"X": points, "Y": near, "F": one},
        "reprojection errors": {"X": points, "R": one, "t": np.array([0.1, 0.2, 8.0]), "U": near[:, :2].copy()},
    }[name]


def in_jax(name: str) -> Callable[..., Any] | None:
    """Return JAX's value and gradient as a function of the same arguments; None if it is not installed."""
    try:
        jax = importlib.import_module("jax")
    except ImportError:
        return None
    jax.config.update("jax_enable_x64", True)
    jnp = jax.numpy

    def neo(F: Any, mu: Any, lam: Any) -> Any:
        log = jnp.linalg.slogdet(F)[1]
        return mu / 2 * (jnp.sum(F**2) - 3 * len(F)) - mu * jnp.sum(log) + lam / 2 * jnp.sum(log**2)

    def covariances(S: Any, y: Any) -> Any:
        return jnp.sum(jnp.linalg.slogdet(S)[1]) + jnp.sum(y * jnp.linalg.solve(S, y[..., None])[..., 0])

    def systems(S: Any, y: Any, t: Any) -> Any:
        return jnp.sum((jnp.linalg.solve(S, y[..., None])[..., 0] - t) ** 2)

    def rotated(X: Any, Y: Any, w: Any) -> Any:
        h = jnp.sqrt(w @ w)
        K = jnp.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
        R = jnp.eye(3) + jnp.sin(h) / h * K + (1 - jnp.cos(h)) / h**2 * K @ K
        return jnp.sum((X @ R.T - Y) ** 2)

    def epipolar(X: Any, Y: Any, F: Any) -> Any:
        L = X @ F.T
        return jnp.sum(jnp.sum(Y * L, 1) ** 2 / (L[:, 0] ** 2 + L[:, 1] ** 2))

    def errors(X: Any, R: Any, t: Any, U: Any) -> Any:
        P = X @ R.T + t
        return jnp.sum((P[:, :2] / P[:, 2:] - U) ** 2)

    functions = dict(zip(CASES, (neo, covariances, systems, rotated, epipolar, errors), strict=True))
    wrt = list(data_of(name, 1)).index(CASES[name][2])
    return jax.jit(jax.value_and_grad(functions[name], argnums=wrt))  # type: ignore[no-any-return]


def measured(name: str, size: int) -> list[float | None]:
    """Return the least microseconds of matcalc, the loops and JAX; all must agree."""
    text, declarations, wrt, by_hand = CASES[name]
    ours = mc.value_and_gradient(text, wrt, declarations)
    data = data_of(name, size)
    theirs = list(data.values())
    given = [data[arg] for arg in ours.args]
    jaxs = in_jax(name) if size <= LARGEST_SOLVES or "for each point" not in name else None
    calls: list[Callable[[], Any] | None] = [
        lambda: ours(*given),
        lambda: by_hand(*theirs),
        None if jaxs is None else lambda: [np.asarray(x) for x in jaxs(*theirs)],
    ]
    value, gradient = by_hand(*theirs)
    counts = []
    for call in calls:
        if call is None:
            counts.append(0)
            continue
        found = call()
        np.testing.assert_allclose(found[0], value, rtol=1e-9)
        np.testing.assert_allclose(found[1], gradient, rtol=1e-7, atol=1e-7 * np.abs(gradient).max())
        start = time.process_time()
        for _ in range(3):
            call()
        counts.append(max(1, int(3 * ROUND / max(time.process_time() - start, 1e-7))))
    best: list[float | None] = [None] * len(calls)
    for _ in range(ROUNDS):
        for k, (call, count) in enumerate(zip(calls, counts, strict=True)):
            if call is None:
                continue
            start = time.process_time()
            for _ in range(count):
                call()
            spent = (time.process_time() - start) / count * 1e6
            best[k] = min(spent, best[k] or spent)
    return best


def main() -> None:
    lines = ["# Small fixed sizes, with gradients", "", (__doc__ or "").split("\n\n")[-1].strip(), ""]
    lines += ["| formula | elements | by hand, us | matcalc / by hand | JAX / matcalc |", "|---|---|---|---|---|"]
    for name in CASES:
        for size in SIZES:
            ours, hand, jaxs = measured(name, size)
            assert ours is not None and hand is not None
            beside = "-" if jaxs is None else f"{jaxs / ours:.2f}"
            lines.append(f"| {name} | {size:,} | {hand:.2f} | {ours / hand:.2f} | {beside} |")
            print(lines[-1], flush=True)
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
