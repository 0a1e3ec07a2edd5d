"""Losses of Gaussian processes, physics, control and signals, in the style of public projects, each with its data."""

import numpy as np
from expressions.public_loss import PublicLosses
from scipy import linalg
from scipy.linalg import cho_factor, cho_solve, cholesky, expm, solve_triangular

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


@case("x: vector(18)", "x", x=R.random(18) * 5)
def minimum_image_energy(x):
    Lbox, sdim = 3.0, 3
    npart = x.shape[0] // sdim
    x = x.reshape(-1, sdim)
    d = (-x[np.newaxis, :, :] + x[:, np.newaxis, :])[np.triu_indices(npart, 1)]
    d = np.remainder(d + Lbox / 2.0, Lbox) - Lbox / 2.0
    r2 = np.sum(d**2, axis=-1)
    return np.sum(np.exp(-r2))


@case("pos: matrix(5, 3); L: scalar", "pos", pos=R.random((5, 3)) * 4, L=np.array(4.0))
def lj_box(pos, L):
    diff = pos[:, None] - pos[None]
    diff -= L * np.round(diff / L)
    r2 = (diff**2).sum(-1)
    iu = np.triu_indices(len(pos), k=1)
    r2 = r2[iu]
    u = np.where(r2 < 2.5**2, 4 * (r2**-6 - r2**-3), 0.0)
    return u.sum()


@case(
    "X: matrix(m, n); ls: vector(n); var: scalar; per: scalar; noise: scalar; y: vector(m)",
    "ls var per noise",
    X=X,
    ls=R.random(n) + 0.5,
    var=np.array(1.2),
    per=np.array(2.3),
    noise=np.array(0.3),
    y=y,
)
def gp_periodic(X, ls, var, per, noise, y):
    base = np.pi * (X[:, None, :] - X[None, :, :]) / per
    exp_dist = np.exp(-0.5 * np.sum(np.square(np.sin(base) / ls), axis=-1))
    K = var * exp_dist
    K[np.diag_indices(X.shape[0])] += noise
    Lc = np.linalg.cholesky(K)
    alpha = solve_triangular(Lc.T, solve_triangular(Lc, y, lower=True), lower=False)
    return 0.5 * y @ alpha + np.log(np.diag(Lc)).sum() + 0.5 * len(y) * np.log(2 * np.pi)


@case(
    "W: matrix(2, 1); kappa: vector(2); ls: scalar; Y: matrix(m, 2); x: vector(m)",
    "W kappa ls",
    W=N((2, 1)),
    kappa=R.random(2) + 0.5,
    ls=np.array(0.8),
    Y=N((m, 2)),
    x=np.linspace(0, 3, m),
)
def coregionalised_gp(W, kappa, ls, Y, x):
    B = np.dot(W, W.T) + np.diag(kappa)
    K = np.exp(-(np.subtract.outer(x, x) ** 2) / (2 * ls**2))
    C = np.kron(B, K) + 0.1 * np.eye(B.shape[0] * K.shape[0])
    yv = Y.T.ravel()
    c, low = cho_factor(C, lower=True)
    return 0.5 * yv.dot(cho_solve((c, low), yv)) + np.sum(np.log(np.diag(c)))


@case(
    "ls: scalar positive; s: scalar positive; y: vector(m); x: vector(m); z: vector(4)",
    "ls s z",
    ls=np.array(0.9),
    s=np.array(0.3),
    y=y,
    x=np.linspace(0, 3, m),
    z=np.array([0.2, 1.0, 2.0, 2.8]),
)
def fitc(ls, s, y, x, z):
    def k(a, b):
        return np.exp(-((a[:, None] - b[None, :]) ** 2) / (2 * ls**2))

    Kuu = k(z, z) + 1e-6 * np.eye(len(z))
    Kuf = k(z, x)
    Luu = cholesky(Kuu, lower=True)
    V = solve_triangular(Luu, Kuf, lower=True)
    g = 1.0 - (V**2).sum(0) + s
    B = np.eye(z.size) + V / g @ V.T
    LB = cholesky(B, lower=True)
    bb = solve_triangular(LB, V @ (y / g), lower=True)
    return 0.5 * (np.sum(np.log(g)) + 2 * np.sum(np.log(np.diag(LB))) + y @ (y / g) - bb @ bb)


@case(
    "ls: scalar positive; s: scalar positive; y: vector(m); X: matrix(m, n)",
    "ls s",
    ls=np.array(1.1),
    s=np.array(0.4),
    y=y,
    X=X,
)
def gp_loo(ls, s, y, X):
    sq = np.sum(X**2, 1).reshape(-1, 1) + np.sum(X**2, 1) - 2 * np.dot(X, X.T)
    K = np.exp(-0.5 / ls**2 * sq) + s**2 * np.eye(len(X))
    Kinv = np.linalg.inv(K)
    mu = y - Kinv.dot(y) / np.diag(Kinv)
    s2 = 1 / Kinv.diagonal()
    return np.mean(0.5 * np.log(s2) + (y - mu) ** 2 / (2 * s2))


