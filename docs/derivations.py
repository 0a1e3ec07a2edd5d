"""Write `derivations.md`: seven standard derivations, as `explain` shows them.  python docs/derivations.py"""

import re
from pathlib import Path

import matcalc as mc

ADDRESS = re.compile(r"(rules/\w+\.toml):\d+")
"""Line numbers of rules are left out, lest the page changes with every rule."""

PAGE = Path(__file__).with_name("derivations.md")

DERIVATIONS = [
    ("Least squares", "norm2(X*w - y)^2", "w", "X: matrix(m, n); w: vector(n); y: vector(m)"),
    ("Logistic regression", "sum(log(1 + exp(-y.*(X*w)))) + lam*w'*w", "w",
     "X: matrix(m, n); w: vector(n); y: vector(m); lam: scalar"),
    ("The likelihood of a Gaussian in its covariance", "logdet(S) + tr(inv(S)*C)", "S",
     "S: matrix(n, n) spd; C: matrix(n, n) symmetric"),
    ("A determinant", "det(X)", "X", "X: matrix(n, n)"),
    ("Matrix factorisation", "norm2(M - U*V')^2", "U", "M: matrix(m, n); U: matrix(m, k); V: matrix(n, k)"),
    ("The quotient of Rayleigh", "(x'*A*x)/(x'*x)", "x", "A: matrix(n, n) symmetric; x: vector(n)"),
    ("Softmax", "softmax(x)", "x", "x: vector(n)"),
]  # fmt: skip

HEAD = """\
# Derivations

Seven standard derivations as worked examples: the function, its differential, the rules with their sources, the
terms collected into $\\operatorname{tr}(A^\\top \\mathrm{d}X)$, and the derivative. `e.explain("markdown")` prints a
derivation in this form, and so does `matcalc explain EXPR --wrt X --as markdown`. The tests check every line
numerically. `python docs/derivations.py` writes this page.
"""


def derived(text: str, wrt: str, let: str) -> mc.Expression:
    """Return the gradient of a scalar formula, the Jacobian of any other."""
    e = mc.expression(text, let)
    return e.jacobian(wrt) if e.shape else e.gradient(wrt)


def page() -> str:
    """Return the page as Markdown."""
    parts = [HEAD]
    for title, text, wrt, let in DERIVATIONS:
        shown = ADDRESS.sub(r"\1", derived(text, wrt, let).explain("markdown"))
        parts.append(f"## {title}\n\n`{text}` in `{wrt}`, with `{let}`.\n\n{shown}\n")
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
