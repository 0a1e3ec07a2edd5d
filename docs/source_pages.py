"""Writes source.md: plain source of ten models, as matcalc prints it. `python docs/source_pages.py` writes the page."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import matcalc as mc

HEAD = """\
# Source as a person writes it

`mc.plain` writes one function for several formulas: array statements in reading order, with NumPy and SciPy alone.
Nothing in it needs matcalc. Parts that occur several times are computed once and get names: yours (`where K =
...`), else names for their contents (`XtX`, `K_chol`, `R` for a residual). `e.python()` is the same for one
expression, and on the command line:

    matcalc gradient "norm2(X*w - y)^2" --wrt w --as python
    matcalc export "norm2(X*w - y)^2" --wrt w --target numpy -o loss.py --test test_loss.py

`matcalc export` writes plain source for `--target numpy`, and kernels for `numba` and `c`; `--style` chooses the
other one. `--test` writes a file for pytest: values with all digits, and derivatives by SciPy's differences.

Before a text is returned, it is run at random data of small sizes and compared with the formula as written. Another
number is an `InternalError`, and `check=False` leaves the comparison out. The same input gives the same bytes.
Lines have at most 88 columns.

At a kink or a tie (`abs` at 0, two equal largest entries, a singular value 0) the text takes what the library's
function takes. The compiled function and `e(...)` follow the [conventions](conventions.md).
"""
TAIL = """\
## What cannot be plain

An operation without a function in NumPy or SciPy gets a short function above, as `normalize` and `scatter` do. An
operation that needs more than 45 lines of code is refused by name: Pfaffians, derivatives of functions of singular
values, and some second derivatives of special functions. `matcalc export --style fast` and `mc.compile` have them.

```python
>>> mc.plain("pfaffian(A)", "A: matrix(n, n) skew")
Traceback (most recent call last):
    ...
matcalc.errors.NotSupported: pfaffian has no plain source: it needs 52 lines of code

```
"""


class Example(NamedTuple):
    """A model: its title, a sentence, its formula and declarations, and the results of its function."""

    title: str
    about: str
    formula: str
    declarations: str
    results: str
    name: str


EXAMPLES = (
    Example("Logistic regression", "Value and gradient share `z`.", "sum(log(1 + exp(-y.*(X*w)))) + lam*w'*w",
            "X: matrix(m, n); y: vector(m); w: vector(n); lam: scalar", '[f, f.gradient("w")]', "loss_and_gradient"),
    Example("The same, to the second order", "Lower orders share their parts with higher ones.",
            "sum(log(1 + exp(-y.*(X*w))))", "X: matrix(m, n); y: vector(m); w: vector(n)",
            '[f, f.gradient("w"), f.hvp("w")]', "loss_to_second_order"),
    Example("Softmax regression", "Reductions along an axis are SciPy's.",
            "sum(logsumexp(X*W, axis=1)) - sum(Y.*(X*W))", "X: matrix(m, n); W: matrix(n, k); Y: matrix(m, k)",
            '[f, f.gradient("W")]', "cross_entropy"),
    Example("A Gaussian process", "One Cholesky factor gives the value and its derivatives.",
            "y'*inv(K)*y + logdet(K)", "K: matrix(n, n) spd; y: vector(n)",
            '[f, *f.gradient(["K", "y"])]', "likelihood"),
    Example("A kernel with parameters", "Named parts keep their names.",
            "y'*(K\\\\y) + logdet(K) where E = exp(-D/(2*l^2)), K = s*E + t*eye(n)",
            "D: matrix(n, n) symmetric; y: vector(n); l: scalar; s: scalar; t: scalar",
            '[f, *f.gradient(["s", "l", "t"])]', "evidence"),
    Example("Matrix factorisation", "A residual is computed once, whatever its sign and transpose.",
            "norm2(M.*(T - U*V'))^2", "M: matrix(m, n); T: matrix(m, n); U: matrix(m, k); V: matrix(n, k)",
            '[f, *f.gradient(["U", "V"])]', "factors"),
    Example("A network", "Several variables.", "norm2(tanh(X*A)*B - Y)^2",
            "X: matrix(m, n); A: matrix(n, p); B: matrix(p, k); Y: matrix(m, k)",
            '[f, *f.gradient(["A", "B"])]', "network"),
    Example("Word vectors", "Indices that are data select rows; their derivatives add up rows.",
            "sum(x.*e.^2)/2 where e = {t: W[i[t], a]*C[j[t], a]} + b[i] - log(x)",
            "W: matrix(p, d); C: matrix(q, d); b: vector(p); i: index(m); j: index(m); x: vector(m) positive",
            '[f, *f.gradient(["W", "b"])]', "glove"),
    Example("A matrix equation", "SciPy solves it, also for the derivative.", "tr(W*sylvester(A, B, C))",
            "A: matrix(m, m); B: matrix(n, n); C: matrix(m, n); W: matrix(n, m)",
            '[f, *f.gradient(["A", "C"])]', "sylvester"),
    Example("A Jacobian of order 4", "`np.einsum` stands only where no product of matrices does it.", "A*X*B",
            "A: matrix(m, n); X: matrix(n, p); B: matrix(p, q)", '[f.jacobian("X")]', "jacobian"),
)  # fmt: skip


def block(example: Example) -> str:
    """Return the block of an example with its output, as the documentation's tests run it."""
    f = mc.expression(example.formula.replace("\\\\", "\\"), example.declarations)
    text = mc.plain(eval(example.results, {"f": f}), name=example.name)
    shown = "\n".join(line or "<BLANKLINE>" for line in text.rstrip("\n").split("\n"))
    lines = [
        f">>> let = {quoted(example.declarations)}",
        f">>> f = mc.expression({quoted(example.formula)}, let)",
        f'>>> print(mc.plain({example.results}, name="{example.name}"), end="")',
    ]
    return "\n".join([f"## {example.title}", "", example.about, "", "```python", *lines, shown, "", "```", ""])


def quoted(text: str) -> str:
    return f'"{text}"'


def page() -> str:
    """Return the text of the page."""
    start = "```python\n>>> import matcalc as mc\n\n```\n"
    return "\n".join([HEAD, start, *map(block, EXAMPLES), TAIL])


if __name__ == "__main__":
    Path(__file__).with_name("source.md").write_text(page(), encoding="utf-8")
