"""LaTeX output: a table of formulas as textbooks set them, and templates from user code."""

import pytest

from matcalc.language import syntax
from matcalc.language.latex.writer.latex import latex
from matcalc.language.read import read

KINDS = {
    **dict.fromkeys(["A", "B", "S", "V", "X"], "matrix"),
    **dict.fromkeys(["x", "y", "w", "x_1", "beta"], "vector"),
    **dict.fromkeys(["lam", "s"], "scalar"),
    "T3": "tensor",
}

LOOKS = {
    "det": (r"\det({0})",),
    "eye": (r"\mathbf{I}_{{0}}",),
    "eye[]": (r"\delta_{{1}{2}}",),
    "inv": (r"{0^}^{-1}",),
    "kron": (r"{0^} \otimes {1^}",),
    "norm1": (r"\lVert {0} \rVert_1",),
    "norm2": (r"\lVert {0} \rVert_2",),
    "norm2:": (r"\lVert {0} \rVert",),
    "norm2:matrix": (r"\lVert {0} \rVert_F",),
    "ones": (r"\mathbf{1}_{{0}}", r"\mathbf{1}_{{0} \times {1}}"),
    "where": (r"\begin{cases} {1} & \text{if } {0} \\ {2} & \text{otherwise} \end{cases}",),
}

TABLE = [
    ("2*X'*(X*w - y)", r"2 \mathbf{X}^\top (\mathbf{X} \mathbf{w} - \mathbf{y})"),
    ("inv(S)", r"\mathbf{S}^{-1}"),
    ("-inv(X)'*A'*inv(X)'", r"-\mathbf{X}^{-\top} \mathbf{A}^\top \mathbf{X}^{-\top}"),
    ("A^-1*A'^-1*A^-T", r"\mathbf{A}^{-1} \mathbf{A}^{-\top} \mathbf{A}^{-\top}"),
    ("inv(A*B)", r"(\mathbf{A} \mathbf{B})^{-1}"),
    ("inv(inv(A))", r"(\mathbf{A}^{-1})^{-1}"),
    ("norm2(x)^2", r"\lVert \mathbf{x} \rVert_2^{2}"),
    ("norm2(X)", r"\lVert \mathbf{X} \rVert_F"),
    ("norm2(X*w - y)", r"\lVert \mathbf{X} \mathbf{w} - \mathbf{y} \rVert_2"),
    ("norm2(f(x))", r"\lVert \operatorname{f}(\mathbf{x}) \rVert"),
    ("x.*y", r"\mathbf{x} \odot \mathbf{y}"),
    ("A.*B*x", r"(\mathbf{A} \odot \mathbf{B}) \mathbf{x}"),
    ("-y.*(X*w)", r"-\mathbf{y} \odot (\mathbf{X} \mathbf{w})"),
    ("lam.*x", r"\lambda \mathbf{x}"),
    ("x./y", r"\mathbf{x} \oslash \mathbf{y}"),
    ("x./lam", r"\frac{\mathbf{x}}{\lambda}"),
    ("lam*w'*w/2", r"\frac{\lambda \mathbf{w}^\top \mathbf{w}}{2}"),
    ("1/2*norm1(x)", r"\frac{1}{2} \lVert \mathbf{x} \rVert_1"),
    ("A\\x", r"\mathbf{A}^{-1} \mathbf{x}"),
    ("x.^2", r"\mathbf{x}^{\circ 2}"),
    ("(A + B)'", r"(\mathbf{A} + \mathbf{B})^\top"),
    ("s^2", "s^{2}"),
    ("s^(1/2)", "s^{1/2}"),
    ("(s/2)^2", r"\left(\frac{s}{2}\right)^{2}"),
    ("2*3*x", r"2 \cdot 3 \mathbf{x}"),
    ("1e-30*x", r"10^{-30} \mathbf{x}"),
    ("tr(A*X)", r"\operatorname{tr}(\mathbf{A} \mathbf{X})"),
    ("log(det(X))", r"\log(\det(\mathbf{X}))"),
    ("exp(s/2)", r"\exp\left(\frac{s}{2}\right)"),
    ("diag(x)*A", r"\operatorname{diag}(\mathbf{x}) \mathbf{A}"),
    ("kron(A, B*X)", r"\mathbf{A} \otimes (\mathbf{B} \mathbf{X})"),
    ("eigh_w(S)", r"\operatorname{eigh\_w}(\mathbf{S})"),
    ("ones(m, n)*eye(n)", r"\mathbf{1}_{m \times n} \mathbf{I}_{n}"),
    ("sum(X, axis=0)", r"\operatorname{sum}(\mathbf{X}, \mathrm{axis}=0)"),
    ("dX*x_1 + beta", r"\mathrm{d}\mathbf{X} \mathbf{x}_{1} + \boldsymbol{\beta}"),
    ("alpha_hat*sigma2", r"\alpha_{\mathrm{hat}} \sigma_{2}"),
    ("[A, B; A', 0]", r"\begin{bmatrix} \mathbf{A} & \mathbf{B} \\ \mathbf{A}^\top & 0 \end{bmatrix}"),
    (
        "{i,j,k,l: 2*(V'*V)[j,l]*eye(m)[i,k]}",
        r"\left[2 (\mathbf{V}^\top \mathbf{V})_{jl} \delta_{ik}\right]_{ijkl}",
    ),
    ("{: x[i]*y[i]}", r"\sum_{i=1}^{n} x_{i} y_{i}"),
    ("{i,j: A[i,k]*B[k,j]}", r"\left[\sum_{k} A_{ik} B_{kj}\right]_{ij}"),
    ("{k: x[i]*y[j]*[k == i + j]}", r"\left[\sum_{i=1}^{n} \sum_{j} x_{i} y_{j} [k = i + j - 1]\right]_{k}"),
    ("{i,j: X[i,j]*[i >= j + 1]}", r"\left[X_{ij} [i \ge j + 1]\right]_{ij}"),
    (
        "{i: 2*sum{k: exp(T3[i,k,j]*x[j])}}",
        r"\left[2 \left(\sum_{k} \exp\left(\sum_{j=1}^{n} {T_{3}}_{ikj} x_{j}\right)\right)\right]_{i}",
    ),
    ("sum{i,k: A[i,k]^2 + 1}*s", r"\left(\sum_{ik} (A_{ik}^{2} + 1)\right) s"),
    ("-sum{i: x[i]}*s", r"-\left(\sum_{i=1}^{n} x_{i}\right) s"),
    ("sum{i: x[i]} + s", r"\sum_{i=1}^{n} x_{i} + s"),
    ("T3[i,j,k]", "{T_{3}}_{i + 1,j + 1,k + 1}"),
    ("X[:, 0]", r"\mathbf{X}_{:,1}"),
    ("X[0, :]", r"\mathbf{X}_{1,:}^\top"),
    ("X[0, :]'*y", r"\mathbf{X}_{1,:} \mathbf{y}"),
    ("x[0]*A[1, 2]", r"[\mathbf{x}]_{1} A_{2,3}"),
    ("x[-1]*y[-2]", r"x_{n} y_{\mathrm{end} - 1}"),
    ("x[1:-1] + y[2:4]", r"\mathbf{x}_{2:n - 1} + \mathbf{y}_{3:4}"),
    ("x[::-1]", r"\mathbf{x}_{::-1}"),
    ("matfun(x -> log(x), S)", r"\operatorname{matfun}(x \mapsto \log(x), \mathbf{S})"),
    ("n*(n + 1)//2", r"\left\lfloor \frac{n (n + 1)}{2} \right\rfloor"),
    ("a - -b", "a - (-b)"),
    ("where(s > 0, 1, 2)", r"\begin{cases} 1 & \text{if } s > 0 \\ 2 & \text{otherwise} \end{cases}"),
]


