"""Losses of machine learning, in the style of public projects, each with its data."""

import numpy as np
from expressions.public_loss import PublicLosses
from scipy import linalg
from scipy.special import expit, logsumexp
from scipy.stats import norm

LOSSES = PublicLosses()
case = LOSSES.case
R = np.random.default_rng(3)


N = R.standard_normal


m, n, k = 9, 3, 2


X = N((m, n))
y = N(m)
yb = (R.random(m) < 0.5) * 1.0
cnt = R.poisson(2, m) * 1.0
pos = R.random(m) + 0.5


grp = R.integers(0, 3, m)
lab = R.integers(0, 3, m)


T = 7


@case(
    "X: matrix(m, n); y: vector(m); ll: vector(n); lt: scalar; z: vector(n)",
    "ll lt z",
    X=X,
    y=y,
    ll=N(n),
    lt=np.array(-0.5),
    z=N(n),
)
def horseshoe(X, y, ll, lt, z):
    lam, tau = np.exp(ll), np.exp(lt)
    beta = z * lam * tau

    def half_cauchy(s):
        return np.log(2 / np.pi) - np.log1p(s**2)

    return (
        norm.logpdf(z).sum()
        + np.sum(half_cauchy(lam) + ll)
        + half_cauchy(tau)
        + lt
        + norm.logpdf(y, X @ beta, 1.0).sum()
    )


@case(
    "params.0.0: matrix(3, 4); params.0.1: vector(4); params.1.0: matrix(4, 2); params.1.1: vector(2);"
    "X: matrix(m, 3); Y: matrix(m, 2)",
    "params",
    params=[(N((3, 4)), N(4)), (N((4, 2)), N(2))],
    X=X,
    Y=np.eye(2)[lab % 2],
)
def jax_mlp(params, X, Y):
    def predict(params, inputs):
        activations = inputs
        for w, b in params[:-1]:
            outputs = np.dot(activations, w) + b
            activations = np.tanh(outputs)
        final_w, final_b = params[-1]
        logits = np.dot(activations, final_w) + final_b
        return logits - logsumexp(logits, axis=1, keepdims=True)

    preds = predict(params, X)
    return -np.mean(np.sum(preds * Y, axis=1))


@case(
    "Wx: matrix(3, 4); Wh: matrix(4, 4); b: vector(4); c: vector(4); X: matrix(5, 3); y: scalar",
    "Wx Wh b c",
    Wx=N((3, 4)),
    Wh=N((4, 4)) / 2,
    b=N(4),
    c=N(4),
    X=N((5, 3)),
    y=np.array(0.4),
)
def rnn(Wx, Wh, b, c, X, y):
    h = np.zeros(Wh.shape[0])
    for x in X:
        h = np.tanh(x @ Wx + h @ Wh + b)
    return (h @ c - y) ** 2


@case("Q: matrix(T, d); K: matrix(T, d); V: matrix(T, d)", "Q K V", Q=N((5, 3)), K=N((5, 3)), V=N((5, 3)))
def causal_attention(Q, K, V):
    T, d = Q.shape
    scores = Q @ K.T / np.sqrt(d)
    mask = np.triu(np.ones((T, T)), k=1).astype(bool)
    scores = np.where(mask, -1e9, scores)
    w = np.exp(scores - scores.max(axis=-1, keepdims=True))
    w = w / w.sum(axis=-1, keepdims=True)
    out = w @ V
    mu = out.mean(-1, keepdims=True)
    ln = (out - mu) / np.sqrt(out.var(-1, keepdims=True) + 1e-5)
    return np.sum(ln * np.arange(d))


@case("X: matrix(m, n); g: vector(n); b: vector(n); Y: matrix(m, n)", "X g b", X=X, g=N(n), b=N(n), Y=N((m, n)))
def batchnorm(X, g, b, Y):
    mu, var = np.mean(X, axis=0), np.var(X, axis=0)
    xhat = (X - mu) / np.sqrt(var + 1e-5)
    return np.mean(np.square(g * xhat + b - Y))


def unpack_gmm_params(params, K, D):
    log_p = params[:K]
    mus = params[K : K + K * D].reshape(K, D)
    ls = params[K + K * D :].reshape(K, D)
    return log_p - logsumexp(log_p), mus, ls


@case("params: vector(14); X: matrix(m, 3)", "params", params=N(14) / 2, X=X)
def autograd_gmm(params, X):
    K, D = 2, 3
    log_p, mus, ls = unpack_gmm_params(params, K, D)
    ll = []
    for lp, mu, lsd in zip(log_p, mus, ls, strict=True):
        ll.append(lp + np.sum(norm.logpdf(X, mu, np.exp(lsd)), axis=1))
    return -np.sum(logsumexp(np.vstack(ll), axis=0))


@case(
    "E: matrix(V, d); C: matrix(V, d); w: index(4); c: index(4)",
    "E C",
    E=N((6, 3)),
    C=N((6, 3)),
    w=R.integers(0, 6, 4),
    c=R.integers(0, 6, 4),
)
def skipgram(E, C, w, c):
    neg = np.array([[0, 2, 3], [1, 1, 5], [4, 0, 2], [3, 3, 1]])
    v = E[w]
    pos_ = np.sum(v * C[c], axis=1)
    negs = np.einsum("bd,bkd->bk", v, C[neg])
    return -np.mean(np.log(expit(pos_)) + np.sum(np.log(expit(-negs)), axis=1))


