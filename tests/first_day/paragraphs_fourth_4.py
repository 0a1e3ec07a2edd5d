r"""Whole paragraphs of LaTeX from papers, fourth set, part 4: written by someone who had seen no code."""

import numpy as np
from first_day.paragraph import Paragraph


def gcn(A, X, W):
    At = A + np.eye(A.shape[0])
    dg = At.sum(axis=1)
    S = np.diag(dg ** (-0.5)) @ At @ np.diag(dg ** (-0.5))
    return np.maximum(S @ X @ W, 0)


FOURTH_4 = [
    Paragraph(
        "cs.LG graph convolutional layer",
        r"""
A single graph convolutional layer computes
\begin{equation}
H=\mathrm{ReLU}\left(\tilde{D}^{-\frac12}\tilde{A}\tilde{D}^{-\frac12}XW\right).
\end{equation}
Here, $\tilde{A}=A+I_N$ is the adjacency matrix of the graph with added self-connections, $\tilde{D}$ is the
diagonal matrix with $\tilde{D}_{ii}=\sum_j\tilde{A}_{ij}$, and $W$ is a trainable weight matrix.
""",
        "A: matrix(N, N) nonnegative; X: matrix(N, d); W: matrix(d, k)",
        "W",
        gcn,
    ),
    Paragraph(
        "cs.MM perceptual loss, feature network unspecified",
        r"""
The total loss is
\begin{equation}
\mathcal{L}(\hat{y})=\|\hat{y}-y\|_1+\lambda\,\|\phi(\hat{y})-\phi(y)\|_2^2
\end{equation}
where $\phi$ denotes the features of a pre-trained VGG network.
""",
        "yhat: vector(n); y: vector(n); lambda: scalar positive",
        "yhat",
        None,
        refused="only words describe \\phi",
    ),
    Paragraph(
        "physics.med-ph reconstruction with inconsistent sizes",
        r"""
The reconstructed image solves $\min_x f(x)$ with
\begin{equation}
f(x)=\frac12\|Ax-b\|_2^2+\frac{\lambda}{2}\|x\|_2^2 .
\end{equation}
""",
        "A: matrix(m, n); x: vector(n); b: vector(n); lambda: scalar positive",
        "x",
        None,
        refused="this may be the formula of the paragraph",
    ),
    Paragraph(
        "physics.data-an weighted least squares, contradictory weights",
        r"""
We minimise the weighted sum of squares
\begin{equation}
S(\beta)=\sum_{i=1}^{n}w_i\left(y_i-x_i^\top\beta\right)^2
\end{equation}
with weights $w_i=1/\sigma_i^2$. Here $w_i=\sigma_i$ and $\sigma_i$ is the standard error of the $i$th measurement.
""",
        "X: matrix(n, d); y: vector(n); beta: vector(d); sigma: vector(n) positive",
        "beta",
        None,
        refused="w_i is defined twice",
    ),
]
