"""NumPy's functions on symbols compute as on arrays, or raise an error by name: each of them, and random programs."""

import runpy
import warnings

import numpy as np
import pytest
import scipy.special as special

import matcalc as mc
from matcalc.expressions.operands.numpy_protocol import Condition
from tests.expressions.numpy_programs import AXES, FIXED, SCOPE, data, programs

DECLARED = {e.node.name: e for e in mc.symbols(FIXED)}
REFUSALS = (mc.NotSupported, mc.ShapeError)
ARGUMENTS = [
    ("X",),
    ("A",),
    ("w",),
    ("s",),
    ("T",),
    ("X", "X"),
    ("X", "w"),
    ("A", "w"),
    ("w", "w"),
    ("A", "A"),
    ("y", "X"),
    ("T", "X"),
    ("X", 0),
    ("X", 1),
    ("w", 2),
    ("w", 1, 0),
    ("X", (3, 4)),
    ("X", "X", "X"),
    ("w", "w", "w"),
    (["X", "X"],),
    (["w", "w"],),
    (["X", "X"], 1),
    ("X", ["w", "w"]),
    ("ij->ji", "X"),
    ("X", None),
    (["X", "w"], ["X", "X"]),
]
PLAIN = (int, float, bool, str, tuple, np.generic)
ARRAYS = [
    (f"{module.__name__}.{name}", value)
    for module in (np, np.linalg, np.fft, special)
    for name, value in sorted(vars(module).items())
    if (hasattr(value, "_implementation") or isinstance(value, np.ufunc)) and not name.startswith("_")
]
CHANGING = ("copyto", "put", "place", "putmask", "fill_diagonal", "put_along_axis")
FREE = ("empty_like", "shares_memory", "may_share_memory", "save", "savetxt", "savez", "savez_compressed")
"""Functions whose results the entries of their arguments do not determine, or that return none."""
OF_CHOICE = ("qr", "svd", "eigh", "eig", "eigvals")
"""Functions with results that are unique only up to sign or order; NumPy and matcalc follow different conventions."""


def filled(template, values):
    if isinstance(template, list):
        return [filled(one, values) for one in template]
    return values.get(template, template) if isinstance(template, str) else template


def entries(made, given):
    """Return the value of a result on symbols."""
    if isinstance(made, (tuple, list)):
        return [entries(one, given) for one in made]
    if isinstance(made, Condition):
        made = made.astype(float)
    if isinstance(made, mc.Expression):
        return made(**{name: given[name] for name in made.symbols})
    return made


def compared(theirs, ours):
    if isinstance(ours, list):
        assert len(theirs) == len(ours)
        for one, other in zip(theirs, ours, strict=True):
            compared(one, other)
        return
    theirs = np.asarray(theirs)
    assert np.shape(ours) == theirs.shape
    np.testing.assert_allclose(ours, theirs.astype(float), rtol=1e-9, atol=1e-10)


@pytest.mark.sampled(30)
@pytest.mark.parametrize(("name", "function"), ARRAYS, ids=[name for name, _ in ARRAYS])
def test_each_function_does_what_it_does_on_arrays_or_refuses(name, function):
    """Every function that NumPy dispatches, and every elementwise one of SciPy's, with arguments of every shape."""
    given = data(7)
    if name.startswith("scipy"):
        given = {key: 0.1 + np.abs(value) for key, value in given.items()}  # in the domain of all of them
    for template in ARGUMENTS:
        if "ij->ji" in template and name != "numpy.einsum":
            continue
        arguments = [filled(one, DECLARED) for one in template]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", DeprecationWarning)
                made = function(*arguments)
        except REFUSALS as refusal:
            assert str(refusal)
            continue
        except (TypeError, ValueError, AttributeError, Warning):
            continue  # NumPy's own error for unsuitable arguments
        if function.__name__ in FREE or made is None:
            continue
        with np.errstate(all="ignore"):
            theirs = function(*[filled(one, given) for one in template])
        if function.__name__ in OF_CHOICE:
            continue
        compared(theirs, entries(made, given))


def agrees(program, number):
    """Compare a traced program with its run on arrays."""
    traced = mc.expression(program.function(), program.declarations)
    given = data(number)
    with np.errstate(all="ignore"):
        value = traced(**{name: given[name] for name in traced.symbols if name in given})
    assert np.shape(value) == program.value.shape, program.text
    np.testing.assert_allclose(value, program.value, rtol=1e-8, atol=1e-9, err_msg=program.text)


