r"""The last part of the eleventh set of passages, each written blind."""

import numpy as np
from first_day.papers import Passage


def rescorla(r, alpha, beta, V_0):
    V, total = V_0, 0.0
    for t in r:
        total += (t - V) ** 2
        V = V + alpha * beta * (t - V)
    return total


def muskingum(I, c_0, c_1, c_2, O_1):  # noqa: E741
    flow, total = O_1, float(O_1)
    for t in range(len(I) - 1):
        flow = c_0 * I[t + 1] + c_1 * I[t] + c_2 * flow
        total += flow
    return total


ELEVENTH_END = [
    Passage(
        "Cox-Ingersoll-Ross bond",
        (
            r"P = A\,e^{-B r}, \quad A = \left[\frac{2h\,e^{(a+h)\tau/2}}{2h + "
            r"(a+h)(e^{h\tau}-1)}\right]^{2ab/\sigma^2},\quad B = \frac{2(e^{h\tau}-1)}{2h+(a+h)(e^{h\tau}-1)}, "
            r"\quad h = \sqrt{a^2 + 2\sigma^2}"
        ),
        "r, a, b, sigma, tau: scalar positive",
        "a",
        lambda r, a, b, sigma, tau: (
            (h := np.sqrt(a**2 + 2 * sigma**2))
            and (2 * h * np.exp((a + h) * tau / 2) / (2 * h + (a + h) * np.expm1(h * tau))) ** (2 * a * b / sigma**2)
            * np.exp(-2 * np.expm1(h * tau) / (2 * h + (a + h) * np.expm1(h * tau)) * r)
        ),
    ),
    Passage(
        "SVI total variance",
        r"w(k) = a + b\left\{\rho(k - m) + \sqrt{(k-m)^2 + \sigma^2}\right\}",
        "a, b, rho, m, sigma, k: scalar",
        "k",
        lambda a, b, rho, m, sigma, k: a + b * (rho * (k - m) + np.sqrt((k - m) ** 2 + sigma**2)),
    ),
    Passage(
        "Almgren-Chriss cost",
        (
            r"U(x) = \sum_{k=1}^{N}\tau\,g\!\left(\frac{n_k}{\tau}\right)n_k + \lambda\sigma^2\sum_{k=1}^{N}\tau "
            r"x_k^2, \quad g(v) = \eta v + \epsilon\,v^3"
        ),
        "n, x: vector(N); tau, lambda, sigma, eta, epsilon: scalar positive",
        "n",
        lambda n, x, tau, sigma, eta, epsilon, **k: (
            np.sum(tau * (eta * n / tau + epsilon * (n / tau) ** 3) * n) + k["lambda"] * sigma**2 * tau * np.sum(x**2)
        ),
    ),
    Passage(
        "prospect theory",
        (
            r"V = \sum_{i=1}^{n} w(p_i)\,v(x_i), \quad w(p) = \frac{p^\gamma}{\left(p^\gamma + "
            r"(1-p)^\gamma\right)^{1/\gamma}}, \quad v(x) = \begin{cases} x^\alpha & x \ge 0 \\ "
            r"-\lambda(-x)^\beta & x < 0 \end{cases}"
        ),
        "p: vector(n) positive; x: vector(n); alpha, beta, gamma, lambda: scalar positive",
        "p",
        lambda p, x, alpha, beta, gamma, **k: np.sum(
            p**gamma
            / (p**gamma + (1 - p) ** gamma) ** (1 / gamma)
            * np.where(x >= 0, abs(x) ** alpha, -k["lambda"] * abs(x) ** beta)
        ),
        ("p",),
    ),
    Passage(
        "Rescorla-Wagner",
        (
            r"\min_{\alpha,\beta} \sum_{t=1}^{T}(r_t - V_{t-1})^2 \quad\text{with}\quad V_t = V_{t-1} + "
            r"\alpha\beta\,(r_t - V_{t-1})"
        ),
        "r: vector(T); alpha, beta, V_0: scalar",
        "alpha",
        rescorla,
    ),
    Passage(
        "Muskingum routing",
        r"S = \sum_{t=1}^{T} O_t, \qquad O_{t+1} = c_0 I_{t+1} + c_1 I_t + c_2 O_t, \quad t = 1, \dots, T-1",
        "I: vector(T); c_0, c_1, c_2, O_1: scalar",
        "c_1",
        muskingum,
    ),
    Passage(
        "semi-empirical mass",
        r"E_B = a_V A - a_S A^{2/3} - a_C\frac{Z(Z-1)}{A^{1/3}} - a_A\frac{(A-2Z)^2}{A}",
        "a_V, a_S, a_C, a_A, A, Z: scalar positive",
        "A",
        lambda a_V, a_S, a_C, a_A, A, Z: (
            a_V * A - a_S * A ** (2 / 3) - a_C * Z * (Z - 1) / A ** (1 / 3) - a_A * (A - 2 * Z) ** 2 / A
        ),
    ),
    Passage(
        "NFW profile",
        (
            r"\chi^2 = \sum_{i=1}^{n}\frac{\left[\rho_i - \rho(r_i)\right]^2}{\sigma_i^2}, \qquad \rho(r) = "
            r"\frac{\rho_s}{\frac{r}{r_s}\left(1+\frac{r}{r_s}\right)^2}"
        ),
        "rho, r: vector(n) positive; sigma: vector(n) positive; rho_s, r_s: scalar positive",
        "r_s",
        lambda rho, r, sigma, rho_s, r_s: np.sum((rho - rho_s / (r / r_s * (1 + r / r_s) ** 2)) ** 2 / sigma**2),
    ),
    Passage(
        "Sersic profile",
        r"I(R) = I_e\exp\left\{-b_n\left[\left(\frac{R}{R_e}\right)^{1/n} - 1\right]\right\}",
        "I_e, b_n, R, R_e, n: scalar positive",
        "n",
        lambda I_e, b_n, R, R_e, n: I_e * np.exp(-b_n * ((R / R_e) ** (1 / n) - 1)),
    ),
    Passage(
        "relativistic Breit-Wigner",
        (
            r"f(E) = \frac{k}{(E^2 - M^2)^2 + M^2\Gamma^2}, \quad k = "
            r"\frac{2\sqrt{2}M\Gamma\gamma}{\pi\sqrt{M^2+\gamma}}, \quad \gamma = \sqrt{M^2(M^2+\Gamma^2)}"
        ),
        "E, M, Gamma: scalar positive",
        "M",
        lambda E, M, Gamma: (
            (g := np.sqrt(M**2 * (M**2 + Gamma**2)))
            and 2 * np.sqrt(2) * M * Gamma * g / (np.pi * np.sqrt(M**2 + g)) / ((E**2 - M**2) ** 2 + M**2 * Gamma**2)
        ),
    ),
    Passage(
        "von Mises stress",
        (
            r"\sigma_v = \sqrt{\frac{1}{2}\left[(\sigma_{11}-\sigma_{22})^2 + (\sigma_{22}-\sigma_{33})^2 + "
            r"(\sigma_{33}-\sigma_{11})^2\right] + 3\left(\sigma_{12}^2+\sigma_{23}^2+\sigma_{31}^2\right)}"
        ),
        "sigma: matrix(3, 3)",
        "sigma",
        lambda sigma: np.sqrt(
            ((sigma[0, 0] - sigma[1, 1]) ** 2 + (sigma[1, 1] - sigma[2, 2]) ** 2 + (sigma[2, 2] - sigma[0, 0]) ** 2) / 2
            + 3 * (sigma[0, 1] ** 2 + sigma[1, 2] ** 2 + sigma[2, 0] ** 2)
        ),
    ),
    Passage(
        "Mooney-Rivlin",
        (
            r"W = C_{10}(\bar I_1 - 3) + C_{01}(\bar I_2 - 3) + \frac{1}{D_1}(J-1)^2, \quad \bar I_1 = "
            r"J^{-2/3}I_1, \quad \bar I_2 = J^{-4/3}I_2, where $I_1 = \operatorname{tr} C$, $I_2 = "
            r"\frac12\left[(\operatorname{tr}C)^2 - \operatorname{tr}(C^2)\right]$, $C = F^\top F$ and $J = \det "
            "F$."
        ),
        "F: matrix(3, 3) spd; C_10, C_01, D_1: scalar positive",
        "F",
        lambda F, C_10, C_01, D_1: (
            (C := F.T @ F) is not None
            and (J := np.linalg.det(F)) is not None
            and C_10 * (abs(J) ** (-2 / 3) * np.trace(C) - 3)
            + C_01 * (abs(J) ** (-4 / 3) * (np.trace(C) ** 2 - np.trace(C @ C)) / 2 - 3)
            + (J - 1) ** 2 / D_1
        ),
    ),
    Passage(
        "Saint Venant-Kirchhoff",
        (
            r"\Psi(\mathbf{E}) = \frac{\lambda}{2}\left[\operatorname{tr}(\mathbf{E})\right]^2 + "
            r"\mu\,\mathbf{E}:\mathbf{E}, \qquad \mathbf{E} = \tfrac{1}{2}\left(\mathbf{F}^{\mathsf T}\mathbf{F} "
            r"- \mathbf{I}\right)"
        ),
        "F: matrix(3, 3); lambda, mu: scalar positive",
        "F",
        lambda F, mu, **k: (
            (E := (F.T @ F - np.eye(3)) / 2) is not None and k["lambda"] / 2 * np.trace(E) ** 2 + mu * np.sum(E * E)
        ),
    ),
    Passage(
        "Nash bargaining",
        (
            r"\max_{x}\ \prod_{i=1}^{n}\left(u_i(x_i) - d_i\right)^{\alpha_i}, \quad u_i(x_i) = 1 - e^{-\gamma_i "
            "x_i}"
        ),
        "x, gamma: vector(n) positive; d: vector(n); alpha: vector(n) positive",
        "gamma",
        lambda x, gamma, d, alpha: np.prod((1 - np.exp(-gamma * x) - d) ** alpha),
    ),
    Passage(
        "Perona-Malik",
        (
            r"E(u) = \sum_{i=1}^{n-1}\frac{K^2}{2}\log\left(1 + \frac{(u_{i+1}-u_i)^2}{K^2}\right) + "
            r"\frac{\mu}{2}\|u - f\|_2^2. Here $K$ is the contrast parameter."
        ),
        "u, f: vector(n); K, mu: scalar positive",
        "u",
        lambda u, f, K, mu: np.sum(K**2 / 2 * np.log1p(np.diff(u) ** 2 / K**2)) + mu / 2 * np.sum((u - f) ** 2),
    ),
    Passage(
        "Naka-Rushton",
        (
            r"\mathrm{SSE} = \sum_{i=1}^{n}\Big(R_i - R_{\max}\frac{C_i^{\,n_0}}{C_i^{\,n_0} + C_{50}^{\,n_0}} - "
            r"b\Big)^2"
        ),
        "R, C: vector(n) positive; R_max, n_0, C_50, b: scalar positive",
        "C_50",
        lambda R, C, R_max, n_0, C_50, b: np.sum((R - R_max * C**n_0 / (C**n_0 + C_50**n_0) - b) ** 2),
    ),
]

