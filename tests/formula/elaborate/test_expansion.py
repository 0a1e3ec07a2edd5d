"""Operands of two kinds under each operator, against NumPy: columns, rows and lengths of 1 expand, others raise.

In the matrix language a column is compared as an array of one column, a row as one of one row. Objects and NumPy's
spelling are compared as they are. Every pair of kinds is tested, in values and in derivatives.
"""

import runpy
from itertools import product

import numpy as np
import pytest

import matcalc as mc

OPERATORS = {".+": np.add, ".-": np.subtract, ".*": np.multiply, "./": np.divide, ".^": np.power}
SIZES = {"m": 2, "n": 3, "k": 4}
DECLARED = (
    "s: scalar positive; x: vector(m) positive; z: vector(n) positive; v: vector(1) positive; X: matrix(m, n) positive;"
    "A: matrix(m, 1) positive; B: matrix(1, n) positive; C: matrix(1, 1) positive; T: tensor(m, n, k) positive;"
    "U: tensor(m, 1, k) positive"
)
SHAPES = {"s": (), "x": (2,), "z": (3,), "v": (1,), "X": (2, 3), "A": (2, 1), "B": (1, 3), "C": (1, 1)}
SHAPES |= {"T": (2, 3, 4), "U": (2, 1, 4)}
RANDOM = np.random.default_rng(3)
DATA = {name: RANDOM.uniform(0.5, 1.5, shape) for name, shape in SHAPES.items()}

TEXTS = ["s", "x", "z'", "v", "v'", "X", "A", "B", "C", "T", "U"]
PAIRS = list(product(TEXTS, repeat=2))


def as_matrix(text: str, value: np.ndarray) -> np.ndarray:
    """Return a column as an array of one column, a row as one of one row."""
    if value.ndim != 1:
        return value
    return value[None, :] if text.endswith("'") else value[:, None]


def expected(one: str, operator: str, other: str, data: dict[str, np.ndarray]) -> np.ndarray | None:
    """Return NumPy's value, as a vector where no operand is a matrix; None where the language rejects the pair."""
    pair = [data[text[0]] for text in (one, other)]
    ranks = [value.ndim for value in pair]
    if 3 in ranks and min(ranks) < 3:
        if not all(value.size == 1 and value.ndim != 1 for value in pair if value.ndim < 3):
            return None
        return OPERATORS[operator](*(value.reshape(()) if value.ndim < 3 else value for value in pair))
    vectors = [text for text, rank in zip((one, other), ranks, strict=True) if rank == 1]
    is_vector = all(rank < 2 or value.shape == (1, 1) for rank, value in zip(ranks, pair, strict=True)) and vectors
    is_vector = is_vector and len({text.endswith("'") for text in vectors}) == 1
    if 3 not in ranks:
        pair = [as_matrix(text, value) for text, value in zip((one, other), pair, strict=True)]
    value = OPERATORS[operator](*pair)
    return value.reshape(-1) if is_vector else value


def written(one: str, operator: str, other: str) -> str:
    return f"{one} {operator} ({other})"


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize(("one", "other"), PAIRS)
@pytest.mark.sampled(21)
def test_two_kinds_expand_as_in_numpy_or_are_refused(operator, one, other):
    wanted = expected(one, operator, other, DATA)
    if wanted is None:
        with pytest.raises(mc.ShapeError, match="index form"):
            mc.expression(written(one, operator, other), DECLARED)
        return
    e = mc.expression(written(one, operator, other), DECLARED)
    value = e(**{name: DATA[name] for name in e.symbols})
    assert np.shape(value) == wanted.shape
    np.testing.assert_allclose(value, wanted, rtol=1e-13)
    assert mc.expression(str(e), e.declarations).node is e.node


def derivatives(operator):
    """Return for each pair that expands (f, names, gradients of f by complex steps), f a weighted sum of its square."""
    for one, other in PAIRS:
        if expected(one, operator, other, DATA) is None:
            continue
        names = list(dict.fromkeys(text[0] for text in (one, other)))
        steps = []
        for name in names:
            gradient = np.empty(SHAPES[name])
            for at in np.ndindex(*SHAPES[name]):
                moved = {n: value.astype(complex) for n, value in DATA.items()}
                moved[name][at] += 1e-30j
                value = expected(one, operator, other, moved)
                gradient[at] = np.sum(value**2).imag / 1e-30
            steps.append(gradient)
        inner = written(one, operator, other)
        yield mc.expression(f"sum(({inner}).^2)", DECLARED), names, steps