@pytest.mark.parametrize(("text", "expected"), TABLE, ids=[row[0] for row in TABLE])
def test_latex(text, expected):
    assert latex(read(text), KINDS, LOOKS, {"x": ("n",), "X": ("m", "n")}) == expected


def test_without_a_template_a_call_is_one():
    assert latex(read("inv(X) + sin(s)"), KINDS) == r"\operatorname{inv}(\mathbf{X}) + \sin(s)"


def test_templates_by_kind_and_by_number_of_arguments():
    given = {"g": (r"\left\|{0}\right\|_{2}",), "g:matrix": (r"\lVert {0} \rVert",)}
    given["f"] = (r"\phi({0})", r"\phi_{{1}}({0})")
    assert latex(read("g(x)^2 + g(X)"), KINDS, given) == r"\left\|\mathbf{x}\right\|_{2}^{2} + \lVert \mathbf{X} \rVert"
    assert latex(read("pow(x, 3)'"), KINDS, {"pow": (r"{0^}^{\circ {1}}",)}) == r"(\mathbf{x}^{\circ 3})^\top"
    assert latex(read("f(x) + f(x, 2)"), KINDS, given) == r"\phi(\mathbf{x}) + \phi_{2}(\mathbf{x})"


def test_braces_balance():
    for text, _ in TABLE:
        written = latex(read(text), KINDS, LOOKS)
        assert written.count("{") == written.count("}")
        assert written.count(r"\left") - written.count(r"\left\lfloor") >= 0


def test_deep_tree():
    deep = syntax.name("x")
    for _ in range(3000):
        deep = syntax.call("f", deep)
    assert latex(deep, KINDS).startswith(r"\operatorname{f}(\operatorname{f}(")
