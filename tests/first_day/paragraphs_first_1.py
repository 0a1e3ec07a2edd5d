r"""Whole paragraphs of LaTeX from papers, first set, part 1: written by someone who had seen no code."""

import numpy as np
from first_day.paragraph import Paragraph


def linear_probe(X, y, W, b, **k):
    n, tot = (X.shape[0], 0.0)
    for i in range(n):
        s = np.array([W[c] @ X[i] + b[c] for c in range(W.shape[0])])
        tot += np.log(np.exp(s[y[i]]) / np.sum(np.exp(s)))
    return -tot / n


def lse(v):
    v = np.asarray(v, float)
    c = v.max()
    return c + np.log(np.sum(np.exp(v - c)))


def softmax(v):
    return np.exp(np.asarray(v, float) - lse(v))


def focal(X, y, W, alpha, gamma, **k):
    n, tot = (X.shape[0], 0.0)
    for i in range(n):
        p = softmax(W @ X[i])
        pt = p[y[i]]
        tot += -alpha[y[i]] * (1 - pt) ** gamma * np.log(pt)
    return tot / n


def clip_loss(U, V, tau, **k):
    N = U.shape[0]
    S = np.zeros((N, N))
    for i in range(N):
        for j in range(N):
            S[i, j] = U[i] @ V[j] / (np.sqrt(U[i] @ U[i]) * np.sqrt(V[j] @ V[j]))
    a = b = 0.0
    for i in range(N):
        a += -np.log(np.exp(S[i, i] / tau) / np.sum(np.exp(S[i, :] / tau))) / N
        b += -np.log(np.exp(S[i, i] / tau) / np.sum(np.exp(S[:, i] / tau))) / N
    return 0.5 * (a + b)


def supcon(Z, y, tau, **k):
    n, tot = (Z.shape[0], 0.0)
    for i in range(n):
        den = sum(np.exp(Z[i] @ Z[a] / tau) for a in range(n) if a != i)
        for p in range(n):
            if p != i and y[p] == y[i]:
                tot += np.log(np.exp(Z[i] @ Z[p] / tau) / den)
    return -tot / n


def triplet(A, P, Q, alpha, **k):
    tot = 0.0
    for i in range(A.shape[0]):
        tot += max(0.0, np.sum((A[i] - P[i]) ** 2) - np.sum((A[i] - Q[i]) ** 2) + alpha)
    return tot


def attention(Q, K, V, **k):
    n, d = Q.shape
    out = np.zeros((n, V.shape[1]))
    for i in range(n):
        a = softmax([Q[i] @ K[j] / np.sqrt(d) for j in range(K.shape[0])])
        for j in range(K.shape[0]):
            out[i] += a[j] * V[j]
    return out


def causal_attention(X, Y, W_Q, W_K, W_V, **k):
    T, r = (X.shape[0], W_Q.shape[1])
    tot = 0.0
    for t in range(T):
        q = W_Q.T @ X[t]
        e = np.array([np.exp(q @ (W_K.T @ X[s]) / np.sqrt(r)) for s in range(t + 1)])
        a = e / e.sum()
        o = sum(a[s] * (W_V.T @ X[s]) for s in range(t + 1))
        tot += np.sum((Y[t] - o) ** 2)
    return tot / T


def gcn(A, X, Y, W_0, W_1, **k):
    n = A.shape[0]
    At = A + np.eye(n)
    Dt = np.diag(At.sum(axis=1))
    Dih = np.diag(1 / np.sqrt(np.diag(Dt)))
    Ah = Dih @ At @ Dih
    O = Ah @ np.maximum(Ah @ X @ W_0, 0) @ W_1  # noqa: E741
    Z = np.array([softmax(O[l]) for l in range(n)])  # noqa: E741
    return -sum(Y[l, f] * np.log(Z[l, f]) for l in range(n) for f in range(Y.shape[1]))  # noqa: E741


def gat(H, A, W, a_1, a_2, Y, **k):
    n, tot = (H.shape[0], 0.0)
    for i in range(n):
        e = np.zeros(n)
        for j in range(n):
            u = a_1 @ (W @ H[i]) + a_2 @ (W @ H[j])
            e[j] = u if u > 0 else 0.2 * u
        al = A[i] * np.exp(e)
        al = al / al.sum()
        h = sum(al[j] * (W @ H[j]) for j in range(n))
        tot += np.sum((h - Y[i]) ** 2)
    return 0.5 * tot