@pytest.mark.whole
@pytest.mark.parametrize("operator", OPERATORS)
def test_gradients_are_those_of_complex_steps(operator):
    for f, names, steps in derivatives(operator):
        for name, step in zip(names, steps, strict=True):
            gradient = f.gradient(name)
            assert mc.expression(str(gradient), gradient.declarations).node is gradient.node
            value = gradient(**{n: DATA[n] for n in gradient.symbols})
            np.testing.assert_allclose(value, step, rtol=1e-11, atol=1e-12, err_msg=f"{f} in {name}")


@pytest.mark.whole
@pytest.mark.parametrize(
    ("target", "operator"), [*(("numpy", operator) for operator in OPERATORS), ("numba", ".*"), ("numba", ".+")]
)
@pytest.mark.thinned(2)
def test_compiled_gradients_are_those_of_complex_steps(target, operator):
    cases = list(derivatives(operator))
    outputs = [f.gradient(name) for f, names, _ in cases for name in names]
    fn = mc.compile(outputs, target=target)
    values = fn(**{name: DATA.get(name, SIZES.get(name)) for name in fn.args})
    for value, step in zip(values, (step for *_, steps in cases for step in steps), strict=True):
        np.testing.assert_allclose(value, step, rtol=1e-11, atol=1e-12)


# NumPy's own broadcasting, on objects and in its spelling.

NAMED = "s: scalar positive; w: vector(n) positive; v: vector(1) positive; X: matrix(m, n) positive;"
NAMED += "A: matrix(m, 1) positive; B: matrix(1, n) positive; C: matrix(1, 1) positive; y: vector(m) positive;"
NAMED += "T: tensor(k, m, n) positive; U: tensor(k, 1, n) positive; V: tensor(1, m, 1) positive"
LIKE_NUMPY = {"s": (), "w": (3,), "v": (1,), "X": (2, 3), "A": (2, 1), "B": (1, 3), "C": (1, 1), "y": (2,)}
LIKE_NUMPY |= {"T": (4, 2, 3), "U": (4, 1, 3), "V": (1, 2, 1)}
ARRAYS = {name: RANDOM.uniform(0.5, 1.5, shape) for name, shape in LIKE_NUMPY.items()}
BINARY = {
    "{} + {}": np.add, "{} - {}": np.subtract, "{} * {}": np.multiply, "{} / {}": np.divide, "{} ** {}": np.power,
    "np.hypot({}, {})": np.hypot, "np.add({}, {})": np.add, "np.maximum({}, {})": np.maximum,
}  # fmt: skip


def on_objects(spelling: str, one: mc.Expression, other: mc.Expression) -> mc.Expression:
    functions = {"hypot": mc.hypot, "maximum": mc.maximum, "add": lambda a, b: a + b}
    scope = {"np": type("np", (), {k: staticmethod(f) for k, f in functions.items()}), "a": one, "b": other}
    return eval(spelling.format("a", "b"), scope)


@pytest.mark.parametrize("spelling", BINARY)
@pytest.mark.parametrize("way", ["objects", "text"])
@pytest.mark.sampled(30)
def test_objects_and_numpys_spelling_broadcast_as_numpy_does(spelling, way):
    symbols = {str(e): e for e in mc.symbols(NAMED)}
    for one, other in product(LIKE_NUMPY, repeat=2):

        def made(one=one, other=other):
            if way == "objects":
                return on_objects(spelling, symbols[one], symbols[other])
            return mc.expression(spelling.format(one, other), NAMED, dialect="numpy")

        try:
            wanted = BINARY[spelling](ARRAYS[one], ARRAYS[other])
        except ValueError:
            with pytest.raises(mc.ShapeError, match="differ|unequal"):
                made()
            continue
        e = made()
        value = e(**{name: ARRAYS[name] for name in e.symbols})
        assert np.shape(value) == wanted.shape, (one, other)
        np.testing.assert_allclose(value, wanted, rtol=1e-13, err_msg=f"{one} {other}")


