"""Plans run on both targets and agree with the evaluator: shared values, fused loops, arrays that are never formed."""

import random
from fractions import Fraction

import numpy as np
import pytest
from compiler.plan.running import check, parse, with_gradients

import matcalc as mc
from matcalc.calculus.derive import conventions
from matcalc.compiler.entrywise import reads
from matcalc.compiler.plan import plan, to_save
from matcalc.compiler.program import Call, Loop, View, statements, walk
from matcalc.pipeline import build
from matcalc.rulebook.load import default_rulebook
from matcalc.tensor.constructors import add, apply, matmul, number, ones, product, symbol, total
from matcalc.tensor.nodes.node import toposort
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.substitute import substitute

FAMILIES = {
    "logistic": (
        "sum(log(1 + exp(-y .* (X*w)))) + lam*w'*w",
        "X: matrix(m, n); y: vector(m); w: vector(n); lam: scalar",
        "w",
    ),
    "least squares": ("norm2(X*w - y)^2", "X: matrix(m, n); y: vector(m); w: vector(n)", "w X"),
    "factorisation": ("norm2(M - U*V')^2", "M: matrix(m, n); U: matrix(m, k); V: matrix(n, k)", "U V"),
    "likelihood": ("logdet(S) + tr(inv(S)*C)", "S: matrix(n, n) spd; C: matrix(n, n) symmetric", "S"),
    "process": (
        "y'*inv(K + s*eye(n))*y + logdet(K + s*eye(n))",
        "K: matrix(n, n) spd; y: vector(n); s: scalar positive",
        "K s",
    ),
    "gram": ("logdet(X'*X)", "X: matrix(m, n)", "X"),
    "inverse": ("tr(A*inv(X)*B)", "A: matrix(p, n); X: matrix(n, n); B: matrix(n, p)", "X A"),
    "kronecker": (
        "vec(X)'*kron(A, B)*vec(X)",
        "X: matrix(p, n); A: matrix(n, n); B: matrix(p, p)",
        "X A",
    ),
    "solve": ("c'*inv(A)*b", "A: matrix(n, n); b: vector(n); c: vector(n)", "A b"),
    "rayleigh": ("(x'*A*x)/(x'*x)", "A: matrix(n, n); x: vector(n)", "x"),
    "exponential": ("tr(expm(X)*A)", "X: matrix(n, n); A: matrix(n, n)", "X"),
    "parts": (
        "norm2(X[1:3, :]*w)^2 + sum(x[::-1].*w)",
        "X: matrix(m, n); w: vector(n); x: vector(n)",
        "X w x",
    ),
    "masks": ("norm2(tril(A)*x)^2 + tr(triu(A, 1)*A)", "A: matrix(n, n); x: vector(n)", "A x"),
    "blocks": (
        "norm2([A, B; C, D]*z)^2",
        "A: matrix(m, n); B: matrix(m, k); C: matrix(p, n); D: matrix(p, k); z: vector(n+k)",
        "A z",
    ),
    "rows": (
        "sum(logsumexp(X*W, axis=1)) + norm2(sum(exp(X), axis=0))",
        "X: matrix(m, n); W: matrix(n, k)",
        "W X",
    ),
    "convolution": ("norm2(conv(x, y))^2", "x: vector(m); y: vector(k)", "x y"),
    "matrix function": (
        "tr(matfun(x -> log(x)^2 + sqrt(x), S)*A)",
        "S: matrix(n, n) spd; A: matrix(n, n)",
        "S",
    ),
    "determinant": ("det(X)*sum(X)", "X: matrix(n, n)", "X"),
}


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", FAMILIES)
def test_numpy(name):
    text, declarations, wrt = FAMILIES[name]
    check(*with_gradients(text, declarations, *wrt.split()), "numpy")


