"""solvers.torch in PyTorch itself: its own checks of operators, its own derivatives, and a fit to a known answer."""

import pickle

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the extra [torch] is not installed")

from solvers import logistic  # noqa: E402

import matcalc as mc  # noqa: E402
from matcalc import solvers  # noqa: E402

LOSS = "norm2(X*w - y)^2 + sum(log(1 + exp(X*w)))"


def loss(X, w, y):
    return ((X @ w - y) ** 2).sum() + torch.log1p(torch.exp(X @ w)).sum()


# Formula, declarations, the function in PyTorch, shapes: scalar, vector and matrix results and arguments.
CASES = [
    (LOSS, "", loss, [(4, 3), (3,), (4,)]),
    ("tanh(A*B)", "", lambda A, B: torch.tanh(A @ B), [(2, 3), (3, 2)]),
    ("a*sin(x) + a^2", "a: scalar; x: vector(n)", lambda a, x: a * torch.sin(x) + a**2, [(), (3,)]),
    ("inv(A)*x", "", lambda A, x: torch.linalg.solve(A, x), [(3, 3), (3,)]),
    ("logdet(A'*A + eye(n))", "A: matrix(m, n)", lambda A: torch.logdet(A.T @ A + torch.eye(2)), [(3, 2)]),
]


def tensors(shapes, seed=0):
    rng = np.random.default_rng(seed)
    return tuple(torch.tensor(rng.standard_normal(shape) + 0.3, requires_grad=True) for shape in shapes)


@pytest.mark.parametrize(
    ("formula", "let", "own", "shapes", "target"),
    [*((*case, "numpy") for case in CASES), (*CASES[1], "numba")],
    ids=[*(case[0] for case in CASES), "compiled"],
)
@pytest.mark.whole
def test_checks_of_pytorch(formula, let, own, shapes, target):
    f = solvers.torch(formula, let, target=target)
    args = tensors(shapes)
    assert torch.allclose(f(*args), own(*args).double(), rtol=1e-7)
    assert torch.autograd.gradcheck(f, args)
    assert torch.autograd.gradgradcheck(f, args)
    assert set(torch.library.opcheck(f.op, args).values()) == {"SUCCESS"}
    assert set(torch.library.opcheck(f._forward, (list(args), list(range(len(args))))).values()) == {"SUCCESS"}


@pytest.mark.whole
@pytest.mark.parametrize("formula", ["logdet(S) + tr(inv(S)*C)", "inv(S)*C*S", "chol(S)", "eigvalsh(S)"])
def test_symmetric_matrices_that_depend_on_others(formula):
    f = solvers.torch(formula, "S: matrix(n, n) spd; C: matrix(n, n) constant", target="numpy")
    (A,), C = tensors([(3, 3)]), torch.tensor([[1.0, 2.0, 0.0], [2.0, -1.0, 1.0], [0.0, 1.0, 3.0]], dtype=torch.float64)
    data = {"C": C} if "C" in f.args else {}

    def composed(A):
        return f(S=A @ A.T + torch.diag(torch.tensor([1.0, 2.0, 3.0])), **data)

    assert torch.autograd.gradcheck(composed, (A,))
    assert torch.autograd.gradgradcheck(composed, (A,))


@pytest.mark.whole
def test_what_forward_saved_is_not_computed_again(monkeypatch):
    f, calls = solvers.torch("logdet(S) + y'*inv(S)*y", "S: matrix(n, n) spd; y: vector(n)", target="numpy"), []
    forward, (A, y) = type(f._passes).forward, tensors([(3, 3), (3,)])
    monkeypatch.setattr(type(f._passes), "forward", lambda *given: calls.append(1) or forward(*given))
    S = (A @ A.T + torch.eye(3)).detach().requires_grad_()
    assert f._passes.saved_shapes([(3, 3), (3,)], [0, 1])
    found = torch.autograd.grad(f(S, y), (S, y))
    assert calls == [1]
    expected = torch.autograd.grad(torch.logdet(S) + y @ torch.linalg.solve(S, y), (S, y))
    assert all(torch.allclose(a, b) for a, b in zip(found, expected, strict=True))
    again = torch.autograd.grad(f.op(S, y), (S, y))
    assert all(torch.equal(a, b) for a, b in zip(again, found, strict=True))
    assert calls == [1, 1]


@pytest.mark.whole
def test_gradients_are_those_of_pytorch_where_some_arguments_are_data():
    f = solvers.torch(LOSS, target="numpy")
    for wanted in ([1], [0, 1], [0, 1, 2], [2]):
        args = tensors([(4, 3), (3,), (4,)])
        for k, x in enumerate(args):
            x.requires_grad_(k in wanted)
        asked = [args[k] for k in wanted]
        found = torch.autograd.grad(f(*args), asked, create_graph=True)
        expected = torch.autograd.grad(loss(*args), asked, create_graph=True)
        assert all(torch.allclose(a, b) for a, b in zip(found, expected, strict=True))
        again = torch.autograd.grad(sum((x**2).sum() for x in found), asked)
        known = torch.autograd.grad(sum((x**2).sum() for x in expected), asked)
        assert all(torch.allclose(a, b) for a, b in zip(again, known, strict=True))


@pytest.mark.whole
def test_compiled_whole_and_for_other_sizes():
    f = solvers.torch("tanh(A*B)", target="numpy")
    compiled = torch.compile(lambda A, B: (f(2 * A, B) ** 2).sum(), fullgraph=True, backend="aot_eager")
    for n in (2, 3, 5):
        A, B = tensors([(n, 3), (3, n)])
        found = torch.autograd.grad(compiled(A, B), (A, B))
        expected = torch.autograd.grad((torch.tanh(2 * A @ B) ** 2).sum(), (A, B))
        assert all(torch.allclose(a, b) for a, b in zip(found, expected, strict=True))


