"""Compiled functions of singular values and eigenvalues: ties, zeros, scales, shapes, one factorisation each."""

import numpy as np
import pytest

import matcalc as mc

TARGETS = ("numba", "numpy")
SHAPES = [(4, 4), (5, 3), (3, 5), (1, 4), (4, 1), (1, 1)]


def pulled(text, target, let="X: matrix(m, n)", wrt="X"):
    return mc.compile(mc.vjp(text, wrt, "G") if wrt else text, target=target)


def pieces(m, n, s, seed=0):
    """Return a matrix with these singular values, and its factors."""
    rng = np.random.default_rng([m, n, seed])
    k = min(m, n)
    U, V = (np.linalg.qr(rng.standard_normal((size, k)))[0] for size in (m, n))
    return (U * s) @ V.T, U, V


def polar_pullback(X, G):
    """Return the adjoint of the polar factor, by the Sylvester equation W*P + P*W = U'G - G'U."""
    m, n = X.shape
    if m < n:
        return polar_pullback(X.T, G.T).T
    U, s, Vt = np.linalg.svd(X, full_matrices=False)
    W = Vt @ ((U @ Vt).T @ G - G.T @ (U @ Vt)) @ Vt.T / (s[:, None] + s)
    inverse = (Vt.T / s) @ Vt
    return (U @ Vt) @ (Vt.T @ W @ Vt) + (G - U @ U.T @ G) @ inverse


@pytest.fixture(scope="module", params=TARGETS[::-1])
def polar(request):
    e = mc.expression("polar_U(X)", "X: matrix(m, n)")
    return mc.compile(e, target=request.param), mc.compile(mc.vjp(e, "X"), target=request.param)


@pytest.mark.parametrize(("m", "n"), SHAPES)
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
@pytest.mark.whole
def test_polar_factor_at_ties_and_scales(polar, m, n, tied, scale):
    k = min(m, n)
    X, U, V = pieces(m, n, np.ones(k) if tied else np.arange(k, 0.0, -1))
    G = np.random.default_rng(1).standard_normal((m, n))
    np.testing.assert_allclose(polar[0](scale * X), U @ V.T, atol=1e-13)
    wanted = polar_pullback(X, G)
    np.testing.assert_allclose(scale * polar[1](scale * X, G), wanted, atol=1e-13 * (1 + np.max(np.abs(wanted))))


@pytest.mark.parametrize("target", ["numpy", pytest.param("numba", marks=pytest.mark.whole)])
@pytest.mark.parametrize("shape", [(4, 3), (3, 4), (4, 4)])
@pytest.mark.sampled(3)
def test_a_smooth_odd_function_is_a_polynomial(target, shape):
    """U*diag(s^3)*V' is X*X'*X, at zero singular values too."""
    e = mc.expression("svdfun(x -> x^3, X)", "X: matrix(m, n)")
    f, g = mc.compile(e, target=target), mc.compile(mc.jvp(e, "X"), target=target)
    rng = np.random.default_rng(3)
    E = rng.standard_normal(shape)
    for s in ((3.0, 2.0, 1.0), (2.0, 2.0, 0.0), (0.0, 0.0, 0.0)):
        X = pieces(*shape, np.resize(s, min(shape)))[0]
        np.testing.assert_allclose(f(X), X @ X.T @ X, atol=1e-12)
        np.testing.assert_allclose(g(X, E), E @ X.T @ X + X @ E.T @ X + X @ X.T @ E, atol=1e-11)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.whole
def test_norms_of_singular_values_have_gradients_of_least_norm(target):
    X, U, V = pieces(5, 4, [3.0, 3.0, 1.0, 0.0])
    for scale in (1e-150, 1.0, 1e150):
        for text, weights in (
            ("nuclear_norm(X)", [1, 1, 1, 0]),
            ("spectral_norm(X)", [0.5, 0.5, 0, 0]),
            ("least_singular(X)", [0, 0, 0, 0]),
        ):
            value, gradient = mc.value_and_gradient(mc.expression(text, "X: matrix(m, n)"), "X", target=target)(
                scale * X
            )
            np.testing.assert_allclose(gradient, (U * weights) @ V.T, atol=1e-14, err_msg=text)
            assert np.isfinite(value)


