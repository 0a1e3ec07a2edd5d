r"""LaTeX of papers: cases without the word if, shifted rows, labels in script letters, invariants I_1, constraints."""

import pytest

import matcalc as mc

TABLE = [
    (r"\begin{cases} x^2 & |x| \le s \\ x & \text{otherwise} \end{cases}", "where(s >= abs(x), x^2, x)"),
    (r"\begin{cases} x^2, & x > 1, \\ s, & x \le 1. \end{cases}", "where(x > 1, x^2, s)"),
    (r"\begin{cases} x & x > s \\ s & s \ge x \end{cases}", "where(x > s, x, s)"),
    (
        r"\begin{cases} x & \text{if } x > 1 \\ s & \text{else if } x < 0 \\ 0 & \text{else} \end{cases}",
        "where(x > 1, x, where(0 > x, s, 0))",
    ),
    (
        r"\sum_{i=1}^{n} \begin{cases} u_i^2 & u_i > v_i \\ v_i & \text{otherwise} \end{cases}",
        "sum(where(u > v, u.^2, v))",
    ),
    (r"\sum_{i=2}^{n} \|x_i - A x_{i-1}\|^2", "norm2(X[:-1, :]*A' - X[1:, :])^2"),
    (r"\sum_{i=1}^{n-1} \|x_{i+1} - x_i\|^2", "norm2(X[1:, :] - X[:-1, :])^2"),
    (r"\langle X, Z \rangle_F", "sum(X.*Z)"),
    (r"\min_{X \ge 0} \|X\|_F^2", "norm2(X)^2"),
    (r"\|F\|_F^2", "norm2(F)^2"),
    (r"\mathcal{F} = s(I_1 - 3), \quad I_1 = \operatorname{tr}(F^\top F)", "s*(tr(F'*F) - 3)"),
    (r"\psi(I_1) = s I_1 \quad\text{where}\quad I_1 = \operatorname{tr} F", "s*tr(F)"),
    (r"I_d + A", "eye(d) + A"),
]
DECLARED = {
    "x": "scalar", "s": "scalar", "u": "vector(n)", "v": "vector(n)", "X": "matrix(n, d)", "Z": "matrix(n, d)",
    "A": "matrix(d, d)", "F": "matrix(k, k)",
}  # fmt: skip


def declarations(text):
    """Return the declarations of the names in a formula."""
    used = mc.expression(text, "; ".join(f"{name}: {kind}" for name, kind in DECLARED.items() if name in text)).symbols
    return "; ".join(f"{name}: {kind}" for name, kind in DECLARED.items() if name in used)


@pytest.mark.parametrize(("latex", "text"), TABLE, ids=[row[0] for row in TABLE])
def test_reads_as(latex, text):
    declared = declarations(text)
    assert mc.expression(latex, declared, dialect="latex").node is mc.expression(text, declared).node


@pytest.mark.parametrize(
    ("latex", "message"),
    [
        (r"\begin{cases} x^2 & x > 1 \\ x & x < 1 \end{cases}", "the last case needs the word otherwise"),
        (r"\begin{cases} x^2 & x \in A \\ x & \text{otherwise} \end{cases}", "this is no condition of a case"),
    ],
)
def test_refused(latex, message):
    with pytest.raises(mc.MatcalcError, match=message):
        mc.expression(latex, "x: scalar", dialect="latex")