obs = np.array([3.0, 8, 26, 76, 225, 298, 258, 233, 189, 128])


@case("theta: vector(2)", "theta", theta=np.array([np.log(1.9), np.log(0.48)]))
def sir_euler(theta):
    beta, gam = np.exp(theta)
    Npop = 763.0
    S, sick = Npop - 3, 3.0
    pred = []
    for _ in range(10):
        for _ in range(4):
            new = beta * S * sick / Npop * 0.25
            S, sick = S - new, sick + new - gam * sick * 0.25
        pred.append(sick)
    pred = np.array(pred)
    return np.sum((np.sqrt(pred) - np.sqrt(obs)) ** 2)


@case("p: vector(4); z0: vector(2)", "p z0", p=np.array([0.6, 0.1, 0.8, 0.12]), z0=np.array([5.0, 4.0]))
def lotka_volterra_rk4(p, z0):
    def dz(z):
        u, v = z
        a, b, c, d = p
        return np.array([(a - b * v) * u, (-c + d * u) * v])

    z, h, out = z0, 0.2, 0.0
    for _ in range(6):
        k1 = dz(z)
        k2 = dz(z + h / 2 * k1)
        k3 = dz(z + h / 2 * k2)
        k4 = dz(z + h * k3)
        z = z + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        out = out + np.sum((np.log(z) - 1.0) ** 2)
    return out


cam_idx, pt_idx = np.array([0, 0, 1, 1, 0]), np.array([0, 1, 1, 2, 2])


p2d = N((5, 2))


@case(
    "params: vector(27)",
    "params",
    params=np.concatenate([N(18) * 0.3 + np.tile([0, 0, 0, 0, 0, -4, 1, 0.1, 0.1], 2), N(9)]),
)
def bundle_adjustment(params):
    n_cameras, n_points = 2, 3
    camera_params = params[: n_cameras * 9].reshape((n_cameras, 9))[cam_idx]
    points = params[n_cameras * 9 :].reshape((n_points, 3))[pt_idx]
    rot_vecs = camera_params[:, :3]
    theta = np.linalg.norm(rot_vecs, axis=1)[:, np.newaxis]
    with np.errstate(invalid="ignore"):
        v = rot_vecs / theta
        v = np.nan_to_num(v)
    dot = np.sum(points * v, axis=1)[:, np.newaxis]
    cos_theta = np.cos(theta)
    sin_theta = np.sin(theta)
    pr = cos_theta * points + sin_theta * np.cross(v, points) + dot * (1 - cos_theta) * v
    pr += camera_params[:, 3:6]
    pp = -pr[:, :2] / pr[:, 2, np.newaxis]
    f, k1, k2 = camera_params[:, 6], camera_params[:, 7], camera_params[:, 8]
    nn = np.sum(pp**2, axis=1)
    r = 1 + k1 * nn + k2 * nn**2
    pp *= (r * f)[:, np.newaxis]
    return 0.5 * np.sum((pp - p2d).ravel() ** 2)


tt = np.linspace(0, 5, 15)
yd = np.exp(-0.3 * tt) * np.sin(2 * tt) + 0.1 * N(15)


@case("x: vector(3)", "x", x=np.array([1.2, 0.4, 1.9]))
def soft_l1_decay(x):
    f = x[0] * np.exp(-x[1] * tt) * np.sin(x[2] * tt) - yd
    z = (f / 0.1) ** 2
    return 0.5 * 0.1**2 * np.sum(2 * ((1 + z) ** 0.5 - 1))


Ac, Bc = np.array([[1.0, 0.1], [0.0, 1.0]]), np.array([[0.0], [0.1]])


@case("K: matrix(1, 2)", "K", K=np.array([[1.0, 1.7]]))
def lqr_lyapunov(K):
    Acl = Ac - Bc @ K
    P = linalg.solve_discrete_lyapunov(Acl.T, np.eye(2) + K.T @ K)
    return np.trace(P)


@case("u: vector(8)", "u", u=N(8))
def pendulum_shooting(u):
    x = np.array([np.pi, 0.0])
    cost = 0
    for k in range(u.size):
        cost += 0.1 * u[k] ** 2 + x @ x * 0.01
        th, om = x
        x = np.array([th + 0.1 * om, om + 0.1 * (-9.81 * np.sin(th) + u[k])])
    return cost + 10 * np.sum(x**2)


@case("x: vector(n); h: vector(4); y: vector(n+3); lam: scalar", "x h", x=N(9), h=N(4), y=N(12), lam=np.array(0.2))
def blind_deconvolution(x, h, y, lam):
    r = np.convolve(h, x, mode="full") - y
    return r.dot(r) + lam * np.sqrt(np.diff(x) ** 2 + 1e-3).sum()


wgrid = np.linspace(0, np.pi, 20)