@pytest.mark.parametrize("target", TARGETS[::-1])
@pytest.mark.parametrize(
    "text", ["spectral_norm(X)", "nuclear_norm(X)", "cond(X)", "sum(svdvals(X).^3)", "sum(exp(svdvals(X)))"]
)
@pytest.mark.sampled(18)
def test_hessians_where_singular_values_are_distinct_or_tied(text, target):
    e = mc.expression(text, "X: matrix(m, n)")
    hvp = mc.compile(mc.hvp(e, "X"), target=target)
    gradient = mc.compile(mc.gradient(e, "X"), target=target)
    smooth_at_ties = text.startswith(("sum", "nuclear"))
    rng = np.random.default_rng(5)
    for m, n in [(4, 4), (5, 3), (3, 5)]:
        X = pieces(m, n, [2.0, 2.0, 1.0, 0.5][: min(m, n)] if smooth_at_ties else np.arange(1.0, 1 + min(m, n)))[0]
        v = rng.standard_normal((m, n))
        h = 1e-4
        steps = {1: 8, 2: -1}
        want = sum(c * (gradient(X + k * h * v) - gradient(X - k * h * v)) for k, c in steps.items()) / (12 * h)
        np.testing.assert_allclose(hvp(X, v), want, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.whole
def test_at_ties_projectors_are_nan_and_sums_of_eigenvalues_share(target):
    S = np.diag([1.0, 2.0, 2.0, 3.0])
    let = "S: matrix(4, 4) symmetric"
    projector = mc.compile(mc.expression("spectral_projector(S, 2)", let), target=target)
    assert np.all(np.isnan(projector(S)))
    np.testing.assert_allclose(projector(S + np.diag([0, 0, 1e-9, 0])), np.diag([0.0, 0, 1, 1]))
    f = mc.value_and_gradient(mc.expression("sum_largest_eig(S, 2)", let), "S", target=target)
    for scale in (1e-150, 1.0, 1e150):
        value, gradient = f(scale * S)
        assert value == pytest.approx(5 * scale)
        np.testing.assert_allclose(gradient, np.diag([0.0, 0.5, 0.5, 1.0]), atol=1e-15)
    lowrank = mc.compile(mc.expression("svd_lowrank(X, 2)", "X: matrix(3, 3)"), target=target)
    assert np.all(np.isnan(lowrank(np.eye(3))))
    np.testing.assert_allclose(lowrank(np.diag([3.0, 0, 0])), np.diag([3.0, 0, 0]), atol=1e-15)


@pytest.mark.whole
@pytest.mark.sampled(3)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("scale", [1e-100, 1.0, 1e100])
def test_ties_of_eigenvalues_and_singular_values_share_what_they_weigh(target, scale):
    """The result is the least of Clarke's gradients of sum(c.*w): it does not depend on the choice of eigenvectors."""
    Q = np.linalg.qr(np.random.default_rng(2).standard_normal((4, 4)))[0]
    c = np.array([1.0, 2.0, 5.0, -1.0])
    S = scale * (Q * [1.0, 3.0, 3.0, 7.0]) @ Q.T
    eigen = mc.value_and_gradient(
        mc.expression("sum(eigvalsh(S).*c)", "S: matrix(n, n) symmetric; c: vector(n)"), "S", target=target
    )
    np.testing.assert_allclose(eigen((S + S.T) / 2, c)[1], (Q * [1.0, 3.5, 3.5, -1.0]) @ Q.T, atol=1e-13)
    X, U, V = pieces(5, 4, [3.0, 2.0, 2.0, 0.0])
    singular = mc.value_and_gradient(
        mc.expression("sum(svdvals(X).*c)", "X: matrix(m, n); c: vector(min(m, n))"), "X", target=target
    )
    np.testing.assert_allclose(singular(scale * X, c)[1], (U * [1.0, 3.5, 3.5, 0.0]) @ V.T, atol=1e-13)


TALL, SQUARE = "X: matrix(5, 3); C: matrix(5, 3)", "X: matrix(4, 4); C: matrix(4, 4)"


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("text", "let", "s"),
    [
        ("sum(svd_U(X).*C)", TALL, [2, 1, 1]),
        ("sum(svd_U(X).*C)", TALL, [2, 1, 0]),
        ("sum(svd_U(X).*C)", SQUARE, [3, 1, 0, 0]),
        ("sum(qr_Q(X).*C)", TALL, [2, 1, 0]),
        ("sum(qr_Q(X).*C)", TALL, [0, 0, 0]),
        ("sum(lu_L(X).*C)", TALL, [2, 1, 0]),
        ("sum(polar_U(X).*C)", TALL, [2, 1, 0]),
        ("sum(polar_U(X).*C)", SQUARE, [2, 1, 1, 0]),
    ],
)
@pytest.mark.whole
def test_what_has_no_derivative_has_no_plausible_one(text, let, s, target):
    f = mc.value_and_gradient(mc.expression(text, let), "X", target=target)
    m, n = mc.expression("X", let).shape
    C = np.random.default_rng(4).standard_normal((int(str(m)), int(str(n))))
    for scale in (1e-100, 1.0, 1e100):
        try:
            gradient = f(scale * pieces(*C.shape, s)[0], C)[1]
        except np.linalg.LinAlgError:
            continue
        assert np.any(np.isnan(gradient))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.whole
