r"""LaTeX input: undeclared names, readings that declarations decide, displays, and errors with their position."""

import pytest

import matcalc as mc

TABLE = [
    # names, and the meaning of their fonts
    (r"\hat{x} + \tilde{x} + \bar x + \vec{x}", "", "x + x_bar + x_hat + x_tilde"),
    (r"\boldsymbol{\mu}^\top \boldsymbol\Sigma^{-1} \boldsymbol{\mu}", "", "mu'*inv(Sigma)*mu"),
    (r"w_{\text{out}}^{\mathsf T} x_{1}", "", "w_out'*x_1"),
    (r"{\bf X}^{T}{\bf y}", "", "X'*y"),
    (r"\alpha^\top K \alpha + \beta' x", "", "alpha'*K*alpha + beta'*x"),
    (r"\|Q K^\top\|_F / \sqrt{d}", "", "norm2(Q*K')/sqrt(d)"),
    (r"\lambda\,s", "lam: scalar; s: scalar", "lam*s"),
    (r"\mathit{rate}\, s", "rate: scalar; s: scalar", "rate*s"),
    (r"\mathrm{d}\mathbf{X} x", "X: matrix(m, n); dX: matrix(m, n); x: vector(n)", "dX*x"),
    (r"S_1 + S_2", "S1: matrix(n, n); S_2: matrix(n, n)", "S1 + S_2"),
    (r"x_1 + s x_2", "x: vector(n); x_2: scalar; s: scalar", "s*x_2 + x[0]"),
    (r"W^{(1)} x^{(2)}", "", "W_1*x_2"),
    (r"x^*", "x_star: vector(n)", "x_star"),
    # operations by the kinds of their operands
    (r"|s| + |S|", "s: scalar; S: matrix(n, n)", "abs(s) + det(S)"),
    (r"\|x\| + \|A\|_2 + \|A\|_F", "", "norm2(x) + spectral_norm(A) + norm2(A)"),
    (r"\sigma(x)", "", "sigmoid(x)"),
    (r"\sigma(x)", "sigma: scalar; x: vector(n)", "sigma*x"),
    (r"I + X", "", "X + eye(m)"),
    (r"I x", "I: matrix(n, n); x: vector(n)", "I*x"),
    (r"e^{s} + e", "s: scalar; e: scalar", "e^s + e"),
    (r"x \times y", "", "cross(x, y)"),
    # sums
    (r"\sum_{i=1}^{n} x_i^\top x_i", "X: matrix(n, p)", "sum(X.^2)"),
    (r"\sum_{j=1}^{p} x_j^\top x_j", "X: matrix(n, p)", "sum(X.^2)"),
    (r"\sum_{i=1}^{3} x_i", "x: vector(n)", "sum(x[:3])"),
    (r"\sum_{i=1}^{n-1} x_i x_{i+1}", "x: vector(n)", "x[:-1]'*x[1:]"),
    (r"\sum_{1 \le i \le n} x_i", "x: vector(n)", "sum(x)"),
    (r"x^\top x + \sum_{i=1}^n x_i", "", "x'*x + sum(x)"),
    (r"\log \sum_{i=1}^n e^{x_i}", "x: vector(n)", "log(sum(exp(x)))"),
    (r"\sum_{i=1}^n x_{n - 1} y_i", "x: vector(n); y: vector(n)", "x[n-2]*sum(y)"),
    (r"\sum_{i=1}^n s", "s: scalar", "n*s"),
    (r"\sum_{i=1}^n x_i x_i^\top", "X: matrix(n, p)", "X'*X"),
    (r"\sum_{i=1}^n y_i x_i", "X: matrix(n, p); y: vector(n)", "X'*y"),
    (r"\sum_{i \ne j} A_{ij}", "A: matrix(n, n)", "sum(A - A.*eye(n))"),
    (r"\left[\sum_k A_{ik} B_{kj}\right]_{ij}", "", "A*B"),
    # displays
    (r"$x^\top x$", "", "x'*x"),
    (r"\[ x^\top x. \]", "", "x'*x"),
    ("\\begin{align*} % the loss\n & x^\\top x \\\\ & \\quad + s \\end{align*}", "s: scalar", "x'*x + s"),
    (r"\begin{aligned} a &= A x \\ & a^\top a \end{aligned}", "A: matrix(m, n); x: vector(n)", "x'*A'*A*x"),
    (r"\begin{aligned} K &= A A^\top \\ & {-K x} \end{aligned}", "A: matrix(m, n); x: vector(m)", "-A*A'*x"),
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("latex", "let", "text"), TABLE, ids=[row[0] for row in TABLE])
def test_reads_as(latex, let, text):
    e = mc.expression(latex, let, dialect="latex")
    assert e.node is mc.expression(text, e.declarations).node, str(e)


