"""Functions on the arrays of PyTorch and JAX: values, types, devices, tracing, files and errors."""

import importlib.util
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import matcalc as mc
from matcalc.api.export import exported
from matcalc.compiler.targets import ON_NUMPY, SAVED, TARGETS
from matcalc.errors import NotSupported

FRAMEWORKS = [target for target in TARGETS if target not in (*ON_NUMPY, *SAVED)]
LOSS = "norm2(X*w - y)^2 + logsumexp(X*w)"
RNG = np.random.default_rng(0)
X, W, Y = RNG.standard_normal((5, 3)), RNG.standard_normal(3), RNG.standard_normal(5)


def value(w):
    z = X @ w
    return np.sum((z - Y) ** 2) + np.log(np.sum(np.exp(z)))


def gradient(w):
    z = X @ w
    return X.T @ (2 * (z - Y) + np.exp(z) / np.sum(np.exp(z)))


def of(target, array):
    """Return an array of a framework, or skip the test with the name of the missing framework."""
    if importlib.util.find_spec(target) is None:
        pytest.skip(f"{target} is not installed")
    if target == "torch":
        import torch

        return torch.tensor(array)
    import jax

    jax.config.update("jax_enable_x64", True)
    return jax.numpy.asarray(array)


@pytest.mark.parametrize("target", FRAMEWORKS)
@pytest.mark.parametrize(("kind", "bound"), [("float64", 1e-12), ("float32", 1e-5)])
def test_value_and_gradient(target, kind, bound):
    arrays = [of(target, a.astype(kind)) for a in (X, W, Y)]
    fn = mc.value_and_gradient(LOSS, "w", target=target)
    for found, wanted in zip(fn(*arrays), (value(W), gradient(W)), strict=True):
        assert str(found.dtype).endswith(kind)
        np.testing.assert_allclose(np.asarray(found), wanted, rtol=bound)
    found = pickle.loads(pickle.dumps(fn))(w=arrays[1], y=arrays[2], X=arrays[0])[1]
    np.testing.assert_allclose(np.asarray(found), gradient(W), rtol=bound)


@pytest.mark.parametrize("target", FRAMEWORKS)
def test_other_arrays_and_shapes(target):
    of(target, W)
    fn = mc.value_and_gradient(LOSS, "w", target=target)
    np.testing.assert_allclose(np.asarray(fn(X, W, Y)[1]), gradient(W), rtol=1e-12)
    with pytest.raises(ValueError, match="w has a shape that does not fit"):
        fn(X, W[:2], Y)
    with pytest.raises(TypeError, match="real numbers"):
        fn(X, W * 1j, Y)
    with pytest.raises(NotSupported, match="no form for njit code"):
        _ = fn.numba
    with pytest.raises(NotSupported, match="has no option out="):
        fn(X, W, Y, out=(None, W))


@pytest.mark.parametrize("target", FRAMEWORKS)
def test_places_of_an_axis(target):
    J = np.array([0, 2, 2, 1, 0])
    of(target, W)
    fn = mc.value_and_gradient("sum(w[J].*y)", "w", "w: vector(n); y: vector(m); J: index(m)", target=target)
    data = {"w": of(target, W), "y": of(target, Y), "J": of(target, J)}
    found = fn(**data)
    np.testing.assert_allclose(np.asarray(found[0]), W[J] @ Y, rtol=1e-12)
    np.testing.assert_allclose(np.asarray(found[1]), [Y[k == J].sum() for k in range(3)], rtol=1e-12)
    for outside in (3, -1):
        with pytest.raises(ValueError, match="J holds an index outside"):
            fn(**{**data, "J": of(target, np.where(J == 1, outside, J))})


@pytest.mark.parametrize("target", FRAMEWORKS)
def test_what_cannot_be_computed_is_nan(target):
    of(target, W)
    solved = mc.compile("inv(A)*b", target=target)
    assert np.all(np.isnan(np.asarray(solved(of(target, np.ones((3, 3))), of(target, W)))))
    logdet = mc.compile("logdet(S)", declarations="S: matrix(n, n) spd", target=target)
    assert np.isnan(np.asarray(logdet(of(target, -np.eye(3)))))
    assert abs(float(logdet(of(target, 2 * np.eye(3)))) - 3 * np.log(2)) < 1e-14


def test_tensors_on_two_devices():
    arrays = [of("torch", a) for a in (X, W, Y)]
    fn = mc.value_and_gradient(LOSS, "w", target="torch")
    with pytest.raises(ValueError, match="X is on cpu and w is on meta: all arguments must be on one device"):
        fn(arrays[0], arrays[1].to("meta"), arrays[2])


def test_jax_traces():
    w = of("jax", W)
    import jax

    fn = mc.value_and_gradient(LOSS, "w", target="jax")
    np.testing.assert_allclose(jax.jit(fn)(X, w, Y)[1], gradient(W), rtol=1e-12)
    np.testing.assert_allclose(jax.grad(lambda w: fn(X, w, Y)[0])(w), gradient(W), rtol=1e-12)
    rows = np.stack([W, 2 * W])
    np.testing.assert_allclose(jax.vmap(lambda w: fn(X, w, Y)[0])(rows), [value(W), value(2 * W)], rtol=1e-12)
    looked_up = mc.compile("sum(w[J])", declarations="w: vector(n); J: index(m)", target="jax")
    assert np.isnan(jax.jit(lambda w, J: looked_up(w=w, J=J))(w, np.array([0, 3])))


