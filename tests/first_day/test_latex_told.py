r"""What words and sets tell of symbols is obeyed where it decides a reading, and refused where it denies one."""

import numpy as np
import pytest

import matcalc as mc

RNG = np.random.default_rng(11)
S, T = RNG.standard_normal((4, 4)), RNG.standard_normal((4, 4))
R = RNG.standard_normal((4, 3))
w = np.array([0.5, -1.0, 2.0, 0.25])


def value(latex, let, **data):
    e = mc.expression(latex, let, dialect="latex")
    return e(**{name: data[name] for name in map(str, e.symbols)})


FRAMES = [
    r"\[ {f}, \] where {w}.",
    "{f}, where {w}.",
    r"We minimise \[ {f} \] over $w$. Here {w}.",
]
TOLD = [
    ("$x_i$ is the $i$-th row of $X$", 0),
    ("$x_i$ is the $i$-th column of $X$", 1),
    ("$x_i$ denotes column $i$ of $X$", 1),
    ("$x_i$ are the columns of the data matrix $X$", 1),
    (r"$x_i$ are the rows of $X^\top$", 1),
    (r"$x_i$ are the columns of $X^{\top}$", 0),
    ("$x_i$ are the row vectors of $X$", 0),
]


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize(("words", "axis"), TOLD)
def test_words_tell_rows_or_columns(frame, words, axis):
    latex = frame.format(f=r"\sum_{i=1}^n (x_i^\top w)^2", w=words)
    expected = np.sum((S @ w) ** 2) if axis == 0 else np.sum((S.T @ w) ** 2)
    np.testing.assert_allclose(value(latex, "X: matrix(n, n); w: vector(n)", X=S, w=w), expected)


FRONTS = [
    "Let $x_i$ be the $i$-th {axis} of $X$",
    "Let $x_i$ denote the {axis}s of $X$",
    r"We write $x_i \in \mathbb{R}^n$ for the {axis}s of the matrix $X$",
]


@pytest.mark.parametrize("front", FRONTS)
@pytest.mark.parametrize("axis", ["row", "column"])
def test_words_in_front_tell_rows_or_columns(front, axis):
    latex = front.replace("{axis}", axis) + r". The loss is \[ \sum_{i=1}^n (x_i^\top w)^2. \]"
    expected = np.sum((S @ w) ** 2) if axis == "row" else np.sum((S.T @ w) ** 2)
    np.testing.assert_allclose(value(latex, "X: matrix(n, n); w: vector(n)", X=S, w=w), expected)


OTHERS = [
    r"\[ {f}, \] where $x_i$ is a sample, and the columns of $X$ are centred.",
    r"Let $x_i$ be samples. The columns of $X$ have mean zero. Then \[ {f}. \]",
    r"\[ {f}, \] where $n$ is the number of rows of $X$.",
]


@pytest.mark.parametrize("latex", OTHERS)
def test_words_of_other_rows_and_columns_tell_nothing(latex):
    latex = latex.replace("{f}", r"\sum_{i=1}^n \|x_i\|")
    np.testing.assert_allclose(value(latex, "X: matrix(n, d)", X=R), np.sum(np.linalg.norm(R, axis=1)))


@pytest.mark.parametrize(("large", "small"), [("X", "x"), (r"\Theta", r"\theta"), (r"\mathbf{X}", r"\mathbf{x}")])
@pytest.mark.parametrize("axis", ["row", "column"])
@pytest.mark.parametrize("of", ["the matrix {large}", "{large}", "the matrix of the parameters"])
def test_letters_of_matrices(large, small, axis, of):
    of = of.replace("{large}", f"${large}$")
    latex = rf"\sum_{{i=1}}^n ({small}_i^\top w)^2, where ${small}_i$ is the $i$-th {axis} of {of}."
    name = "Theta" if "heta" in large else "X"
    expected = np.sum((S @ w) ** 2) if axis == "row" else np.sum((S.T @ w) ** 2)
    let = f"{name}: matrix(n, n); w: vector(n)".replace("w:", r"\mathbf{w}:" if "mathbf" in large else "w:")
    latex = latex.replace("w)", r"\mathbf{w})") if "mathbf" in large else latex
    np.testing.assert_allclose(value(latex, let.replace(r"\mathbf{w}", "w"), **{name: S, "w": w}), expected)