FIRST_1 = [
    Paragraph(
        "linear probe evaluation of self-supervised features",
        r"""
Following common practice, we evaluate the frozen representation with a linear probe that minimizes the softmax
cross-entropy
\begin{equation}
  \mathcal{L}(\mathbf{W},\mathbf{b}) =
-\frac{1}{n}\sum_{i=1}^{n}\log\frac{\exp\left(\mathbf{w}_{y_i}^{\top}\mathbf{x}_i+b_{y_i}\right)}{\sum_{c=1}^{K}\exp\left(\mathbf{w}_{c}^{\top}\mathbf{x}_i+b_{c}\right)},
\end{equation}
where $\mathbf{w}_c$ denotes the $c$-th row of $\mathbf{W}\in\mathbb{R}^{K\times d}$ and $y_i\in\{1,\dots,K\}$ is
the label of $\mathbf{x}_i$.
""",
        "X: matrix(n, d); y: index(n); W: matrix(K, d); b: vector(K)",
        "W",
        linear_probe,
        ranges={"y": "K"},
    ),
    Paragraph(
        "focal loss for long-tailed recognition",
        r"""
Let $p_{i,c}$ be the predicted probability of class $c$ for sample $i$,
\[
p_{i,c} = \frac{e^{\mathbf{w}_c^\top \mathbf{x}_i}}{\sum_{c'=1}^{K} e^{\mathbf{w}_{c'}^\top \mathbf{x}_i}} .
\]
The class-weighted focal loss down-weights well-classified examples,
\[
\mathcal{L}_{\mathrm{FL}} = -\frac{1}{n}\sum_{i=1}^{n}\alpha_{y_i}\,(1-p_{i,y_i})^{\gamma}\log(p_{i,y_i}),
\]
with focusing parameter $\gamma \ge 0$ and class weights $\alpha_1,\dots,\alpha_K$.
""",
        "X: matrix(n, d); y: index(n); W: matrix(K, d); alpha: vector(K) positive; gamma: scalar positive",
        "W",
        focal,
        ranges={"y": "K"},
    ),
    Paragraph(
        "image-text contrastive pretraining",
        r"""
Given a batch of $N$ image embeddings $u_1,\dots,u_N$ and text embeddings $v_1,\dots,v_N$, let $s_{ij} =
\frac{u_i^\top v_j}{\|u_i\|\,\|v_j\|}$ be the cosine similarity. The image-to-text and text-to-image losses are
\begin{align}
\mathcal{L}_{u\to v} &= -\frac{1}{N}\sum_{i=1}^{N}\log\frac{\exp(s_{ii}/\tau)}{\sum_{j=1}^{N}\exp(s_{ij}/\tau)}, \\
\mathcal{L}_{v\to u} &= -\frac{1}{N}\sum_{i=1}^{N}\log\frac{\exp(s_{ii}/\tau)}{\sum_{j=1}^{N}\exp(s_{ji}/\tau)},
\end{align}
and the overall objective is $\mathcal{L} = \frac{1}{2}\left(\mathcal{L}_{u\to v}+\mathcal{L}_{v\to u}\right)$,
where $\tau>0$ is a temperature.
""",
        "U: matrix(N, d); V: matrix(N, d); tau: scalar positive",
        "U",
        clip_loss,
    ),
    Paragraph(
        "supervised contrastive learning",
        r"""
Let $i\in I\equiv\{1,\dots,n\}$ be the index of an arbitrary sample with representation $\boldsymbol{z}_i$ and label
$y_i$. We minimize
\begin{equation}
\mathcal{L}^{sup} = -\frac{1}{n}\sum_{i\in I}\sum_{p\in
P(i)}\log\frac{\exp(\boldsymbol{z}_i\cdot\boldsymbol{z}_p/\tau)}{\sum_{a\in
A(i)}\exp(\boldsymbol{z}_i\cdot\boldsymbol{z}_a/\tau)} .
\end{equation}
Here, $A(i)\equiv I\setminus\{i\}$, $P(i)\equiv\{p\in A(i): y_p = y_i\}$ is the set of indices of all positives of
$i$, the $\cdot$ symbol denotes the inner (dot) product, and $\tau$ is a scalar temperature parameter.
""",
        "Z: matrix(n, d); y: index(n); tau: scalar positive",
        "Z",
        supcon,
        ranges={"y": "K"},
    ),
    Paragraph(
        "triplet loss for face embeddings",
        r"""
The loss that is being minimized is then
\[
L = \sum_{i=1}^{N}\Big[\,\|a_i - p_i\|_2^2 - \|a_i - q_i\|_2^2 + \alpha\,\Big]_+ ,
\]
where $a_i$, $p_i$ and $q_i$ are the anchor, positive and negative embeddings, $\alpha$ is the margin, and
$[\cdot]_+ = \max(0,\cdot)$.
""",
        "A: matrix(N, d); P: matrix(N, d); Q: matrix(N, d); alpha: scalar positive",
        "A",
        triplet,
    ),
    Paragraph(
        "scaled dot-product attention",
        r"""
We compute the matrix of outputs as
\begin{equation}
\mathrm{Attention}(Q,K,V) = \mathrm{softmax}\!\left(\frac{QK^{T}}{\sqrt{d}}\right)V,
\end{equation}
where the softmax is applied to each row.
""",
        "Q: matrix(n, d); K: matrix(m, d); V: matrix(m, r)",
        "Q",
        attention,
    ),
    Paragraph(
        "in-context regression with one causal attention head",
        r"""
For a sequence of tokens $\mathbf{x}_1,\dots,\mathbf{x}_T\in\mathbb{R}^d$, a single causal attention head computes
queries, keys and values
\[
\mathbf{q}_t = \mathbf{W}_Q^\top\mathbf{x}_t,\qquad \mathbf{k}_t = \mathbf{W}_K^\top\mathbf{x}_t,\qquad \mathbf{v}_t
= \mathbf{W}_V^\top\mathbf{x}_t ,
\]
and attends to the past only:
\[
\mathbf{o}_t = \sum_{s\le t}\alpha_{ts}\mathbf{v}_s,\qquad \alpha_{ts} =
\frac{\exp(\mathbf{q}_t^\top\mathbf{k}_s/\sqrt{r})}{\sum_{s'\le t}\exp(\mathbf{q}_t^\top\mathbf{k}_{s'}/\sqrt{r})} .
\]
The head is trained with the mean squared error $\mathcal{L} =
\frac{1}{T}\sum_{t=1}^{T}\|\mathbf{y}_t-\mathbf{o}_t\|_2^2$.
""",
        "X: matrix(T, d); Y: matrix(T, k); W_Q: matrix(d, r); W_K: matrix(d, r); W_V: matrix(d, k)",
        "W_Q",
        causal_attention,
    ),
    Paragraph(
        "semi-supervised classification with GCN",
        r"""
In the pre-processing step we first calculate $\hat{A} = \tilde{D}^{-\frac{1}{2}}\tilde{A}\tilde{D}^{-\frac{1}{2}}$,
where $\tilde{A} = A + I_n$ is the adjacency matrix with added self-connections and $\tilde{D}_{ii} = \sum_j
\tilde{A}_{ij}$ is its diagonal degree matrix. Our forward model then takes the simple form
\begin{equation}
Z = \mathrm{softmax}\left(\hat{A}\,\mathrm{ReLU}\left(\hat{A}XW_0\right)W_1\right),
\end{equation}
where the softmax activation function is applied row-wise. We then evaluate the cross-entropy error over all labeled
examples:
\begin{equation}
\mathcal{L} = -\sum_{l=1}^{n}\sum_{f=1}^{K} Y_{lf}\ln Z_{lf}.
\end{equation}
""",
        "A: matrix(n, n) symmetric nonnegative; X: matrix(n, d); Y: matrix(n, K); W_0: matrix(d, m); W_1: matrix(m, K)",
        "W_0",
        gcn,
    ),
    Paragraph(
        "weighted graph attention layer",
        r"""
The attention mechanism is a single-layer feedforward network with the LeakyReLU nonlinearity. The coefficient of
node $j$ for node $i$ reads
\begin{align*}
e_{ij} &=
\mathrm{LeakyReLU}\left(\mathbf{a}_1^\top\mathbf{W}\mathbf{h}_i+\mathbf{a}_2^\top\mathbf{W}\mathbf{h}_j\right),\\
\alpha_{ij} &= \frac{A_{ij}\exp(e_{ij})}{\sum_{k=1}^{n}A_{ik}\exp(e_{ik})},
\end{align*}
where $\mathrm{LeakyReLU}(u) = u$ for $u>0$ and $0.2\,u$ otherwise, and $A_{ij}>0$ are edge weights. Once obtained,
the normalized attention coefficients are used to compute $\mathbf{h}'_i =
\sum_{j=1}^{n}\alpha_{ij}\mathbf{W}\mathbf{h}_j$, and the layer is fitted by minimizing
\[
\mathcal{L} = \frac{1}{2}\sum_{i=1}^{n}\left\|\mathbf{h}'_i-\mathbf{y}_i\right\|^2 .
\]
""",
        "H: matrix(n, d); A: matrix(n, n) positive; W: matrix(q, d); a_1: vector(q); a_2: vector(q); Y: matrix(n, q)",
        "W",
        gat,
    ),
]