@pytest.mark.whole
def test_vmap():
    f = solvers.torch("tanh(A*x)", target="numpy")
    A, xs = tensors([(3, 2), (5, 2)])
    assert torch.allclose(torch.vmap(f, (None, 0))(A.detach(), xs.detach()), torch.tanh(xs @ A.T))


@pytest.mark.parametrize(
    ("one", "other", "widest"), [("float32", "float32", "float32"), ("float32", "float64", "float64")]
)
@pytest.mark.whole
def test_types_are_those_of_the_tensors(one, other, widest):
    f = solvers.torch("A*x", target="numpy")
    A, x = (
        x.detach().to(getattr(torch, t)).requires_grad_()
        for x, t in zip(tensors([(3, 2), (2,)]), (one, other), strict=True)
    )
    value = f(A, x)
    value.sum().backward()
    assert (value.dtype, A.grad.dtype, x.grad.dtype) == tuple(getattr(torch, t) for t in (widest, one, other))
    assert torch.allclose(x.grad, A.detach().sum(0).to(x.dtype))


@pytest.mark.whole
def test_data_that_is_no_variable():
    f = solvers.torch("(X*w)[k]*c", "X: matrix(m, n); w: vector(n); k: index; c: scalar constant", target="numpy")
    X, w = tensors([(4, 3), (3,)])
    value = f(X, w, torch.tensor(2), torch.tensor(1.5, dtype=torch.float64))
    value.backward()
    assert torch.allclose(w.grad, 1.5 * X[2])


@pytest.mark.whole
def test_layouts_views_and_names():
    f = solvers.torch("A*B", target="numpy")
    A, B = tensors([(3, 2), (3, 4)])
    assert torch.allclose(f(B=B[:, ::2], A=A.T), A.T @ B[:, ::2])


def test_made_twice_it_is_one_operator_and_it_pickles():
    f, g = solvers.torch("A*x", target="numpy"), solvers.torch("A*x", target="numpy")
    other = solvers.torch("A*x", "A: matrix(m, n) ; x: vector(n)", target="numba")
    assert f.op is g.op
    assert f.op is not other.op
    A, x = tensors([(3, 2), (2,)])
    assert torch.equal(pickle.loads(pickle.dumps(f))(A, x), f(A, x))


@pytest.mark.whole
def test_fit_to_the_known_answer_in_the_steps_that_pytorch_takes():
    X, y, c = (torch.tensor(logistic.DATA[name], dtype=torch.float64) for name in ("X", "y", "c"))

    def own(X, y, w, c):
        return torch.nn.functional.softplus(X @ w).sum() - y @ (X @ w) + c / 2 * (w @ w)

    counts = []
    for f in (solvers.torch(logistic.FORMULA, logistic.DECLARATIONS), own):
        w = torch.zeros(4, dtype=torch.float64, requires_grad=True)
        steps = torch.optim.LBFGS([w], max_iter=200, tolerance_grad=1e-9, line_search_fn="strong_wolfe")
        calls = 0

        def closure(f=f, w=w, steps=steps):
            nonlocal calls
            calls += 1
            steps.zero_grad()
            value = f(X, y, w, c)
            value.backward()
            return value

        steps.step(closure)
        assert np.allclose(w.detach(), logistic.solution(), atol=1e-7)
        counts.append(calls)
    assert abs(counts[0] - counts[1]) <= 2, counts


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        (lambda X: X.to("meta"), ValueError, r"X is on the device meta.*give X.cpu\(\)"),
        (lambda X: X.detach().to_sparse(), ValueError, r"X is a sparse tensor: give X.to_dense\(\)"),
        (lambda X: X.detach().numpy(), TypeError, r"X takes a tensor, not ndarray"),
        (lambda X: X[:, :2], mc.ShapeError, "must have shape"),
        (lambda X: X[0], mc.ShapeError, "takes an array of 2 axes"),
        (lambda X: X.to(torch.complex128), TypeError, "real numbers, not complex"),
    ],
)
def test_bad_input_is_one_sentence(change, kind, message):
    f = solvers.torch(LOSS, target="numpy")
    X, w, y = tensors([(4, 3), (3,), (4,)])
    with pytest.raises(kind, match=message):
        f(change(X), w, y)


@pytest.mark.whole
def test_what_cannot_be_is_said():
    w = torch.ones(3, dtype=torch.float64, requires_grad=True)
    f = solvers.torch("norm2(w)^4", "w: vector(n)", target="numpy")
    with pytest.raises(TypeError, match="lacks w"):
        f()
    (first,) = torch.autograd.grad(f(w), w, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), w, create_graph=True)
    with pytest.raises(mc.NotSupported, match="twice, not three times"):
        second.sum().backward()
    with pytest.raises(ValueError, match="no argument determines the size n"):
        solvers.torch("a*ones(n)", "a: scalar; n: size", target="numpy")
    assert solvers.torch("a*ones(n)", "a: scalar; n: size", target="numpy", sizes={"n": 2})(w[0]).shape == (2,)
    with pytest.raises(mc.NotSupported, match="list of formulas"):
        solvers.torch(["w", "w"], target="numpy")
    with pytest.raises(mc.UnknownName, match="q is not a size"):
        solvers.torch("w", "w: vector(n)", target="numpy", sizes={"q": 2})