def test_rows_of_one_and_columns_of_another_matrix():
    words = "$x_i$ are the rows of $X$ and $z_j$ are the columns of $Z$"
    latex = rf"\sum_{{i=1}}^n \sum_{{j=1}}^n (x_i^\top z_j)^2, where {words}."
    found = value(latex, "X, Z: matrix(n, n)", X=S, Z=T)
    np.testing.assert_allclose(found, np.sum((S @ T) ** 2))


@pytest.mark.parametrize(
    "words",
    [
        "$x_i$ and $z_j$ are the rows of $X$ and the columns of $Z$, respectively",
        "$x_i$ are the rows and columns of $X$",
        "$x_i$ is the $i$-th row of $A$",
        "$x_i$ are the rows of $X$ and the columns of $X$",
    ],
)
def test_words_of_rows_that_are_unclear_are_refused_or_right(words):
    latex = rf"\sum_{{i=1}}^n \sum_{{j=1}}^n (x_i^\top z_j)^2, where {words}."
    try:
        found = value(latex, "X, Z, A: matrix(n, n)", X=S, Z=T)
    except mc.MatcalcError:
        return
    np.testing.assert_allclose(found, np.sum((S @ T) ** 2))


SPACES = [
    (r"x_i \in \mathbb{R}^3", "X: matrix(n, 3)", {"X": R}),
    (r"x_i \in \mathbb{R}^3", "x: matrix(n, 3)", {"x": R}),
    (r"x_i \in \mathbb{R}^d", "X: matrix(n, d)", {"X": R}),
    (r"x_i \in \mathbb{R}^d", "X: matrix(d, n)", {"X": R.T}),
    (r"x_i, x_j \in \mathbb{R}^d", "x: matrix(d, n)", {"x": R.T}),
    (r"\mathbf{x}_i \in \mathbb{R}^d", "X: matrix(d, n)", {"X": R.T}),
]


@pytest.mark.parametrize(("space", "let", "data"), SPACES)
@pytest.mark.parametrize("frame", [r"{f}, \quad {w}", "{f}, where ${w}$ are points.", r"\[ {f}, \] with ${w}$."])
def test_a_set_tells_rows_or_columns(frame, space, let, data):
    f = r"\sum_{i<j} \|x_i - x_j\|" if "mathbf" not in space else r"\sum_{i<j} \|\mathbf{x}_i - \mathbf{x}_j\|"
    truth = sum(np.linalg.norm(R[i] - R[j]) for j in range(4) for i in range(j))
    np.testing.assert_allclose(value(frame.replace("{f}", f).replace("{w}", space), let, **data), truth)


DENIED = [
    (r"x \in \mathbb{R}^m", "x: vector(n); A: matrix(m, n)"),
    (r"x \in \mathbb{R}", "x: vector(n); A: matrix(m, n)"),
    (r"A \in \mathbb{R}^{n \times m}", "x: vector(n); A: matrix(m, n)"),
    (r"A \in \mathbb{R}^{n \times n}", "x: vector(n); A: matrix(m, n)"),
    (r"A \in \mathbb{R}^n", "x: vector(n); A: matrix(m, n)"),
    (r"x_i \in \mathbb{R}^n", "x: vector(n); A: matrix(m, n)"),
]


@pytest.mark.parametrize(("space", "let"), DENIED)
@pytest.mark.parametrize("frame", [r"{f}, \quad {w}", "{f}, where ${w}$ is data."])
def test_a_set_that_denies_a_declaration_is_refused(frame, space, let):
    with pytest.raises(mc.MatcalcError, match="this set denies it"):
        mc.expression(frame.replace("{f}", r"\|A x\|^2").replace("{w}", space), let, dialect="latex")


LET = "A: matrix(m, n); x: vector(n); S: matrix(n, n); a: scalar; X: matrix(n, m)"
WORDS_DENIED = [
    "$A$ is a vector", "$x$ is a matrix", "$a$ is the vector of weights", "$x$ is a scalar",
    r"$A$ is an $n \times m$ matrix", r"$S$ is an $m \times n$ matrix", "$A$ is symmetric",
    "$A$ is a symmetric positive definite matrix", "$x$ is a row vector", "$x_i$ is the feature vector of user $i$",
    "$n$ is the number of rows of $A$", "$m$ is the number of columns in $A$", r"$A$ is a known, $m \times m$ matrix",
]  # fmt: skip
WORDS_FINE = [
    "$A$ is a matrix", "$A$ is a tall matrix", "$x$ is the vector of coefficients", "$a$ is a scalar",
    r"$A$ is an $m \times n$ matrix", r"$S$ is a symmetric $n \times n$ matrix", "$S$ is symmetric positive definite",
    "$a$ weights the norm of the vector $x$", "$x_i$ is the amount for user $i$", "$x$ is the unknown vector",
    "$n$ is the number of columns of $A$", "$m$ is the number of samples", "$A$ is the matrix norm weight",
]  # fmt: skip


