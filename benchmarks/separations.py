"""Tabulates which losses separate over their rows: passes, bytes of a block, sufficient totals, or why they do not.

    python -m benchmarks.separations        writes results/separations.md

Each loss is split with its gradient. Bytes are the total that one block sends in all passes, at n = 50 columns, p = 10
classes or factors and q = 20 centres; a gradient has at least as many. "Suffices" lists totals that depend on the rows
only and replace the rows in every later evaluation.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matcalc as mc

LET = (
    "X: matrix(m, n); Z: matrix(m, p); Y: matrix(m, p); y: vector(m); k: vector(m); b: vector(m); w: vector(n); "
    "W: matrix(n, p); V: matrix(p, n); M: matrix(q, n); u: vector(p); c: scalar; S: matrix(n, n) spd"
)
SIZES = {"n": 50, "p": 10, "q": 20}
SEPARABLE = {
    "least squares": ("norm2(X*w - y)^2/m", "w"),
    "ridge": ("norm2(X*w - y)^2 + c*w'*w", "w"),
    "principal components": ("norm2(X - X*W*W')^2", "W"),
    "Gaussian likelihood, centred covariance": (
        "logdet(S) + tr(inv(S)*(X .- mean(X, axis=0)')'*(X .- mean(X, axis=0)'))/m",
        "S",
    ),
    "k-means": ("sum(min(sum(M.^2, axis=1)' .- 2*X*M', axis=1))", "M"),
    "soft k-means": ("-sum(logsumexp(X*M' .- sum(M.^2, axis=1)'/2, axis=1))", "M"),
    "softmax regression": ("sum(logsumexp(X*W, axis=1)) - sum(Y.*(X*W))", "W"),
    "logistic regression": ("sum(softplus(-b.*(X*w)))", "w"),
    "Poisson regression": ("sum(exp(X*w) - k.*(X*w))", "w"),
    "canonical correlation": ("(w'*X'*Z*u)/sqrt((w'*X'*X*w)*(u'*Z'*Z*u))", ["w", "u"]),
    "matrix factorisation by rows": ("norm2(X - Z*V)^2", "V"),
    "variance": ("var(X*w)", "w"),
    "log-sum-exp": ("logsumexp(X*w)", "w"),
    "robust regression, Huber's": ("sum(sqrt(1 + (X*w - y).^2))", "w"),
    "Gram determinant": ("logdet(X'*X + S)", "S"),
    "largest residual": ("norminf(X*w - y)", "w"),
    "worst row": ("max(X*w)", "w"),
}
WHOLE = {
    "Gaussian process": ("y'*inv(X*X' + eye(m))*y*c", "c"),
    "median": ("median(X*w - y)", "w"),
    "ranks": ("sum(sort(X*w).*y)", "w"),
    "moving average": ("sum(cumsum(X*w).^2)", "w"),
    "differences of neighbours": ("norm2((X*w)[1:] - (X*w)[:-1])^2", "w"),
    "pairs of rows": ("sum(exp(-(y .- y').^2))*c", "c"),
}


def suffices(made: Any) -> str:
    """Return the sufficient totals that depend on the rows only, or nothing."""
    try:
        listed = made.precompute().totals.listed()
    except mc.NotSupported:
        return ""
    return ", ".join(f"`{line.partition(' = ')[2].partition('    ')[0]}`" for line in listed)


def report() -> str:
    """Return the page of results."""
    lines = ["# What separates over rows", "", (__doc__ or "").strip(), ""]
    lines += ["| | loss | in | passes | bytes of a block | suffices |", "|---|---|---|---:|---:|---|"]
    for name, (text, wrt) in SEPARABLE.items():
        made = mc.split(text, "m", wrt=wrt, declarations=LET)
        assert made, (name, made.reason)
        variables = ", ".join(wrt) if isinstance(wrt, list) else wrt
        sent = made.bytes(**SIZES)
        lines.append(f"| {name} | `{text}` | {variables} | {made.rounds} | {sent:,} | {suffices(made)} |")
    lines += ["", "| | | does not separate |", "|---|---|---|"]
    for name, (text, wrt) in WHOLE.items():
        made = mc.split(text, "m", wrt=wrt, declarations=LET)
        assert not made, name
        lines.append(f"| {name} | `{text}` | {made.reason} |")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    page = report()
    (Path(__file__).parent / "results" / "separations.md").write_text(page)
    print(page)
