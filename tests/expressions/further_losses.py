"""Declarations, data and texts of the losses in `losses_of_regression.py` and `losses_of_matrices.py`.

LOSSES: name -> function, declarations, variables. `data` draws each parameter by its declaration; RANGES are the names
that need a range. TEXTS has the same losses as text.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from expressions import losses_of_matrices as matrices
from expressions import losses_of_regression as regression


class Loss(NamedTuple):
    function: Callable[..., float]
    declarations: str
    wrt: tuple[str, ...]


VECTORS = "X: matrix(m, n); w: vector(n); "
LINEAR = VECTORS + "y: vector(m); "
SIGNS = VECTORS + "s: vector(m); "
COUNTS = VECTORS + "count: vector(m); "
POSITIVE = VECTORS + "pos: vector(m) positive; "
SURVIVAL = VECTORS + "time: vector(m) positive; event: vector(m); "
PAIRS = "U: matrix(p, k); V: matrix(p, k); i: index(m); j: index(m); "
W = ("w",)
LOSSES: dict[str, Loss] = {
    f.__name__: Loss(f, declarations.rstrip("; "), wrt)
    for f, declarations, wrt in [
        (regression.ridge, LINEAR + "alpha: scalar", W),
        (regression.elastic_net, LINEAR + "alpha: scalar; rho: scalar", W),
        (regression.group_lasso, LINEAR + "lam: scalar", W),
        (regression.huber_regression, LINEAR + "sigma: scalar positive; epsilon: scalar", ("w", "sigma")),
        (regression.quantile, LINEAR + "tau: scalar", W),
        (regression.tukey, LINEAR, W),
        (regression.cauchy_loss, LINEAR + "c: scalar", ("w", "c")),
        (regression.geman_mcclure, LINEAR, W),
        (regression.expectile, LINEAR + "tau: scalar", W),
        (regression.student_t, LINEAR + "log_scale: scalar; nu: scalar positive", ("w", "log_scale", "nu")),
        (regression.logistic, SIGNS + "C: scalar", W),
        (regression.poisson, COUNTS, W),
        (regression.gamma_deviance, POSITIVE, W),
        (regression.tweedie, POSITIVE + "p: scalar", ("w", "p")),
        (regression.inverse_gaussian, POSITIVE, W),
        (regression.negative_binomial, COUNTS + "log_alpha: scalar", ("w", "log_alpha")),
        (regression.zero_inflated, COUNTS + "gamma: scalar", ("w", "gamma")),
        (regression.hurdle, COUNTS + "v: vector(n)", ("w", "v")),
        (regression.beta_regression, VECTORS + "unit: vector(m); log_phi: scalar", ("w", "log_phi")),
        (regression.probit, SIGNS, W),
        (regression.tobit, POSITIVE + "log_sigma: scalar", ("w", "log_sigma")),
        (regression.multinomial_onehot, "X: matrix(m, n); Y: matrix(m, c); W: matrix(n, c)", ("W",)),
        (regression.focal, VECTORS + "bit: vector(m)", W),
        (regression.squared_hinge, SIGNS + "C: scalar", W),
        (regression.ordinal, VECTORS + "label: index(m); th: vector(2)", ("w", "th")),
        (regression.cox, SURVIVAL, W),
        (regression.cox_sorted, VECTORS + "event: vector(m)", W),
        (regression.weibull_survival, SURVIVAL + "log_k: scalar", ("w", "log_k")),
        (regression.exponential_survival, SURVIVAL, W),
        (matrices.gp_rbf, "X: matrix(m, n); y: vector(m); theta: vector(3)", ("theta", "X")),
        (matrices.gp_rational_quadratic, "X: matrix(m, n); y: vector(m); theta: vector(3)", ("theta",)),
        (matrices.sparse_gp, "A: matrix(m, k); y: vector(m); s: scalar positive", ("A", "s")),
        (matrices.factor_analysis, "L: matrix(p, k); psi: vector(p) positive; S: matrix(p, p) spd", ("L", "psi")),
        (matrices.graphical_lasso, "P: matrix(p, p) spd; S: matrix(p, p) spd; lam: scalar", ("P",)),
        (matrices.ppca, "W: matrix(p, k); S: matrix(p, p) spd; s: scalar positive", ("W", "s")),
        (
            matrices.mixed_model,
            "X: matrix(m, n); A: matrix(m, k); y: vector(m); b: vector(n); log_tau: scalar",
            ("b", "log_tau"),
        ),
        (matrices.reml, "X: matrix(m, n); A: matrix(m, k); y: vector(m); log_tau: scalar", ("log_tau",)),
        (
            matrices.matrix_factorisation,
            "U: matrix(m, k); V: matrix(p, k); R: matrix(m, p); B: matrix(m, p); lam: scalar",
            ("U", "V"),
        ),
        (matrices.ratings, PAIRS + "y: vector(m); lam: scalar", ("U", "V")),
        (matrices.pairwise_ranking, PAIRS + "o: index(m)", ("U", "V")),
        (matrices.nmf_kl, "Q: matrix(m, n) positive; G: matrix(m, k) positive; H: matrix(k, n) positive", ("G", "H")),
        (matrices.nmf_itakura, "Q: matrix(m, n) positive; G: matrix(m, k) positive; H: matrix(k, n) positive", ("G",)),
        (matrices.ranknet, LINEAR, W),
        (matrices.listnet, LINEAR, W),
        (matrices.factorisation_machine, LINEAR + "F: matrix(n, k)", ("w", "F")),
        (matrices.tsne, "Z: matrix(m, k); T: matrix(m, m) positive", ("Z",)),
        (matrices.sammon, "Z: matrix(7, k); D: matrix(7, 7) positive", ("Z",)),
        (
            matrices.triplet,
            "M: matrix(k, n); X: matrix(p, n); i: index(m); j: index(m); o: index(m); margin: scalar",
            ("M",),
        ),
        (matrices.contrastive, "A: matrix(m, k); B: matrix(m, k); tau: scalar positive", ("A", "tau")),
        (matrices.laplacian_eigenmap, "Z: matrix(m, k); K: matrix(m, m)", ("Z", "K")),
        (matrices.fast_ica, "w: vector(n); X: matrix(m, n)", W),
        (matrices.ica_likelihood, "N: matrix(n, n); X: matrix(m, n)", ("N",)),
        (matrices.lda_ratio, "w: vector(p); S: matrix(p, p) spd; K: matrix(p, p) spd", W),
        (matrices.cca, "a: vector(n); b: vector(k); X: matrix(m, n); Q: matrix(m, k)", ("a", "b")),
        (
            matrices.mixture,
            "X: matrix(m, n); means: matrix(k, n); logits: vector(k); log_sigma: scalar",
            ("means", "logits", "log_sigma"),
        ),
        (
            matrices.mixture_of_experts,
            "X: matrix(m, n); y: vector(m); W: matrix(n, k); gates: matrix(n, k)",
            ("W", "gates"),
        ),
        (matrices.crf_score, "X: matrix(m, n); label: index(m); W: matrix(n, 3); A: matrix(3, 3)", ("W", "A")),
        (matrices.bundle, "q: vector(3); P: matrix(m, 3); uv: matrix(m, 2)", ("q", "P")),
        (matrices.procrustes, "N: matrix(n, n); X: matrix(m, n); Q: matrix(m, n); t: vector(n)", ("N", "t")),
        (matrices.rosenbrock, "x: vector(n)", ("x",)),
        (matrices.total_variation, "x: vector(n); z: vector(n); lam: scalar", ("x",)),
        (matrices.portfolio, "x: vector(p); mean: vector(p); S: matrix(p, p) spd; gamma: scalar", ("x",)),
        (matrices.risk_parity, "x: vector(p); S: matrix(p, p) spd", ("x",)),
        (matrices.cvar, "x: vector(n); R: matrix(m, n); t: scalar; alpha: scalar", ("x", "t")),
        (matrices.sharpe, "x: vector(n); R: matrix(m, n)", ("x",)),
        (matrices.sinkhorn_dual, "f: vector(m); g: vector(n); D: matrix(m, n); eps: scalar positive", ("f", "g")),
    ]
}

UNIT = ("alpha", "rho", "tau", "unit")
RANGES: dict[str, Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]] = {
    **dict.fromkeys(UNIT, lambda rng, shape: rng.uniform(0.2, 0.8, shape)),
    **dict.fromkeys(("s", "C", "R", "B", "event", "bit"), lambda rng, shape: rng.standard_normal(shape)),
    "s": lambda rng, shape: np.sign(rng.standard_normal(shape)) if shape else np.asarray(0.7),
    "event": lambda rng, shape: (rng.random(shape) < 0.6) * 1.0,
    "bit": lambda rng, shape: (rng.random(shape) < 0.5) * 1.0,
    "count": lambda rng, shape: rng.poisson(1.5, shape).astype(float),
    "p": lambda rng, shape: np.asarray(1.4),
    "epsilon": lambda rng, shape: np.asarray(1.35),
    "nu": lambda rng, shape: np.asarray(4.2),
    "c": lambda rng, shape: np.asarray(1.1),
}

TEXTS: dict[str, str] = {
    "ridge": "norm2(y - X*w)^2/2 + alpha/2*w'*w",
    "elastic_net": "norm2(X*w - y)^2/(2*m) + alpha*(rho*norm1(w) + (1 - rho)/2*w'*w)",
    "quantile": "mean(max(tau*r, (tau - 1)*r)) where r = y - X*w",
    "tukey": "4.685^2/6*sum(where(abs(u) <= 1, 1 - (1 - u.^2).^3, 1)) where u = (y - X*w)/4.685",
    "cauchy_loss": "c^2/2*sum(log1p(((y - X*w)/c).^2))",
    "geman_mcclure": "sum(r./(1 + r)) where r = (X*w - y).^2",
    "logistic": "C*sum(softplus(-s.*(X*w))) + w'*w/2",
    "poisson": "sum(exp(X*w) - count.*(X*w) + gammaln(count + 1))",
    "gamma_deviance": "2*mean(-log(pos./exp(X*w)) + pos./exp(X*w) - 1)",
    "inverse_gaussian": "sum((pos - u).^2./(pos.*u.^2)) where u = exp(X*w)",
    "negative_binomial": "-sum(gammaln(count + z) - gammaln(z) - gammaln(count + 1) + z*log(z./(z + u))"
    " + count.*log(u./(z + u))) where z = exp(-log_alpha), u = exp(X*w)",
    "probit": "-sum(log_ndtr(s.*(X*w)))",
    "multinomial_onehot": "-sum(Y.*log_softmax(X*W, axis=1))/m",
    "squared_hinge": "w'*w/2 + C*sum(relu(1 - s.*(X*w)).^2)",
    "exponential_survival": "exp(X*w)'*time - event'*X*w",
    "sparse_gp": "(m*log(s) + logdet(B) + (y'*y - y'*A*(B\\(A'*y))/s)/s)/2 where B = eye(k) + A'*A/s",
    "factor_analysis": "logdet(C) + tr(inv(C)*S) where C = L*L' + diag(psi)",
    "ppca": "logdet(C) + tr(C\\S) where C = W*W' + s*eye(p)",
    "mixed_model": "(logdet(V) + r'*(V\\r))/2 where V = exp(log_tau)*A*A' + eye(m), r = y - X*b",
    "matrix_factorisation": "norm2(B.*(R - U*V'))^2/2 + lam/2*(norm2(U)^2 + norm2(V)^2)",
    "nmf_kl": "sum(xlogy(Q, Q./(G*H)) - Q + G*H)",
    "nmf_itakura": "sum(r - log(r) - 1) where r = Q./(G*H)",
    "listnet": "-softmax(y)'*log_softmax(X*w)",
    "factorisation_machine": "mean((X*w + sum((X*F).^2 - X.^2*F.^2, axis=1)/2 - y).^2)",
    "laplacian_eigenmap": "tr(Z'*(diag(sum(K, axis=1)) - K)*Z)",
    "ica_likelihood": "-logdet(N) + sum(S + 2*log1p(exp(-S)))/m where S = X*N'",
    "lda_ratio": "-(w'*S*w)/(w'*K*w)",
    "mixture_of_experts": "mean((y - sum(softmax(X*gates, axis=1).*(X*W), axis=1)).^2)",
    "procrustes": "norm2(X*N' .+ t' - Q)^2",
    "rosenbrock": "sum(100*(x[1:] - x[:-1].^2).^2 + (1 - x[:-1]).^2)",
    "portfolio": "gamma/2*u'*S*u - u'*mean where u = softmax(x)",
    "cvar": "t + mean(max(-R*x - t, 0))/(1 - alpha)",
    "sharpe": "-mean(R*x)/std(R*x, ddof=1)",
    "sinkhorn_dual": "-(mean(f) + mean(g)) + eps*mean(exp((f .+ g' - D)/eps))",
}


def data(name: str, lengths: dict[str, int], seed: int = 0) -> dict[str, np.ndarray]:
    """Return an array for each parameter, with positive or spd entries where they are declared so."""
    rng, found = np.random.default_rng(seed), {}
    for one in LOSSES[name].declarations.split("; "):
        label, _, kind = one.partition(": ")
        sizes = kind.partition("(")[2].partition(")")[0].split(", ") if "(" in kind else []
        shape = tuple(int(size) if size.isdecimal() else lengths[size] for size in sizes)
        if kind.startswith("index"):
            found[label] = rng.integers(0, 3, shape)
        elif kind.endswith("spd"):
            A = rng.standard_normal((shape[0], shape[0] + 3))
            found[label] = A @ A.T / shape[0]
        elif kind.endswith("positive") and shape:
            found[label] = rng.uniform(0.5, 2, shape)
        elif label in RANGES:
            found[label] = RANGES[label](rng, shape)
        else:
            found[label] = rng.standard_normal(shape) / 2 if shape else np.asarray(rng.uniform(0.4, 0.9))
    return found