JACOBIANS = {
    "shifts": ("circshift(x, 2).*flip(x)", "x: vector(n)", "x"),
    "gram": ("X'*X", "X: matrix(m, n)", "X"),
    "kron": ("kron(X, A)", "X: matrix(m, n); A: matrix(k, p)", "X"),
    "half": ("vech(S)", "S: matrix(n, n) symmetric", "S"),
    "running sum": ("cumsum(x)", "x: vector(n)", "x"),
    "toeplitz": ("toeplitz(x)*y", "x: vector(n); y: vector(n)", "x"),
    "inverse": ("inv(X)", "X: matrix(n, n)", "X"),
    "factor": ("chol(S)", "S: matrix(n, n) spd", "S"),
    "exponential": ("expm(X)", "X: matrix(n, n)", "X"),
    "equation": ("sylvester(A, B, C)", "A: matrix(n, n); B: matrix(k, k); C: matrix(n, k)", "A"),
    "columns": ("softmax(X, axis=0)", "X: matrix(m, n)", "X"),
    "batch": (
        "{b,i: inv({i,j: T[b,i,j] + eye(n)[i,j]*9})[i,j]*x[j]}",
        "T: tensor(m, n, n); x: vector(n)",
        "T",
    ),
}


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", JACOBIANS)
def test_jacobians_numpy(name):
    text, declarations, wrt = JACOBIANS[name]
    root, symbols = parse(text, declarations)
    jacobian = conventions.finish(conventions.jacobians(root, [s for s in symbols if s.name == wrt]))[0]
    check([("value", root), ("jacobian", jacobian)], symbols, "numpy")


