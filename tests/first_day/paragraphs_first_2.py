r"""Whole paragraphs of LaTeX from papers, first set, part 2: written by someone who had seen no code."""

import numpy as np
from first_day.paragraph import Paragraph


def lse(v):
    v = np.asarray(v, float)
    c = v.max()
    return c + np.log(np.sum(np.exp(v - c)))


def softmax(v):
    return np.exp(np.asarray(v, float) - lse(v))


def ppo(S, a, theta, mu, Ahat, epsilon, **k):
    T, tot = (S.shape[0], 0.0)
    for t in range(T):
        pi = softmax(theta @ S[t])
        r = pi[a[t]] / mu[t]
        tot += min(r * Ahat[t], min(max(r, 1 - epsilon), 1 + epsilon) * Ahat[t])
    return tot / T


def gae(r, V, gamma, **k):
    lam = k["lambda"]
    T = len(r)
    delta = np.array([r[t] + gamma * (V[t + 1] if t + 1 < T else 0.0) - V[t] for t in range(T)])
    tot = 0.0
    for t in range(T):
        A = sum((gamma * lam) ** l * delta[t + l] for l in range(T - t))  # noqa: E741
        tot += A**2
    return tot / (2 * T)


def vae(X, mu, sigma, epsilon, W, b, tau, **k):
    n, d = X.shape
    J = mu.shape[1]
    tot = 0.0
    for i in range(n):
        z = mu[i] + sigma[i] * epsilon[i]
        kl = 0.0
        for j in range(J):
            kl += 0.5 * (1 + np.log(sigma[i, j] ** 2) - mu[i, j] ** 2 - sigma[i, j] ** 2)
        rec = -0.5 * d * np.log(2 * np.pi * tau**2) - np.sum((X[i] - W @ z - b) ** 2) / (2 * tau**2)
        tot += kl + rec
    return tot


def gauss_kl(mu_0, Sigma_0, mu_1, Sigma_1, **k):
    d = len(mu_0)
    P = np.linalg.inv(Sigma_1)
    dm = mu_1 - mu_0
    return 0.5 * (np.trace(P @ Sigma_0) + dm @ P @ dm - d + np.log(np.linalg.det(Sigma_1) / np.linalg.det(Sigma_0)))


def ddpm(X, t, beta, epsilon, W, E, **k):
    N, tot = (X.shape[0], 0.0)
    for i in range(N):
        ab = 1.0
        for s in range(t[i] + 1):
            ab *= 1 - beta[s]
        x = np.sqrt(ab) * X[i] + np.sqrt(1 - ab) * epsilon[i]
        tot += np.sum((epsilon[i] - (W @ x + E[t[i]])) ** 2)
    return tot / N


def flow_matching(X, Z, t, W, b, **k):
    n, tot = (X.shape[0], 0.0)
    for i in range(n):
        psi = (1 - t[i]) * Z[i] + t[i] * X[i]
        v = np.tanh(W @ psi + t[i] * b)
        tot += np.sum((v - (X[i] - Z[i])) ** 2)
    return tot / n


def realnvp(x_a, x_b, W_s, b_s, W_t, b_t, **k):
    s = np.tanh(W_s @ x_a + b_s)
    t = W_t @ x_a + b_t
    y_b = x_b * np.exp(s) + t
    p, q = (len(x_a), len(x_b))
    return -0.5 * (x_a @ x_a) - 0.5 * (y_b @ y_b) - (p + q) / 2 * np.log(2 * np.pi) + np.sum(s)


def planar(Z, u, w, b, Lambda, **k):
    n, tot = (Z.shape[0], 0.0)
    for i in range(n):
        a = w @ Z[i] + b
        f = Z[i] + u * np.tanh(a)
        psi = (1 - np.tanh(a) ** 2) * w
        tot += np.log(abs(1 + u @ psi)) - 0.5 * f @ Lambda @ f
    return -tot / n