def test_the_symmetric_polar_factor_has_the_mean_slope_where_singular_values_are_zero(target):
    """There polar_P is |X|: its slopes along E and -E differ by a part whose mean is 0."""
    f = mc.value_and_gradient(mc.expression("sum(polar_P(X).*C)", SQUARE), "X", target=target)
    X = pieces(4, 4, [2.0, 1.0, 0.0, 0.0])[0]
    C, E = np.random.default_rng(4).standard_normal((2, 4, 4))

    def value(t):
        _, s, Vt = np.linalg.svd(X + t * E)
        return np.sum((Vt.T * s) @ Vt * C)

    near, far = ((value(h) - value(-h)) / (2 * h) for h in (1e-6, 2e-6))
    slope = 2 * near - far  # the mean changes with |h|
    np.testing.assert_allclose(np.sum(f(X, C)[1] * E), slope, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("target", ["numpy", pytest.param("numba", marks=pytest.mark.whole)])
@pytest.mark.whole
def test_singular_vectors_of_a_square_matrix_of_rank_one_less(target):
    """Each left singular vector still changes smoothly: they are the eigenvectors of X*X'."""
    X, U, _ = pieces(4, 4, [3.0, 2.0, 1.0, 0.0])
    C, E = np.random.default_rng(5).standard_normal((2, 4, 4))
    gradient = mc.value_and_gradient(mc.expression("sum(svd_U(X).*C)", SQUARE), "X", target=target)(X, C)[1]
    h = 1e-3
    value = lambda M: np.sum(signed(np.linalg.eigh(M @ M.T)[1][:, ::-1]) * C)  # noqa: E731
    steps = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}
    want = sum(c * (value(X + k * h * E) - value(X - k * h * E)) for k, c in steps.items()) / h
    assert np.sum(gradient * E) == pytest.approx(want, rel=1e-8)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("shape", [(4, 3), (3, 4), (3, 3)])
@pytest.mark.whole
@pytest.mark.thinned(2)
def test_second_derivative_of_the_polar_factor(target, shape):
    let = f"X: matrix({shape[0]}, {shape[1]}); C: matrix({shape[0]}, {shape[1]})"
    e = mc.expression("sum(polar_U(X).*C)", let)
    hvp, gradient = mc.compile(mc.hvp(e, "X"), target=target), mc.compile(mc.gradient(e, "X"), target=target)
    C, v = np.random.default_rng(6).standard_normal((2, *shape))
    h, steps = 1e-3, {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}
    for s in ([3.0, 2.0, 1.0], [2.0, 2.0, 1.0]):
        X = pieces(*shape, s)[0]
        want = sum(c * (gradient(X + k * h * v, C) - gradient(X - k * h * v, C)) for k, c in steps.items()) / h
        np.testing.assert_allclose(hvp(X=X, C=C, v=v), want, atol=1e-9 * np.max(np.abs(want)))
    assert np.any(np.isnan(hvp(X=pieces(*shape, [2.0, 1.0, 0.0])[0], C=C, v=v)))


def signed(V):
    return V * np.sign(V[np.argmax(np.abs(V), axis=0), np.arange(V.shape[1])])