ELEVENTH_REFUSED = [
    (
        "Stein variational step",
        (
            r"\phi_j = \frac{1}{n}\sum_{i=1}^{n}\left[k(x_i, x_j)\,g_i + \nabla_{x_i}k(x_i,x_j)\right],\quad "
            r"k(x,y)=\exp\left(-\tfrac1h\|x-y\|_2^2\right)"
        ),
        "X, G: matrix(n, d); h: scalar positive",
        "nabla is not supported",
    ),
    (
        "Bayesian personalised ranking",
        r"\sum_{(u,i,j) \in D_S} -\ln\sigma(\hat{x}_{uij}) + \lambda_\Theta\|\Theta\|^2",
        "x_hat: tensor(U, n, n); Theta: matrix(U, k); lambda_Theta: scalar",
        "the range of this sum is not supported",
    ),
    (
        "Box-Cox likelihood",
        (
            r"\ell(\lambda) = -\frac{n}{2}\log\left(\frac{1}{n}\sum_{i=1}^{n}\left(y_i^{(\lambda)} - "
            r"\bar{y}^{(\lambda)}\right)^2\right) + (\lambda-1)\sum_{i=1}^{n}\log y_i, \quad y_i^{(\lambda)} = "
            r"\frac{y_i^\lambda - 1}{\lambda}"
        ),
        "y: vector(n) positive; lambda: scalar positive",
        "y_bar with this superscript is not defined",
    ),
    (
        "Goldman equation",
        (
            r"V_m = \frac{RT}{F}\ln\!\left(\frac{\sum_{i=1}^{N}P_i[\mathrm{C}_i]_{\mathrm{out}} + "
            r"\sum_{j=1}^{M}Q_j[\mathrm{A}_j]_{\mathrm{in}}}{\sum_{i=1}^{N}P_i[\mathrm{C}_i]_{\mathrm{in}} + "
            r"\sum_{j=1}^{M}Q_j[\mathrm{A}_j]_{\mathrm{out}}}\right)"
        ),
        "R, T, F: scalar positive; P, C_in, C_out: vector(N) positive; Q, A_in, A_out: vector(M) positive",
        "C has a subscript",
    ),
    (
        "economic dispatch",
        (
            r"\begin{aligned}\min_{P}\quad & \sum_{i=1}^{N}\left(a_i P_i^2 + b_i P_i + c_i\right)\\ "
            r"\text{s.t.}\quad & \sum_{i=1}^{N}P_i = P_D\end{aligned}"
        ),
        "a, b, c, P: vector(N); P_D: scalar",
        "a constraint is not part of a formula",
    ),
    (
        "purity and linear entropy",
        (
            r"S_L = \frac{d}{d-1}\left(1 - \operatorname{Tr}\rho^2\right), \quad \rho = "
            r"\sum_{k=1}^{K}p_k\,\psi_k\psi_k^\dagger"
        ),
        "p: vector(K) positive; Psi: matrix(K, n); d: scalar positive",
        "transpose|pinv",
    ),
    (
        "Cohen's kappa",
        (
            r"\kappa = \frac{p_o - p_e}{1 - p_e}, \qquad p_o = \sum_{i=1}^k p_{ii}, \qquad p_e = \sum_{i=1}^k "
            r"p_{i\cdot}\,p_{\cdot i}"
        ),
        "p: matrix(k, k) positive",
        "a row of p or the sum of its entries",
    ),
    (
        "Pollaczek-Khinchine",
        (
            r"L = \rho + \frac{\rho^2 + \lambda^2\operatorname{Var}(S)}{2(1-\rho)}, \quad \rho = "
            r"\lambda\,\mathbb{E}[S]"
        ),
        "lambda, S: scalar positive",
        "can be an operator",
    ),
]