@pytest.mark.parametrize(
    "function",
    [
        lambda X: np.var(X, ddof=X.shape[0]),
        lambda X: np.std(X, ddof=np.array(1), axis=0),
        lambda X: np.linalg.vector_norm(X, ord=None, axis=1),
        lambda X: np.linalg.tensordot(X, X[::-1].T, axes=1),
        lambda X: np.sum(X[0] - np.array(2.0, dtype=object)),
    ],
)
def test_arguments_that_are_no_plain_numbers(function):
    given = np.random.default_rng(3).standard_normal((4, 3))
    (X,) = mc.symbols("X: matrix(m, n)")
    np.testing.assert_allclose(function(X)(given), np.float64(function(given)), rtol=1e-13)


@pytest.mark.parametrize("degrees", ["a", None])
def test_a_parameter_that_is_no_number(degrees):
    (X,) = mc.symbols("X: matrix(m, n)")
    with pytest.raises(mc.NotSupported, match=r"np\.var: .* is no array, number or symbol"):
        np.var(X, ddof=degrees)


def shares(count):
    """Return the parameters of the parts of a long run; each fifth part is in the whole suite."""
    return [pytest.param(k, marks=pytest.mark.long if k % 5 else pytest.mark.whole) for k in range(count)]


@pytest.mark.whole
def test_random_programs():
    for number, program in enumerate(programs(60)):
        agrees(program, number)


def agrees_or_is_refused(program, number):
    """Compare a traced program with its run on arrays; return 1 if it is refused."""
    try:
        mc.expression(program.function(), program.declarations)
    except REFUSALS as fault:
        assert "line" in str(fault), program.text
        return 1
    agrees(program, number)
    return 0


@pytest.mark.whole
def test_random_code():
    refused = [agrees_or_is_refused(program, number) for number, program in enumerate(programs(80, 4, 1, code=True))]
    assert sum(refused) <= 8


@pytest.mark.thinned(4)
@pytest.mark.parametrize("part", shares(20))
def test_three_thousand_random_programs_of_code(part):
    """3,000 programs with sizes, known places, masks, writes and SciPy's functions: equal, or refused with the line."""
    every = enumerate(programs(3000, 5, 2, code=True))
    found = [agrees_or_is_refused(program, number) for number, program in every if number % 20 == part]
    assert sum(found) <= len(found) / 5


@pytest.mark.whole
def test_derivatives_of_random_code():
    refused = 0
    for number, program in enumerate(programs(12, 3, 3, code=True)):
        try:
            slope_agrees(program, number, "numpy")
        except REFUSALS:
            refused += 1
    assert refused <= 3


@pytest.mark.thinned(4)
@pytest.mark.parametrize("part", shares(20))
def test_two_thousand_random_programs(part):
    """2,000 programs of fixed and of open sizes, six steps deep: all traced, all equal."""
    for number, program in enumerate(programs(2000)):
        if number % 20 == part:
            agrees(program, number)


def slopes(function, given, name, step=1e-6):
    """Return the gradient of a scalar function of arrays by central differences."""
    found = np.zeros_like(given[name])
    for at in np.ndindex(found.shape):
        shifted = [{**given, name: given[name].copy()} for _ in range(2)]
        for one, sign in zip(shifted, (1, -1), strict=True):
            one[name][at] += sign * step
        found[at] = (function(**shifted[0]) - function(**shifted[1])) / (2 * step)
    return found


def score(X, A, w, y, s):
    z = np.tanh(X @ A) * w
    p = np.exp(z - np.max(z, axis=1, keepdims=True))
    p = p / p.sum(axis=1, keepdims=True)
    q = np.einsum("ij,ij->i", p, X) + np.where(y > 0, y**2, s * y)
    G = X.T @ X + np.eye(3)
    return np.mean(q) + np.linalg.slogdet(G)[1] * s + np.linalg.norm(np.linalg.solve(G, w[::-1]))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("target", [pytest.param("numba", marks=pytest.mark.whole), "numpy"])