@case("z1: matrix(B, d); z2: matrix(B, d)", "z1 z2", z1=N((6, 3)), z2=N((6, 3)))
def vicreg(z1, z2):
    def off_diag_cov(z):
        zc = z - z.mean(axis=0)
        cov = zc.T @ zc / (len(z) - 1)
        return (np.sum(cov**2) - np.sum(np.diag(cov) ** 2)) / z.shape[1]

    var = sum(np.mean(np.maximum(0, 1 - np.sqrt(z.var(axis=0, ddof=1) + 1e-4))) for z in (z1, z2))
    return 25 * np.mean((z1 - z2) ** 2) + 25 * var + off_diag_cov(z1) + off_diag_cov(z2)


@case("z: matrix(6, d)", "z", z=N((6, 3)))
def supcon(z):
    y_ = np.array([0, 1, 0, 1, 2, 2])
    z = z / np.linalg.norm(z, axis=1, keepdims=True)
    sim = z @ z.T / 0.5
    eye = np.eye(len(y_), dtype=bool)
    sim = np.where(eye, -np.inf, sim)
    lp = sim - logsumexp(sim, axis=1)[:, None]
    posm = (y_[:, None] == y_[None, :]) & ~eye
    return -np.mean(np.sum(np.where(posm, lp, 0), axis=1) / posm.sum(axis=1))


Adj = np.array([[0, 1, 1, 0], [1, 0, 1, 0], [1, 1, 0, 1], [0, 0, 1, 0.0]])


@case("W1: matrix(3, 5); W2: matrix(5, 2); X: matrix(4, 3)", "W1 W2", W1=N((3, 5)), W2=N((5, 2)), X=N((4, 3)))
def gcn(W1, W2, X):
    A_ = Adj + np.identity(Adj.shape[0])
    Dm = np.diag(A_.sum(1) ** -0.5)
    An = Dm @ A_ @ Dm
    H = np.maximum(An @ X @ W1, 0)
    Z = An @ H @ W2
    idx = [0, 3]
    logp = Z - np.log(np.exp(Z).sum(axis=1, keepdims=True))
    return -logp[idx, [0, 1]].mean()


@case("C: matrix(4, 5); a: vector(4); b: vector(5)", "C", C=R.random((4, 5)), a=np.full(4, 0.25), b=np.full(5, 0.2))
def sinkhorn_unrolled(C, a, b):
    K = np.exp(-C / 0.5)
    u = np.ones_like(a)
    for _ in range(8):
        v = b / (K.T @ u)
        u = a / (K @ v)
    P = u[:, None] * K * v[None, :]
    return np.sum(P * C)


@case("S: matrix(3, 3) spd; M: matrix(3, 3) spd", "S", S=np.cov(N((3, 9))), M=np.cov(N((3, 9))))
def bures(S, M):
    r = linalg.sqrtm(M)
    return np.trace(S) + np.trace(M) - 2 * np.trace(linalg.sqrtm(r @ S @ r))


Xt = N((3, 4, 2))


@case(
    "G: tensor(2, 2, 2); A: matrix(3, 2); B: matrix(4, 2); C: matrix(2, 2)",
    "G A B C",
    G=N((2, 2, 2)),
    A=N((3, 2)),
    B=N((4, 2)),
    C=N((2, 2)),
)
def tucker(G, A, B, C):
    Xh = np.einsum("pqr,ip,jq,kr->ijk", G, A, B, C)
    return np.linalg.norm((Xt - Xh).ravel()) ** 2


class RidgeModel:
    def __init__(self, X, y, lam):
        self.X, self.y, self.lam = X, y, lam

    def residual(self, w):
        return self.y - self.X @ w

    def loss(self, w):
        r = self.residual(w)
        return 0.5 * np.sum(r**2) / len(self.y) + 0.5 * self.lam * np.sum(w**2)


_model = RidgeModel(X, y, 0.3)


@case("w: vector(3)", "w", w=N(3))
def held_object(w):
    return _model.loss(w)


@case("W: matrix(2, d); X: matrix(9, d)", "W", W=N((2, 3)), X=X)
def lmnn(W, X):
    a, p_, q = np.array([0, 1, 2, 3]), np.array([4, 5, 6, 7]), np.array([8, 8, 0, 1])
    Z = np.dot(X, W.T)
    dp = np.sum((Z[a] - Z[p_]) ** 2, 1)
    dn = np.sum((Z[a] - Z[q]) ** 2, 1)
    hinge = 1 + dp - dn
    return dp.sum() + np.where(hinge > 0, hinge, 0).sum()


@case("X: matrix(6, 2); D: vector(15)", "X", X=N((6, 2)), D=R.random(15) + 0.3)
def isotonic_stress(X, D):
    from scipy.spatial.distance import pdist

    d = pdist(X)
    return np.sqrt(np.sum((d - D) ** 2) / np.sum(d**2))


@case("logits: matrix(5, A); values: vector(5)", "logits values", logits=N((5, 3)), values=N(5))
def actor_critic(logits, values):
    acts, rew = [0, 2, 1, 1, 0], [1.0, 0.0, 0.5, -1.0, 2.0]
    g, rets = 0.0, []
    for r in rew[::-1]:
        g = r + 0.9 * g
        rets.insert(0, g)
    adv = np.array(rets) - values
    logp = logits - logsumexp(logits, axis=1)[:, None]
    ent = -(np.exp(logp) * logp).sum(1)
    return np.mean(adv**2) - np.mean(logp[range(5), acts] * adv) - 0.01 * ent.mean()