FACTORED = {
    "nuclear_norm(X)": ("X: matrix(m, n)", "svd("),
    "spectral_norm(X)": ("X: matrix(m, n)", "svd_top("),
    "cond(X)": ("X: matrix(m, n)", "svd("),
    "sum(log(svdvals(X)).^2)": ("X: matrix(m, n)", "svd("),
    "sum(polar_U(X).^3)": ("X: matrix(m, n)", "svd("),
    "sum(svd_lowrank(X, 2).^3)": ("X: matrix(m, n)", "svd("),
    "sum(svd_shrink(X, 1/2).^3)": ("X: matrix(m, n)", "svd("),
    "lambda_max(S)": ("S: matrix(n, n) symmetric", "eigh("),
    "sum_largest_eig(S, 2)": ("S: matrix(n, n) symmetric", "eigh("),
    "sum(exp(eigvalsh(S)))": ("S: matrix(n, n) symmetric", "eigh("),
    "sum(psd_part(S).^3)": ("S: matrix(n, n) symmetric", "eigh("),
    "sum(spectral_projector(S, 2).^3)": ("S: matrix(n, n) symmetric", "eigh("),
}


@pytest.mark.whole
@pytest.mark.sampled(4)
@pytest.mark.parametrize("text", FACTORED)
def test_value_and_gradient_need_one_factorisation(text):
    let, name = FACTORED[text]
    f = mc.value_and_gradient(mc.expression(text, let), let[0], target="numpy")
    calls = [line for line in str(f.plan).splitlines() if " = " in line]
    made = [line for line in calls if any(w in line for w in ("svd(", "svdvals(", "svd_top(", "eigh(", "eigvalsh("))]
    assert len(made) == 1 and name in made[0]


@pytest.mark.parametrize("text", FACTORED)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.whole
def test_what_is_not_finite_gives_nan(text, bad):
    let, name = FACTORED[text]
    f = mc.value_and_gradient(mc.expression(text, let), let[0])
    data = np.random.default_rng(0).standard_normal((4, 4))
    data = data + data.T
    data[1, 2] = data[2, 1] = bad
    value, gradient = f(data)
    assert np.isnan(value) and np.all(np.isnan(gradient))


@pytest.mark.whole
@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
@pytest.mark.parametrize("apart", [1e-2, 1e-4, 4e-6, 1e-7, 1e-10])
def test_the_top_pair_of_a_spectral_norm_as_the_next_singular_value_nears(apart, scale):
    """From the Gram matrix, or from all singular values: the digits that the gap allows, against known vectors."""
    fn = mc.value_and_gradient(mc.expression("spectral_norm(X)", "X: matrix(m, n)"), "X")
    for m, n in ((30, 6), (6, 30), (6, 6)):
        k = min(m, n)
        X, U, V = pieces(m, n, scale * np.array([1.0, 1.0 - apart, 0.5, 0.3, 0.2, 0.1][:k]))
        value, slope = fn(X)
        assert value == pytest.approx(scale, rel=1e-14)
        np.testing.assert_allclose(slope, np.outer(U[:, 0], V[:, 0]), atol=1e-14 / apart)


@pytest.mark.whole
def test_a_spectral_norm_needs_all_singular_values_only_beside_others():
    plans = {
        text: str(mc.value_and_gradient(mc.expression(text, "X: matrix(m, n)"), "X").plan)
        for text in ("spectral_norm(X)", "spectral_norm(X) + nuclear_norm(X)")
    }
    assert ["svd(X)" in plan for plan in plans.values()] == [False, True]
    assert "svd_top(X)" not in plans["spectral_norm(X) + nuclear_norm(X)"]


STILL = [
    "norm_two(X)^2",
    "norm_nuc(X)",
    "sum(svd_s(X)[:1])",
    "tr(psd_part(sym(X)))",
    "sum(matfun(abs, sym(X)), axis=1)",
]
"""Functions of equal singular values or eigenvalues, of which some have no derivative there in most directions."""


@pytest.mark.whole
@pytest.mark.parametrize("text", STILL)
@pytest.mark.parametrize("X", [np.eye(3), np.ones((3, 3)), np.zeros((3, 3))], ids=["equal", "rank 1", "zero"])
def test_the_derivative_along_a_zero_direction_is_zero(text, X):
    e = mc.expression(text, "X: matrix(n, n)")
    moved = e.jvp("X", "E") if e.shape else e.hvp("X", "E")
    data = {name: {"X": X, "E": np.zeros((3, 3))}[name] for name in moved.symbols}
    for value in (moved, *(mc.compile(moved, target=target) for target in TARGETS)):
        np.testing.assert_array_equal(np.asarray(value(**data)), np.zeros(moved(**data).shape))