def zafar(X, y, z, theta, **k):
    lam = k["lambda"]
    n = X.shape[0]
    zb = sum(z) / n
    ll = sum(np.log(1 + np.exp(-y[i] * (theta @ X[i]))) for i in range(n)) / n
    cov = sum((z[i] - zb) * (theta @ X[i]) for i in range(n)) / n
    return ll + lam * cov**2


def adv_logistic(X, y, w, b, epsilon, **k):
    n = X.shape[0]

    def zeta(u):
        return np.log(1 + np.exp(u))

    return sum(zeta(-y[i] * (w @ X[i] + b) + epsilon * np.sum(np.abs(w))) for i in range(n)) / n


FIRST_2 = [
    Paragraph(
        "proximal policy optimization",
        r"""
We use a softmax policy $\pi_\theta(a\mid s) = \exp(\theta_a^\top s)/\sum_{a'=1}^{K}\exp(\theta_{a'}^\top s)$. Let
$r_t(\theta) = \frac{\pi_\theta(a_t\mid s_t)}{\mu_t}$ denote the probability ratio, where $\mu_t$ is the probability
of $a_t$ under the behavior policy that collected the data. We maximize the clipped surrogate
\begin{equation}
L^{CLIP}(\theta) = \frac{1}{T}\sum_{t=1}^{T}\min\left(r_t(\theta)\hat{A}_t,\
\mathrm{clip}\left(r_t(\theta),1-\epsilon,1+\epsilon\right)\hat{A}_t\right)
\end{equation}
with estimated advantages $\hat{A}_t$ and a hyperparameter $\epsilon$.
""",
        "S: matrix(T, d); a: index(T); theta: matrix(K, d); mu: vector(T) positive; Ahat: vector(T); epsilon: scalar positive",  # noqa: E501
        "theta",
        ppo,
        fractions=("mu", "epsilon"),
        ranges={"a": "K"},
    ),
    Paragraph(
        "value regression on lambda-returns (GAE)",
        r"""
For an episode of length $T$ with rewards $r_1,\dots,r_T$ and value estimates $V_1,\dots,V_T$, define the
temporal-difference residual $\delta_t = r_t + \gamma V_{t+1} - V_t$, with the convention $V_{T+1}=0$ for the
terminal state. The generalized advantage estimator is
\[
\hat{A}_t = \sum_{l=0}^{T-t}(\gamma\lambda)^{l}\,\delta_{t+l},
\]
and the value estimates are updated by descending the loss
\[
\mathcal{L}_V = \frac{1}{2T}\sum_{t=1}^{T}\hat{A}_t^{\,2}.
\]
""",
        "r: vector(T); V: vector(T); gamma: scalar positive; lambda: scalar positive",
        "V",
        gae,
        fractions=("gamma", "lambda"),
    ),
    Paragraph(
        "auto-encoding variational Bayes, linear decoder",
        r"""
Let $\boldsymbol{\mu}^{(i)}$ and $\boldsymbol{\sigma}^{(i)}$ (the $i$-th rows of $\boldsymbol{\mu}$ and
$\boldsymbol{\sigma}$) be the mean and s.d.\ of the approximate posterior of datapoint $\mathbf{x}^{(i)}$. With one
sample $\mathbf{z}^{(i)} = \boldsymbol{\mu}^{(i)}+\boldsymbol{\sigma}^{(i)}\odot\boldsymbol{\epsilon}^{(i)}$ per
datapoint, the estimator of the lower bound is
\begin{equation}
\mathcal{L} =
\sum_{i=1}^{n}\left\{\frac{1}{2}\sum_{j=1}^{J}\left(1+\log\big((\sigma_j^{(i)})^2\big)-(\mu_j^{(i)})^2-(\sigma_j^{(i)})^2\right)+\log
p\big(\mathbf{x}^{(i)}\mid\mathbf{z}^{(i)}\big)\right\}
\end{equation}
where the decoder is Gaussian, $p(\mathbf{x}\mid\mathbf{z}) =
\mathcal{N}(\mathbf{x};\mathbf{W}\mathbf{z}+\mathbf{b},\tau^2\mathbf{I})$.
""",
        "X: matrix(n, d); mu: matrix(n, J); sigma: matrix(n, J) positive; epsilon: matrix(n, J); W: matrix(d, J); b: vector(d); tau: scalar positive",  # noqa: E501
        "mu",
        vae,
    ),
    Paragraph(
        "KL regularizer for Gaussian posteriors (variational continual learning)",
        r"""
When both the posterior and the prior are multivariate normal, the regularizer is available in closed form,
\[
\mathrm{KL}\big(\mathcal{N}(\mu_0,\Sigma_0)\,\|\,\mathcal{N}(\mu_1,\Sigma_1)\big) =
\frac{1}{2}\left(\operatorname{tr}\left(\Sigma_1^{-1}\Sigma_0\right)+(\mu_1-\mu_0)^\top\Sigma_1^{-1}(\mu_1-\mu_0)-d+\log\frac{\det\Sigma_1}{\det\Sigma_0}\right).
\]
""",
        "mu_0: vector(d); Sigma_0: matrix(d, d) spd; mu_1: vector(d); Sigma_1: matrix(d, d) spd",
        "mu_0",
        gauss_kl,
    ),
    Paragraph(
        "denoising diffusion, simplified objective",
        r"""
Using the notation $\alpha_t := 1-\beta_t$ and $\bar{\alpha}_t := \prod_{s=1}^{t}\alpha_s$, a sample at an arbitrary
timestep $t$ is $\sqrt{\bar\alpha_t}\,\mathbf{x}+\sqrt{1-\bar\alpha_t}\,\boldsymbol{\epsilon}$. For a minibatch
$\{(\mathbf{x}_i,t_i,\boldsymbol{\epsilon}_i)\}_{i=1}^{N}$ with $t_i\in\{1,\dots,T\}$ we take gradient steps on
\begin{equation}
L_{\mathrm{simple}} =
\frac{1}{N}\sum_{i=1}^{N}\left\|\boldsymbol{\epsilon}_i-\boldsymbol{\epsilon}_\theta\left(\sqrt{\bar{\alpha}_{t_i}}\,\mathbf{x}_i+\sqrt{1-\bar{\alpha}_{t_i}}\,\boldsymbol{\epsilon}_i,\
t_i\right)\right\|^2 .
\end{equation}
In this toy example the noise predictor is affine with a learned time embedding,
$\boldsymbol{\epsilon}_\theta(\mathbf{x},t) = \mathbf{W}\mathbf{x}+\mathbf{e}_t$, where $\mathbf{e}_t$ is the $t$-th
row of $\mathbf{E}\in\mathbb{R}^{T\times d}$.
""",
        "X: matrix(N, d); t: index(N); beta: vector(T) positive; epsilon: matrix(N, d); W: matrix(d, d); E: matrix(T, d)",  # noqa: E501
        "W",
        ddpm,
        fractions=("beta",),
        ranges={"t": "T"},
    ),
    Paragraph(
        "flow matching with straight paths",
        r"""
We couple data points $\mathbf{x}_i$ with noise $\mathbf{z}_i$ and move along the straight line $\boldsymbol{\psi}_i
= (1-t_i)\mathbf{z}_i+t_i\mathbf{x}_i$, $t_i\in[0,1]$. The velocity field $\mathbf{v}_\theta(\mathbf{x},t) =
\tanh(\mathbf{W}\mathbf{x}+t\,\mathbf{b})$ is trained with
\[
\mathcal{L}_{\mathrm{CFM}}(\theta) =
\frac{1}{n}\sum_{i=1}^{n}\big\|\mathbf{v}_\theta(\boldsymbol{\psi}_i,t_i)-(\mathbf{x}_i-\mathbf{z}_i)\big\|_2^2,\qquad
\theta = (\mathbf{W},\mathbf{b}).
\]
""",
        "X: matrix(n, d); Z: matrix(n, d); t: vector(n); W: matrix(d, d); b: vector(d)",
        "W",
        flow_matching,
        fractions=("t",),
    ),
    Paragraph(
        "affine coupling layer (Real NVP)",
        r"""
Given the split input $(x_a,x_b)$ with $x_a\in\mathbb{R}^p$ and $x_b\in\mathbb{R}^q$, the output of an affine
coupling layer follows the equations
\begin{align}
y_a &= x_a \\
y_b &= x_b\odot\exp\big(s(x_a)\big)+t(x_a),
\end{align}
where $s(x) = \tanh(W_s x+b_s)$ and $t(x) = W_t x+b_t$ stand for scale and translation, and $\odot$ is the Hadamard
product. The Jacobian of this transformation is triangular, so that under a standard normal base distribution
\begin{equation}
\log p(x_a,x_b) = -\frac{1}{2}\|y_a\|^2-\frac{1}{2}\|y_b\|^2-\frac{p+q}{2}\log(2\pi)+\sum_{j=1}^{q}s(x_a)_j .
\end{equation}
""",
        "x_a: vector(p); x_b: vector(q); W_s: matrix(q, p); b_s: vector(q); W_t: matrix(q, p); b_t: vector(q)",
        "W_s",
        realnvp,
    ),
    Paragraph(
        "planar normalizing flow",
        r"""
We consider the family of transformations
\begin{equation}
f(\mathbf{z}) = \mathbf{z}+\mathbf{u}\,h(\mathbf{w}^\top\mathbf{z}+b),
\end{equation}
with $h(a)=\tanh(a)$ and $h'(a) = 1-\tanh^2(a)$. With $\psi(\mathbf{z}) =
h'(\mathbf{w}^\top\mathbf{z}+b)\,\mathbf{w}$, the log-det-Jacobian is
$\ln\left|1+\mathbf{u}^\top\psi(\mathbf{z})\right|$. For the target energy $U(\mathbf{z}) =
\frac{1}{2}\mathbf{z}^\top\Lambda\mathbf{z}$ and base samples $\mathbf{z}_1,\dots,\mathbf{z}_n$, the free energy is,
up to a constant,
\begin{equation}
\mathcal{F} =
\frac{1}{n}\sum_{i=1}^{n}\Big[U\big(f(\mathbf{z}_i)\big)-\ln\left|1+\mathbf{u}^\top\psi(\mathbf{z}_i)\right|\Big].
\end{equation}
""",
        "Z: matrix(n, d); u: vector(d); w: vector(d); b: scalar; Lambda: matrix(d, d) spd",
        "w",
        planar,
    ),
    Paragraph(
        "fairness through decision-boundary covariance",
        r"""
We measure unfairness by the empirical covariance between the sensitive attribute $z_i$ and the signed distance
$\theta^\top\mathbf{x}_i$ to the decision boundary,
\[
\widehat{\mathrm{Cov}}(\theta) = \frac{1}{n}\sum_{i=1}^{n}(z_i-\bar{z})\,\theta^\top\mathbf{x}_i,\qquad \bar{z} =
\frac{1}{n}\sum_{i=1}^{n}z_i,
\]
and solve
\[
\min_{\theta}\
\frac{1}{n}\sum_{i=1}^{n}\log\left(1+e^{-y_i\theta^\top\mathbf{x}_i}\right)+\lambda\,\widehat{\mathrm{Cov}}(\theta)^2
.
\]
""",
        "X: matrix(n, d); y: vector(n); z: vector(n); theta: vector(d); lambda: scalar positive",
        "theta",
        zafar,
    ),
    Paragraph(
        "adversarial training of logistic regression (fast gradient sign)",
        r"""
For logistic regression the worst-case perturbation in an $\ell_\infty$ ball of radius $\epsilon$ can be found
exactly. Adversarial training therefore amounts to minimizing
\begin{equation}
\frac{1}{n}\sum_{i=1}^{n}\zeta\left(-y_i(\boldsymbol{w}^\top\boldsymbol{x}_i+b)+\epsilon\|\boldsymbol{w}\|_1\right),
\end{equation}
where $\zeta(z) = \log(1+\exp(z))$ is the softplus function.
""",
        "X: matrix(n, d); y: vector(n); w: vector(d); b: scalar; epsilon: scalar positive",
        "w",
        adv_logistic,
    ),
]