@pytest.mark.parametrize("text", ["x .+ y", "X .* Y", "X ./ y'", "X .^ y", "X .- Y"])
def test_sizes_that_may_be_equal_at_run_time_are_not_taken_to_be(text):
    with pytest.raises(mc.ShapeError, match="differ|a vector is no matrix"):
        mc.expression(text, "x: vector(m); y: vector(p); X: matrix(m, n); Y: matrix(m, p)")


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("X .- Y .+ Z", "X .- Y .+ Z"),
        ("X + Y .+ Z - X", "X + Y .+ Z - X"),
        ("(X + Y) .- (Z + X)", "X + Y .- (Z + X)"),
        ("X .- (Y .+ Z)", "X .- (Y .+ Z)"),
        ("-X .+ -Y", "-X .+ -Y"),
        ("2.+x", "2 .+ x"),
        ("2.-.5", "2 .- 0.5"),
        ("x.-1", "x .- 1"),
        ("2*X .− Y", "2*X .- Y"),
    ],
)
def test_dotted_signs_are_read_from_left_to_right_and_written(text, written):
    from matcalc.language.read import read
    from matcalc.language.syntax import same
    from matcalc.language.write import text as write

    tree = read(text)
    assert write(tree) == written
    assert same(read(written), tree)


HINTS = [
    ("X + x", "write X .+ x"),
    ("X + z", "write X .+ z'"),
    ("X - z'", "write X .- z'"),
    ("x - X", "write x .- X"),
    ("Q + z", "write Q .+ z or Q .+ z'"),
    ("x + z'", "write x .+ z'"),
    ("x + x'", "transpose one of the two, or write x .+ x'"),
    ("X + B", "write X .+ B"),
    ("X*z*s + X", "write (X*z*s) .+ X"),
    ("X.*z", "write X.*z'"),
    ("X.^z", "write X.^(z')"),
    ("X./(z + z)", "write X./(z + z)'"),
    ("x .+ y", "write x .+ y'"),
]


@pytest.mark.parametrize(("text", "hint"), HINTS)
def test_the_error_of_a_plain_operator_shows_the_dotted_form_that_fits(text, hint):
    declared = "X: matrix(m, n); Q: matrix(n, n); x: vector(m); y: vector(k); z: vector(n); B: matrix(1, n); s: scalar"
    with pytest.raises(mc.ShapeError) as caught:
        mc.expression(text, declared)
    assert caught.value.hint.splitlines()[-1].strip() == hint.replace("(X*z*s)", "X*z*s")
    for form in hint.split("write ")[1].split(" or "):
        mc.expression(form, declared)


def normalised_fourth_moment(X):
    centred = X - X.mean(axis=0)
    return np.sum((centred / np.sqrt(np.mean(centred**2, axis=0))) ** 4)


@pytest.mark.whole
def test_a_formula_of_the_readme_is_centred_and_scaled(tmp_path):
    """By plain evaluation and by a saved file, against NumPy and complex steps."""
    f = mc.expression("sum(((X .- mean(X, axis=0)')./std(X, axis=0)').^4)", "X: matrix(m, n)")
    X = RANDOM.normal(size=(5, 3))
    assert f(X=X) == pytest.approx(normalised_fourth_moment(X), rel=1e-12)
    steps = np.empty(X.shape)
    for at in np.ndindex(*X.shape):
        moved = X.astype(complex)
        moved[at] += 1e-30j
        steps[at] = normalised_fourth_moment(moved).imag / 1e-30
    np.testing.assert_allclose(f.gradient("X")(X=X), steps, rtol=1e-9, atol=1e-10)
    mc.value_and_gradient(f, "X", target="numpy", name="moment").save(tmp_path / "moment.py")
    saved = runpy.run_path(str(tmp_path / "moment.py"))
    value, gradient = saved["moment"](X)
    assert value == pytest.approx(normalised_fourth_moment(X), rel=1e-12)
    np.testing.assert_allclose(gradient, steps, rtol=1e-9, atol=1e-10)