@pytest.mark.parametrize("words", WORDS_DENIED)
def test_words_that_deny_a_declaration_are_refused(words):
    with pytest.raises(mc.MatcalcError, match="deny|columns here|not the number"):
        mc.expression(rf"a \|A x\|^2 + x^\top S x, where {words}.", LET, dialect="latex")


@pytest.mark.parametrize("words", WORDS_FINE)
def test_words_that_agree_with_a_declaration_change_nothing(words):
    found = mc.expression(rf"a \|A x\|^2 + x^\top S x, where {words}.", LET, dialect="latex")
    assert found.node is mc.expression("a*norm2(A*x)^2 + x'*S*x", LET).node


CONVENTIONS = [
    (r"\[ \sum_i x_i \log x_i, \] where $x$ is given and logarithms are to base 2.", "natural"),
    (r"All logarithms are in base $2$. Then \[ \sum_i x_i \log x_i. \]", "natural"),
    (r"\[ \sum_i i x_i, \] where $x$ is data and indices start at 0.", "count from 1"),
    (r"\[ \sum_i \sin(x_i), \] where $x$ holds angles in degrees.", "radians"),
    (r"\[ \sum_i x_i x_{i+1}, \] where $x$ is a chain with periodic boundary conditions.", "beyond the last"),
]


@pytest.mark.parametrize(("latex", "message"), CONVENTIONS)
def test_words_that_deny_a_convention_are_refused(latex, message):
    with pytest.raises(mc.MatcalcError, match=message):
        mc.expression(latex, "x: vector(n)", dialect="latex")


@pytest.mark.parametrize(
    "words", ["a periodic signal", "a walk that starts at zero", "a cyclic rate", "a basis of 10 items"]
)
def test_words_that_deny_no_convention_change_nothing(words):
    found = mc.expression(rf"\sum_i \log x_i, where $x$ is {words}.", "x: vector(n)", dialect="latex")
    assert found.node is mc.expression("sum(log(x))", "x: vector(n)").node


@pytest.mark.parametrize("sign", [r"\sigma", r"\sigma(\cdot)"])
def test_a_declared_symbol_is_not_the_function_of_its_letter(sign):
    latex = rf"\sigma^2 \|x\|^2, where ${sign}$ is the logistic function."
    with pytest.raises(mc.MatcalcError, match="deny"):
        mc.expression(latex, "x: vector(n); sigma: scalar", dialect="latex")


GRADIENTS = [
    (r"\nabla D", r"\nabla D(x)", r"\nabla D(t)"),
    (r"\nabla D", r"\nabla_x D(x)", r"\nabla_x D(t)"),
    (r"\nabla D", r"\nabla \mathcal{D}(x)", r"\nabla \mathcal{D}(t)"),
]


@pytest.mark.parametrize(("name", "use", "left"), GRADIENTS)
def test_a_gradient_that_a_line_defines_is_used(name, use, left):
    latex = rf"\|{use}\|^2 + a, \quad {left} = S^\top t + a t"
    let = "S: matrix(n, n); x: vector(n); a: scalar"
    expected = np.sum((S.T @ w + 0.5 * w) ** 2) + 0.5
    np.testing.assert_allclose(value(latex, let, S=S, x=w, a=0.5), expected)


@pytest.mark.parametrize("name", [r"\nabla E", r"\nabla^2 E", r"\frac{\partial E}{\partial x}"])
def test_a_derivative_without_arguments_that_a_line_defines_is_used(name):
    latex = rf"L = x^\top {name}, \quad {name} = S x"
    np.testing.assert_allclose(value(latex, "S: matrix(n, n); x: vector(n)", S=S, x=w), w @ S @ w)


@pytest.mark.parametrize("use", [r"\nabla E", r"\nabla_x D(x)", r"\nabla^2 D(x)"])
def test_another_derivative_than_the_defined_one_is_refused(use):
    with pytest.raises(mc.MatcalcError):
        mc.expression(rf"\|{use}\|^2, \quad \nabla D(x) = S x", "S: matrix(n, n); x: vector(n)", dialect="latex")