@pytest.mark.parametrize("target", ["numpy", "numba"])
@pytest.mark.parametrize("expected", [3, 50, 500])
@pytest.mark.whole
def test_the_diagonal_of_a_solve_keeps_its_axis(expected, target):
    """The tangent of L is the lower solution of dL*L' + L*dL' = dS: an index of the result is not summed."""
    sizes, solved = {"n": expected}, "diag(inv(L)*A)"
    pushed = mc.compile(mc.jvp("chol(S)", "S", "S: matrix(n, n) spd"), target=target, sizes=sizes)
    diagonal = mc.compile(solved, declarations="L: matrix(n, n) lower; A: matrix(n, n)", target=target, sizes=sizes)
    rng = np.random.default_rng(2)
    for n in (1, 2, 5):
        M, E, A = rng.standard_normal((3, n, n))
        S, E = M @ M.T + n * np.eye(n), E + E.T
        L, dL = np.linalg.cholesky(S), pushed(S=S, dS=E)
        assert np.array_equal(dL, np.tril(dL))
        assert np.allclose(dL @ L.T + L @ dL.T, E, rtol=0, atol=1e-13 * n * np.abs(E).max())
        assert np.allclose(diagonal(L=L, A=A), np.diag(np.linalg.solve(L, A)), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("target", ["numpy", "numba"])
@pytest.mark.whole
def test_a_triangle_that_is_not_square_is_no_triangle_for_a_kernel(target):
    """R of a wide matrix is upper triangular and has more columns than a triangular product would read."""
    pulled = mc.vjp("qr_R(X)", "X", "X: matrix(m, n)")
    rng = np.random.default_rng(4)
    for m, n in ((3, 5), (5, 3), (1, 4), (4, 4)):
        X, E = rng.standard_normal((2, m, n))
        G = rng.standard_normal((min(m, n), n))
        pushed = (mc.compile("qr_R(X)")(X + 1e-6 * E) - mc.compile("qr_R(X)")(X - 1e-6 * E)) / 2e-6
        for compiled_ in (mc.compile(pulled, target=target), mc.compile(pulled, target=target, sizes={"m": m, "n": n})):
            assert np.isclose(np.sum(compiled_(X=X, G=G) * E), np.sum(G * pushed), rtol=1e-6)


NAMES = list(FAMILIES)


@pytest.mark.parametrize("chosen", [NAMES[0:6], NAMES[6:11], NAMES[11:]], ids=["first", "second", "third"])
@pytest.mark.whole
def test_numba(chosen):
    """Compile several families in one function, since compilation takes most of the time."""
    outputs, inputs = [], {}
    for number_, name in enumerate(chosen):
        text, declarations, wrt = FAMILIES[name]
        own, symbols = with_gradients(text, declarations, *wrt.split())
        renamed = {s: symbol(f"{s.name}{number_}", s.shape, sorted(s.facts)) for s in symbols}
        outputs += [(f"{label}{number_}", substitute(node, renamed)) for label, node in own]
        inputs.update(dict.fromkeys(renamed.values()))
    check(outputs, list(inputs), "numba")


def leaves():
    m, n, k = (Size.of(x) for x in "mnk")
    shapes = {"a": (), "x": (m,), "y": (n,), "A": (m, n), "B": (n, k), "C": (n, n), "T": (m, n, k)}
    return [*(symbol(name, shape) for name, shape in shapes.items()), symbol("D", (k, k), ["symmetric"])]


def random_product(r, pool):
    sizes = [r.choice("mnk") for _ in range(r.randint(1, 5))]
    operands = []
    for _ in range(r.randint(1, 5)):
        leaf = r.choice(pool)
        at = []
        for size in leaf.shape:
            fitting = [i for i, s in enumerate(sizes) if s == str(size)]
            if not fitting:
                sizes.append(str(size))
                fitting = [len(sizes) - 1]
            at.append(r.choice(fitting))
        operands.append((leaf, tuple(at)))
    out = tuple(r.randrange(len(sizes)) for _ in range(r.randint(0, 3)))
    return product(r.choice([1, 2, -1]), operands, out, {i: Size.of(s) for i, s in enumerate(sizes)})


def random_outputs(r):
    pool = leaves()
    outputs = []
    for place in range(3):
        node = random_product(r, pool)
        if r.random() < 0.4:
            node = add([(1, node), (2, ones(node.shape))])
        outputs.append((f"out{place}", node))
        if node.rank <= 2 and node.kind not in ("number", "size"):
            pool.append(node)
    return outputs, leaves()


@pytest.mark.parametrize("seed", range(150))
@pytest.mark.sampled(60)
def test_random_products_numpy(seed):
    outputs, inputs = random_outputs(random.Random(seed))
    check(outputs, inputs, "numpy", seed)


@pytest.mark.whole
def test_random_products_numba():
    outputs, inputs = [], leaves()
    for seed in range(12):
        outputs += [(f"{name}_{seed}", node) for name, node in random_outputs(random.Random(seed))[0]]
    check(outputs, inputs, "numba")


# ---- structure of plans


def calls(program):
    return [step.kernel.name for step in walk(program.steps) if isinstance(step, Call)]


def temporaries(program):
    return [b for b in program.buffers if b.role == "temporary"]


def planned(name, **sizes):
    text, declarations, wrt = FAMILIES[name]
    return plan(*with_gradients(text, declarations, *wrt.split()), sizes or {"m": 400, "n": 200, "p": 100, "k": 20})


def test_logistic_is_two_passes_and_one_loop():
    program = planned("logistic")
    assert calls(program) == ["gemv", "gemv"]
    assert [b.shape for b in temporaries(program)] == [(Size.of("m"),)]


def test_one_factorisation_serves_value_and_gradient():
    for name, factor in (("likelihood", "chol"), ("process", "chol"), ("gram", "chol"), ("inverse", "getrf")):
        found = calls(planned(name))
        assert found.count(factor) == 1, name
        assert "getrf" not in found or factor == "getrf", name


def test_a_solve_does_not_form_the_inverse():
    assert "lu_inv" not in calls(planned("solve"))


def test_structured_hessian_needs_nothing_of_its_size():
    root, symbols = parse(*FAMILIES["factorisation"][:2])
    u = next(s for s in symbols if s.name == "U")
    hessian = conventions.finish(conventions.hessians(root, [u])[0])[0]
    program = plan([("hessian", hessian)], symbols)
    k = Size.of("k")
    assert [b.shape for b in temporaries(program)] == [(k, k)]


@pytest.mark.whole
def test_the_terms_of_a_hessian_have_kernels_of_their_own():
    """The factor common to the terms of the sum is, in one term, the other side of a symmetric product."""
    f = mc.expression("sum((tanh(X*W)*w - y).^2)", "X: matrix(m, d); W: matrix(d, h); w: vector(h); y: vector(m)")
    program = build.planned(build.request_of([f.hessian("W")], ["H"])).program
    assert "syrk" in calls(program)
    assert max(len(b.shape) for b in temporaries(program) if Size.of("m") in b.shape) == 3


def test_chain_is_contracted_from_the_vector():
    n = Size.of("n")
    chain = matmul(*(symbol(f"A{i}", (n, n)) for i in range(8)), symbol("x", (n,)))
    assert set(calls(plan([("y", chain)], [a for a in toposort([chain]) if a.kind == "symbol"]))) == {"gemv"}


def test_identity_is_multiplied_out():
    root, symbols = parse("(X'*X + s*eye(n))*w", "X: matrix(m, n); w: vector(n); s: scalar")
    assert calls(plan([("y", root)], symbols)) == ["gemv", "gemv"]


def test_products_of_a_sum_accumulate():
    root, symbols = parse("A*B + C*D", "A: matrix(m, n); B: matrix(n, p); C: matrix(m, k); D: matrix(k, p)")
    program = plan([("y", root)], symbols)
    assert calls(program) == ["gemm", "gemm"]
    assert not temporaries(program)


def test_equal_parts_are_computed_once():
    root, symbols = parse("tr(X'*A*X*X'*A*X)", "X: matrix(n, k); A: matrix(n, n)")
    assert calls(plan([("y", root)], symbols)).count("gemm") == 2


@pytest.mark.whole
def test_a_loop_reads_before_it_overwrites():
    """A loop may overwrite the memory of values that it reads last, but only after reading them."""
    for name in FAMILIES:
        for step in walk(planned(name).steps):
            if isinstance(step, Loop):
                assert all(len(r.at) < 5 for s in statements(step) for r in reads(s.expr))


def network(layers):
    n = Size.of("n")
    tanh = default_rulebook().get("tanh")
    h = x = symbol("x", (n,))
    weights = [symbol(f"W{i}", (n, n)) for i in range(layers)]
    for w in weights:
        h = apply(tanh, [matmul(w, h)])
    gradient = conventions.pullback(total(h), number(1), [x])[0]
    return plan([("gradient", gradient)], [x, *weights])


@pytest.mark.whole
def test_steps_grow_linearly_with_depth():
    ten, hundred = (sum(not isinstance(s, View) for s in network(layers).steps) for layers in (10, 100))
    assert hundred <= 10 * ten + 20


def test_plan_is_the_same_every_time():
    assert str(planned("process")) == str(planned("process"))


def test_sizes_that_nothing_determines_are_arguments():
    root, symbols = parse("x'*x*ones(q)", "x: vector(n)")
    assert plan([("y", root)], symbols).size_args == ("q",)


def test_what_backward_needs_is_saved_once():
    root, symbols = parse("tanh(W*tanh(V*x))", "W: matrix(k, m); V: matrix(m, n); x: vector(n)")
    incoming = symbol("G", root.shape)
    bars = conventions.finish(conventions.vjps(root, [s for s in symbols if s.name in "WV"], incoming))
    saved = to_save(bars, symbols, [incoming])
    assert {n.kind for n in saved} <= {"product", "map"}
    assert all(incoming not in toposort(n) for n in saved)
    assert not set(saved) & set(symbols)


@pytest.mark.parametrize(
    ("text", "flops"),
    [
        ("norm2(X*w)^2", "2*m*n + 2*m"),
        ("norm2(X*W)^2", "2*k*m*n + 2*k*m"),
        ("norm2(A*B*x)^2", "2*k*n + 2*m*n + 2*m"),
    ],
)
def test_equal_halves_of_a_product_are_computed_once(text, flops):
    """A squared length is computed from one vector: half of the work of w'*(X'*(X*w)), and no digits lost."""
    assert f"total: {flops} flops" in mc.compile(text, target="numpy").plan


@pytest.mark.parametrize("target", ["numba", "numpy"])
def test_a_short_length_of_long_terms_keeps_its_digits(target):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((6, 5))
    X[:, 4] = X[:, 0] + 1e-7 * X[:, 1]
    w = np.array([1.0, 0, 0, 0, -1.0])
    exact = sum(sum(Fraction(a) * Fraction(b) for a, b in zip(row, w, strict=True)) ** 2 for row in X.tolist())
    assert mc.compile("norm2(X*w)^2", target=target)(X=X, w=w) == pytest.approx(float(exact), rel=1e-8)
