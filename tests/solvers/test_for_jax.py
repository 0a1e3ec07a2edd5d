"""solvers.jax in JAX itself: jit, vmap and two derivatives against JAX's own, and a fit to a known answer."""

import pickle

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="the extra [jax] is not installed")

import jax.numpy as jnp  # noqa: E402
from solvers import logistic  # noqa: E402

import matcalc as mc  # noqa: E402
from matcalc import solvers  # noqa: E402

LOSS = "norm2(X*w - y)^2 + sum(log(1 + exp(X*w)))"
PLACES = (0, 1, 2)


@pytest.fixture(params=["float64", "float32"])
def precision(request):
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", request.param == "float64")
    yield request.param
    jax.config.update("jax_enable_x64", before)


@pytest.fixture
def double():
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


def loss(X, w, y):
    return jnp.sum((X @ w - y) ** 2) + jnp.sum(jnp.log1p(jnp.exp(X @ w)))


def arrays(*shapes):
    rng = np.random.default_rng(0)
    return tuple(jnp.asarray(rng.standard_normal(shape)) for shape in shapes)


def assert_close(found, expected, precision="float64"):
    one, other = jax.tree.leaves(found), jax.tree.leaves(expected)
    assert len(one) == len(other) > 0
    for a, b in zip(one, other, strict=True):
        assert a.dtype == b.dtype == precision
        assert np.allclose(
            a, b, rtol=1e-11 if precision == "float64" else 2e-5, atol=1e-11 if precision == "float64" else 1e-4
        )


@pytest.mark.parametrize("target", ["numpy", "numba"])
@pytest.mark.whole
def test_derivatives_are_those_of_jax(precision, target):
    f = solvers.jax(LOSS, target=target)
    args = arrays((4, 3), (3,), (4,))
    assert_close(f(*args), loss(*args), precision)
    for wanted in (0, 1, PLACES):
        assert_close(jax.jit(jax.grad(f, wanted))(*args), jax.grad(loss, wanted)(*args), precision)
        second = jax.jacrev(jax.grad(f, wanted), PLACES)(*args)
        assert_close(second, jax.jacfwd(jax.grad(loss, wanted), PLACES)(*args), precision)


@pytest.mark.whole
def test_what_forward_saved_is_not_computed_again_but_in_single_precision(precision, monkeypatch):
    f, calls = solvers.jax("logdet(S) + y'*inv(S)*y", "S: matrix(n, n) spd; y: vector(n)", target="numpy"), []
    A, y = arrays((3, 3), (3,))
    S, forward = A @ A.T + jnp.eye(3), type(f._passes).forward
    monkeypatch.setattr(type(f._passes), "forward", lambda *given: calls.append(1) or forward(*given))
    found = jax.block_until_ready(jax.grad(f, (0, 1))(S, y))
    assert len(calls) == (1 if precision == "float64" else 2)
    own = jax.grad(lambda S, y: jnp.linalg.slogdet(S)[1] + y @ jnp.linalg.solve(S, y), (0, 1))(S, y)
    assert_close(found, own, precision)


@pytest.mark.whole
def test_batches(precision):
    f, (X, _, y, W) = solvers.jax(LOSS, target="numpy"), arrays((4, 3), (3,), (4,), (5, 3))
    for transform in (lambda g: g, jax.jit):
        for g, own in ((f, loss), (jax.grad(f, 1), jax.grad(loss, 1))):
            found = transform(jax.vmap(g, (None, 0, None)))(X, W, y)
            assert_close(found, jax.vmap(own, (None, 0, None))(X, W, y), precision)
    twice = jax.vmap(jax.vmap(f, (None, 0, None)), (0, None, None))
    both = jnp.stack([X, X + 1])
    assert_close(twice(both, W, y), jnp.stack([jax.vmap(loss, (None, 0, None))(one, W, y) for one in both]), precision)
    assert jax.vmap(f, (None, 0, None))(X, W[:0], y).shape == (0,)


@pytest.mark.parametrize(
    ("formula", "let", "own", "shapes"),
    [
        ("tanh(A*B)", "", lambda A, B: jnp.tanh(A @ B), [(2, 3), (3, 2)]),
        ("a*sin(x) + a^2", "a: scalar; x: vector(n)", lambda a, x: a * jnp.sin(x) + a**2, [(), (3,)]),
        ("inv(A)*x", "", lambda A, x: jnp.linalg.solve(A, x), [(3, 3), (3,)]),
    ],
)
@pytest.mark.whole
def test_values_of_any_shape(double, formula, let, own, shapes):
    f, args, places = solvers.jax(formula, let, target="numpy"), arrays(*shapes), tuple(range(len(shapes)))
    assert_close(f(*args), own(*args))
    assert_close(jax.jacrev(f, places)(*args), jax.jacrev(own, places)(*args))
    assert_close(jax.jacrev(jax.jacrev(f, places), places)(*args), jax.jacrev(jax.jacrev(own, places), places)(*args))


@pytest.mark.whole
def test_data_that_is_no_variable(double):
    f = solvers.jax("(X*w)[k]*c", "X: matrix(m, n); w: vector(n); k: index; c: scalar constant", target="numpy")
    X, w = arrays((4, 3), (3,))
    assert_close(jax.grad(f, 1)(X, w, 2, 1.5), 1.5 * X[2])
    assert_close(jax.jit(jax.grad(f, 1))(X, w, 2, 1.5), 1.5 * X[2])


def test_names_and_pickles(double):
    f, (X, w, y) = solvers.jax(LOSS, target="numpy"), arrays((4, 3), (3,), (4,))
    assert_close(f(y=y, X=X, w=w), loss(X, w, y))
    assert_close(pickle.loads(pickle.dumps(f))(X, w, y), loss(X, w, y))


@pytest.mark.whole
def test_newton_reaches_the_known_answer_where_descent_has_not(double):
    f = solvers.jax(logistic.FORMULA, logistic.DECLARATIONS)
    data = {"X": jnp.asarray(logistic.X), "y": jnp.asarray(logistic.Y), "c": logistic.RIDGE}
    gradient = jax.jit(jax.grad(lambda w: f(w=w, **data)))
    hessian = jax.jit(jax.jacrev(jax.grad(lambda w: f(w=w, **data))))
    w, steps = jnp.zeros(4), 0
    while jnp.max(jnp.abs(gradient(w))) > 1e-10:
        w, steps = w - jnp.linalg.solve(hessian(w), gradient(w)), steps + 1
    assert np.allclose(w, logistic.solution(), atol=1e-10)
    descent = jnp.zeros(4)
    for _ in range(10 * steps):
        descent = descent - 0.01 * gradient(descent)
    assert steps <= 8
    assert jnp.max(jnp.abs(gradient(descent))) > 1e-3


@pytest.mark.whole
def test_bad_input_is_one_sentence():
    f, (X, w, y) = solvers.jax(LOSS, target="numpy"), arrays((4, 3), (3,), (4,))
    with pytest.raises(mc.ShapeError, match=r"y: vector\(m\) must have shape \(4,\), not \(3,\)"):
        f(X, w, y[:3])
    with pytest.raises(mc.ShapeError, match="takes an array of 2 axes"):
        jax.jit(f)(w, w, y)
    with pytest.raises(TypeError, match="lacks y"):
        f(X, w)
    with pytest.raises(mc.NotSupported, match="twice, not three times"):
        jax.jacrev(jax.jacrev(jax.grad(f, 1), 1), 1)(X, w, y)
    with pytest.raises(ValueError, match="no argument determines the size n"):
        solvers.jax("a*ones(n)", "a: scalar; n: size", target="numpy")