@case("h: vector(6)", "h", h=N(6))
def fir_design(h):
    M = len(h) - 1
    C = np.cos(np.outer(wgrid, np.arange(M + 1)))
    D = (wgrid < 1.2).astype(float)
    Wt = np.where(wgrid < 1.2, 1.0, 5.0)
    return np.average((C @ h - D) ** 2, weights=Wt)


tips = np.array([[1.0, 0, 0, 0], [0, 1, 0, 0], [1, 0, 0, 0]])


@case("kappa: scalar positive; t: vector(3) positive", "kappa t", kappa=np.array(2.0), t=np.array([0.1, 0.2, 0.3]))
def felsenstein(kappa, t):
    pi = np.full(4, 0.25)
    Q = np.ones((4, 4))
    Q[0, 2] = Q[2, 0] = Q[1, 3] = Q[3, 1] = kappa
    Q = Q * pi
    Q = Q - np.diag(Q.sum(axis=1))
    like = np.ones(4)
    for i in range(3):
        like *= expm(Q * t[i]) @ tips[i]
    return -np.log(pi @ like)


xe, yerr = np.linspace(0, 10, 8), R.random(8) * 0.3 + 0.1


ye = 2 * xe + 1 + yerr * N(8)


@case("theta: vector(3)", "theta", theta=np.array([1.9, 1.2, -1.0]))
def emcee_line(theta):
    mm, b, lnf = theta
    model = mm * xe + b
    inv_sigma2 = 1.0 / (yerr**2 + model**2 * np.exp(2 * lnf))
    return -0.5 * (np.sum((ye - model) ** 2 * inv_sigma2 - np.log(inv_sigma2)))


@case("p: vector(5)", "p", p=np.array([2.0, 0.3, 0.5, 3.0, 0.2]))
def radial_velocity(p):
    P, e, om, K, v0 = p
    M = 2 * np.pi * tt / P
    E = M + e * np.sin(M)
    for _ in range(4):
        E = E - (E - e * np.sin(E) - M) / (1 - e * np.cos(E))
    nu = 2 * np.arctan2(np.sqrt(1 + e) * np.sin(E / 2), np.sqrt(1 - e) * np.cos(E / 2))
    return np.sum((v0 + K * (np.cos(nu + om) + e * np.cos(om)) - yd) ** 2)


@case("q: matrix(4, 3)", "q", q=N((4, 3)))
def dihedral(q):
    b0 = -(q[1] - q[0])
    b1 = q[2] - q[1]
    b2 = q[3] - q[2]
    b1 = b1 / np.linalg.norm(b1)
    v = b0 - np.dot(b0, b1) * b1
    w = b2 - np.dot(b2, b1) * b1
    x = np.dot(v, w)
    yy = np.dot(np.cross(b1, v), w)
    phi = np.arctan2(yy, x)
    return 2.0 * (1 + np.cos(3 * phi - np.pi))


@case("u: matrix(5, 6); v: matrix(5, 6); alpha: scalar", "u v", u=N((5, 6)), v=N((5, 6)), alpha=np.array(0.3))
def horn_schunck(u, v, alpha):
    Ix, Iy, It = np.cos(np.arange(30).reshape(5, 6)), np.sin(np.arange(30).reshape(5, 6)), 0.1
    data = (Ix * u + Iy * v + It) ** 2
    smooth = sum((np.roll(w, 1, axis=a) - w) ** 2 for w in (u, v) for a in (0, 1))
    return np.sum(data + alpha * smooth)


@case("q: vector(3)", "q", q=N(3))
def forward_kinematics(q):
    Tm_ = np.eye(4)
    for qi, d in zip(q, (1.0, 0.8, 0.5), strict=True):
        c, s = np.cos(qi), np.sin(qi)
        A = np.array([[c, -s, 0, d * c], [s, c, 0, d * s], [0, 0, 1, 0], [0, 0, 0, 1]])
        Tm_ = Tm_ @ A
    target = np.array([1.0, 1.0, 0.0])
    return np.linalg.norm(Tm_[:3, 3] - target) ** 2


@case("x: vector(4); P: matrix(4, 4) spd; z: matrix(5, 2)", "x P", x=N(4), P=np.cov(N((4, 12))), z=N((5, 2)))
def kalman(x, P, z):
    F = np.eye(4) + np.diag([0.1, 0.1], k=2)
    H = np.zeros((2, 4))
    H[0, 0] = H[1, 1] = 1
    Q, Rn = 0.01 * np.eye(4), 0.1 * np.eye(2)
    nll = 0.0
    for i in range(5):
        x = F @ x
        P = F @ P @ F.T + Q
        S = H @ P @ H.T + Rn
        yv = z[i] - H @ x
        Kg = P @ H.T @ np.linalg.inv(S)
        nll += 0.5 * (yv @ np.linalg.solve(S, yv) + np.linalg.slogdet(2 * np.pi * S)[1])
        x = x + Kg @ yv
        P = (np.eye(4) - Kg @ H) @ P
    return nll