FAULTS = [
    ("a / b c", "a: scalar; b: scalar; c: scalar", "a / b c can be read in two ways", "c", "a/b*c or a/(b*c)"),
    (r"\log a b", "a: scalar; b: scalar", r"the end of the operand of \log is ambiguous", "b", "log(a)*b or log(a*b)"),
    (r"\operatorname{tr} A B", "", "the end of the operand of tr is ambiguous", "B", "tr(A)*B or tr(A*B)"),
    (r"\exp(A)", "", "for a matrix this could be exp or expm", r"\exp", r"\operatorname{expm}"),
    (r"x \otimes y", "", "for a vector and a vector this could be outer or kron", r"\otimes", r"\operatorname{kron}"),
    (
        r"\sum_{i=1}^n x_i",
        "",
        "this can be an entry of a vector x, or a row or column of a matrix X",
        "x_",
        "declare x: vector(n)",
    ),
    (
        r"\sum_{i=1}^n \|x_i\|",
        "X: matrix(n, n)",
        "this can be row or column i of X: matrix(n, n), or an entry of x",
        "x_",
        "X_{i,:}",
    ),
    ("S_1", "S1: matrix(n, n); S_1: matrix(n, n)", "this can be S1 or S_1", "S", "give one of them another name"),
    (r"\mathbf{x}^\top x", "", "x in two fonts", "x", "another letter"),
    ("f(x) + 1", "", "f(...) can be a function of this name or a product", "f", "declare f"),
    (
        r"\mathbb{E}[x]",
        "",
        "the double-struck letter E can be an operator, a set or a symbol",
        r"\mathbb",
        "write the mean over the data",
    ),
    ("x = y", "x: vector(n)", "'=' after x is an equation", "x", "the right side"),
    ("the loss", "", "'the' is a word", "the", "no words"),
    (r"x^\top x where $x$ is", "", "this does not define a part", "x$ is", "parts"),
    (r"\text{loss} + x", "", "'loss' is text", r"\text", "without words"),
    ("s + tr(A)", "s: scalar", "'tr' is set as a product of letters", "tr", r"\operatorname{tr}"),
    (r"\partial f", "", r"\partial is not supported", r"\partial", "mc.gradient"),
    ("x^12", "", "'^12' applies only to the 1", "12", "^{12}"),
    ("x_0", "x: vector(n)", "subscripts count from 1", "0", ""),
    ("A_{1}", "A: matrix(m, n)", "one subscript for 2 axes", "{1}", "A_{i,:}"),
    ("x_i", "x: vector(n)", "the subscript of x is unknown", "{i}|i", "an index is bound by a sum"),
    (
        r"\prod_i x_i \sum_i y_i",
        "x: vector(n); y: vector(n)",
        "the index i is bound already",
        r"\sum_i y",
        "another letter",
    ),
    (r"\left( x + y", "", r"'\left(' is never closed", r"\left(", ""),
    ("x + y)", "", "')' closes nothing", ")", ""),
    (r"\frac{x}{", "", "'{' is never closed", "{", ""),
    ("x +", "", "expected an operand after '+', found the end", "", ""),
    ("x & y", "", "'&' is only allowed in matrices and displays", "&", ""),
    (r"x \\ y", "", "a line that does not name a part", "x", "the formula last"),
    ("x^2^3", "s: scalar", "two '^' on one base", "^3", "braces"),
    ("x^", "", "expected an operand after '^', found the end", "", ""),
    ("", "", "expected a formula, found nothing", "", ""),
    (
        r"\sin^{-1} s",
        "s: scalar",
        r"\sin with this superscript can be its inverse, a derivative or a power",
        "^",
        "by its name",
    ),
    (r"\begin{aligned} K &= A \\ K &= B \\ & K \end{aligned}", "", "K is named twice", "K", "another name"),
    ("x\x1a0", "", "'0' without operands", "\x1a", ""),
]


@pytest.mark.parametrize(("latex", "let", "message", "place", "hint"), FAULTS, ids=[row[0] for row in FAULTS])
def test_fault(latex, let, message, place, hint):
    with pytest.raises(mc.MatcalcError) as caught:
        mc.expression(latex, let, dialect="latex")
    error = caught.value
    assert error.message == message
    assert error.text == latex
    assert hint in error.hint
    assert any(latex.startswith(one, error.at) for one in place.split("|")), latex[error.at :]