def test_torch_differentiates():
    arrays = [of("torch", a) for a in (X, W, Y)]
    fn = mc.value_and_gradient(LOSS, "w", target="torch")
    arrays[1].requires_grad_()
    fn(*arrays)[0].backward()
    np.testing.assert_allclose(arrays[1].grad.numpy(), gradient(W), rtol=1e-12)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("target", FRAMEWORKS)
@pytest.mark.parametrize(
    ("formula", "wrt", "let"),
    [
        ("sum(log(1 + exp(X*w))) - y'*X*w", "w", ""),
        ("logdet(S) + y'*inv(S)*y", "S", "S: matrix(n, n) spd"),
    ],
)
def test_exported_file(target, formula, wrt, let, tmp_path):
    """Writing the text needs no framework; a correct test in the file passes, and a wrong one fails."""
    text = exported(formula, wrt, ["value", "gradient", "hvp"], declarations=let, target=target)
    assert text == exported(formula, wrt, ["value", "gradient", "hvp"], declarations=let, target=target)
    path = tmp_path / "f.py"
    assert "matcalc." not in text
    of(target, W)
    for changed, code in ((text, 0), (text.replace("return value, gradient", "return 2*value, gradient", 1), 1)):
        path.write_text(changed, encoding="utf-8")
        assert subprocess.run([sys.executable, str(path)], check=False).returncode == code


@pytest.mark.whole
@pytest.mark.parametrize("target", FRAMEWORKS)
def test_ruff_is_content(target, tmp_path):
    ruff = Path(sys.executable).with_name("ruff")
    if not ruff.exists():
        pytest.skip("ruff is not installed: pip install '.[lint]'")
    path = tmp_path / "f.py"
    text = exported(LOSS, "w", ["value", "gradient", "hvp"], target=target)
    path.write_text(text, encoding="utf-8")
    done = subprocess.run([ruff, "check", "--isolated", "--no-cache", path], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("target", FRAMEWORKS)
@pytest.mark.parametrize("formula", ["besselj(2, x)", "sum(gamma(x))"])
def test_refused_by_name(target, formula):
    with pytest.raises(NotSupported, match=f"(besselj|gamma) has no form for the target {target}"):
        exported(formula if "sum" in formula else f"sum({formula})", "x", ["value"], "x: vector(n)", target=target)


@pytest.mark.parametrize("target", FRAMEWORKS)
def test_where_numpy_is_needed(target):
    with pytest.raises(NotSupported, match=f"this call needs one of the targets numba, numpy, not {target}"):
        mc.minimize("sum((x - 1).^2)", "x", start={"x": W}, target=target)
    with pytest.raises(NotSupported, match=f"this call needs one of the targets numba, numpy, not {target}"):
        mc.pullback("X*w", "w", target=target)


@pytest.mark.parametrize("target", FRAMEWORKS)
def test_numbers_of_python_are_in_double_precision(target):
    x = of(target, np.ones(3))
    fn = mc.compile("c*sum(x) + sum(y)", declarations="c: scalar; x: vector(n); y: vector(k)", target=target)
    for given in (x, np.ones(3)):
        assert float(fn(0.1, given, [0.1, 0.2])) == pytest.approx(0.6, abs=1e-15)
    if target == "torch":  # tensors determine the type, numbers beside them do not
        import torch

        single = mc.compile("c*sum(x)", declarations="c: scalar; x: vector(n)", target=target)
        assert torch.as_tensor(single(0.1, torch.ones(3, dtype=torch.float32))).dtype is torch.float32


STACKS = [
    "sum{g: logdet({i,j: C[g,i,j]})}", "{g: det({i,j: C[g,i,j]})}", "{g,i,j: inv({p,q: C[g,p,q]})[i,j]}",
    "{g,i: solve({p,q: C[g,p,q]}, {p: B[g,p]})[i]}", "{g,i,j: pinv({p,q: C[g,p,q]})[i,j]}",
]  # fmt: skip


@pytest.mark.parametrize("target", FRAMEWORKS)
def test_factors_of_stacks(target):
    C = np.stack([2 * np.eye(2), [[3.0, 1.0], [0.5, 2.0]], [[0.0, 1.0], [1.0, 0.0]]])
    data = {"C": C, "B": C[:, 0] + 1}
    given = {name: of(target, array) for name, array in data.items()}
    known = {
        "logdet": np.sum(np.linalg.slogdet(C)[1]),
        "det": np.linalg.det(C),
        "inv": np.linalg.inv(C),
        "pinv": np.linalg.inv(C),
        "solve": np.linalg.solve(C, data["B"][:, :, None])[:, :, 0],
    }
    for text in STACKS:
        fn = mc.compile(text, declarations="C: tensor(k, n, n); B: matrix(k, n)", target=target)
        found = fn(**{name: given[name] for name in fn.args})
        name = next(name for name in ("logdet", "pinv", "inv", "solve", "det") if name in text)
        np.testing.assert_allclose(np.asarray(found), known[name], atol=1e-14)