def test_gradients_of_a_traced_function(target, tmp_path):
    """Value and gradient in every argument, compiled and from a saved file, against NumPy's own run and differences."""
    given = {name: data(3)[name] for name in "XAwys"}
    fn = mc.value_and_gradient(score, list("XAwys"), FIXED, target=target)
    assert fn.args == tuple("XAwys")
    fn.save(tmp_path / "score.py")
    saved = runpy.run_path(str(tmp_path / "score.py"))[fn.spec.name]
    for run in (fn, saved):
        value, gradients = run(*given.values())
        assert value == pytest.approx(score(**given), rel=1e-12)
        for name, gradient in zip("XAwys", gradients, strict=True):
            np.testing.assert_allclose(gradient, slopes(score, given, name), rtol=2e-6, atol=1e-8, err_msg=name)


def slope_agrees(program, number, target):
    """Compare the gradient of a bounded sum of a program with a difference along a random direction."""
    scope = dict(SCOPE)
    exec(f"def bounded({', '.join(AXES)}):\n    return np.sum(np.tanh({program.text}))", scope)
    function, given = scope["bounded"], data(number)
    rng = np.random.default_rng(number)
    along = {name: rng.standard_normal(np.shape(value)) for name, value in given.items()}
    value, gradients = mc.value_and_gradient(function, list(AXES), program.declarations, target=target)(**given)
    with np.errstate(all="ignore"):
        expected = function(**given)
        up, down = (function(**{k: given[k] + h * along[k] for k in AXES}) for h in (1e-6, -1e-6))
    np.testing.assert_allclose(value, expected, rtol=1e-9, atol=1e-11, err_msg=program.text)
    slope = sum(np.sum(g * along[name]) for name, g in zip(AXES, gradients, strict=True))
    np.testing.assert_allclose(slope, (up - down) / 2e-6, rtol=1e-4, atol=1e-6, err_msg=program.text)


@pytest.mark.whole
def test_derivatives_of_random_programs():
    for number, program in enumerate(programs(2, depth=4, seed=5)):
        slope_agrees(program, number, "numpy")


@pytest.mark.thinned(2)
@pytest.mark.parametrize("part", shares(10))
def test_derivatives_of_four_hundred_random_programs(part):
    """Value and gradient of 400 programs, compiled for NumPy, against NumPy's own run and its differences."""
    for number, program in enumerate(programs(400, depth=4, seed=5)):
        if number % 10 != part:
            continue
        slope_agrees(program, number, "numpy")


@pytest.mark.long
def test_derivatives_of_random_programs_compiled_by_numba():
    for number, program in enumerate(programs(60, depth=4, seed=6)):
        slope_agrees(program, number, "numba")


SEVERAL = {
    function: type(function(np.eye(2)))._fields
    for name, function in ARRAYS
    if name.startswith("numpy.linalg") and name.rpartition(".")[2] in ("slogdet", "eigh", "eig", "qr", "svd")
}


@pytest.mark.parametrize(
    ("function", "field"),
    [(function, field) for function, fields in SEVERAL.items() for field in fields],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_several_results_have_names(function, field):
    """For a square symmetric matrix, each result has NumPy's name and value, up to signs of vectors."""
    S = mc.symbols("S: matrix(4, 4) spd")[0]
    one = getattr(function(S), field)
    assert one == tuple(function(S))[type(function(np.eye(2)))._fields.index(field)]
    given = np.array([[5.0, 1, 0, 0], [1, 4, 1, 0], [0, 1, 3, 1], [0, 0, 1, 2]])
    got, want = one(S=given), getattr(function(given), field)
    by_size = np.sort if function in (np.linalg.eig, np.linalg.eigh) and field == "eigenvalues" else np.array
    if function is not np.linalg.eig or field == "eigenvalues":
        np.testing.assert_allclose(np.abs(by_size(got)), np.abs(by_size(want)), atol=1e-10)


def test_the_full_decomposition_of_a_square_matrix_is_the_thin_one():
    for declared in ("X: matrix(n, n)", "X: matrix(4, 4)"):
        X = mc.symbols(declared)[0]
        assert np.linalg.svd(X, full_matrices=False)[1] == np.linalg.svd(X).S
        assert mc.expression("np.linalg.svd(X)[2]", declared, dialect="numpy") == np.linalg.svd(X).Vh
    for declared in ("X: matrix(m, n)", "X: matrix(3, 4)"):
        X = mc.symbols(declared)[0]
        with pytest.raises(mc.NotSupported, match="full_matrices=False"):
            np.linalg.svd(X)
        with pytest.raises(mc.MatcalcError, match="full_matrices=False"):
            mc.expression("np.linalg.svd(X)[2]", declared, dialect="numpy")
