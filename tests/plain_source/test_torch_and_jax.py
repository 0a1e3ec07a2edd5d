"""Plain source in PyTorch and JAX beside the hand-written NumPy code, and the texts of two formulas."""

import numpy as np
import pytest
from plain_source.data import drawn
from plain_source.formulas import FORMULAS, SECOND, SIZES
from plain_source.sources import assert_close, source
from plain_source.test_operations_in_languages import argument, results

import matcalc as mc
from matcalc.commands.cli import main
from matcalc.expressions.as_source import function_of

ALL = FORMULAS + SECOND
FRAMEWORKS = ("jax", "torch")
REFUSED: dict[str, set[str]] = {"jax": {"lyapunov_equation"}, "torch": {"lyapunov_equation", "sylvester_equation"}}
"""Formulas with an operation that a framework lacks."""


def load(framework, text, name):
    """Return the function of a text."""
    names = {}
    exec(compile(text, f"<{framework} {name}>", "exec"), names)
    return names[name]


def call(framework, function, data):
    """Call a function with the framework's arrays of 64-bit numbers; return NumPy arrays."""
    if framework == "torch":
        torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install torch")
        found = function(**{key: torch.as_tensor(np.asarray(value)) for key, value in data.items()})
    else:
        jax = pytest.importorskip("jax", reason="JAX is not installed: pip install jax")
        jax.config.update("jax_enable_x64", True)
        found = function(**{key: jax.numpy.asarray(value) for key, value in data.items()})
    return tuple(map(np.asarray, found)) if isinstance(found, tuple) else (np.asarray(found),)


@pytest.mark.whole
@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("formula", ALL, ids=[f.name for f in ALL])
def test_equal_to_hand_code(formula, framework):
    pytest.importorskip(framework, reason=f"{framework} is not installed")
    if formula.name in REFUSED[framework]:
        with pytest.raises(mc.NotSupported, match="plain (JAX|PyTorch) has no"):
            source(formula, framework)
        return
    function = load(framework, source(formula, framework), formula.name)
    for seed, sizes in enumerate(SIZES):
        data = drawn(formula, sizes, seed)
        assert_close(call(framework, function, data), formula.function(**data))


FEWEST = {"jax": 195, "torch": 182}
"""At least so many values and pullbacks of the reference cases have plain source in a framework."""


@pytest.mark.whole
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_operations_equal_their_reference(framework):
    pytest.importorskip(framework, reason=f"{framework} is not installed")
    written = 0
    for name, text, e, data, value in results():
        try:
            made = mc.plain(e, language=framework, name=name, check=False)
        except mc.NotSupported:
            continue
        arguments = {symbol: argument(symbol, data) for symbol in function_of(name, [e]).arguments}
        (found,) = call(framework, load(framework, made, name), arguments)
        np.testing.assert_allclose(found, value, rtol=1e-8, atol=1e-8, err_msg=text)
        assert found.shape == np.shape(value) and found.dtype.itemsize == 8, text
        written += 1
    assert written >= FEWEST[framework]


LINES = {
    "jax": ["import jax.numpy as jnp", "value = jnp.sum(jnp.logaddexp(0, z))", "cho_factor(S)"],
    "torch": ["import torch", "torch.sum(torch.nn.functional.softplus(z, threshold=40))", "cho_solve(S_chol, y)"],
}


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_texts_use_the_framework(framework):
    loss = mc.expression("sum(log(1 + exp(-y.*(X*w))))")
    gaussian = mc.expression("logdet(S) + y'*inv(S)*y", "S: matrix(n, n) spd")
    texts = [mc.plain([e, e.gradient(x)], language=framework) for e, x in ((loss, "w"), (gaussian, "y"))]
    assert [line for line in LINES[framework] if line not in "".join(texts)] == []
    assert "def stacked" not in texts[1]
    assert "np." not in "".join(texts).replace("jnp.", "")


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_what_a_framework_lacks_is_refused_by_name(framework):
    with pytest.raises(mc.NotSupported, match="plain (JAX|PyTorch) has no lyapunov"):
        mc.plain("lyapunov(A, Q)", "A: matrix(n, n); Q: matrix(n, n)", language=framework)


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_the_command_line_writes_it(framework, capsys, tmp_path):
    path = tmp_path / "loss.py"
    words = ["export", "norm2(X*w - y)^2", "--wrt", "w", "--target", framework, "-o", str(path), "--quiet"]
    assert main([*words, "--test", str(tmp_path / "test_loss.py")]) == 2
    assert f"no tests are written for {framework}" in capsys.readouterr().err
    assert main(words) == 0
    assert "gradient_w = 2 * (X.T @ r)" in path.read_text(encoding="utf-8")


STRUCTURES = [
    "circulant(c)", "hankel(c)", "hankel(c, r)", "toeplitz(c)", "toeplitz(c, r)", "kron_sum(diag(c), X[:2, :2])",
    "partial_trace(X, 3, 2)", "partial_trace_first(X, 3, 2)", "duplication(4)*[c; c; c[:2]]", "elimination(2)*c",
    "commutation(2, 2)*c", "commutation(2, 3)*vech(X)[:6]", "iota(4).*c", "vech(X)", "kron(X', diag(c)')*ones(24)",
]  # fmt: skip
"""Matrices with a name, and operands of a Kronecker product that are not contiguous."""


@pytest.mark.whole
@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("text", STRUCTURES)
def test_structures_and_their_gradients(text, framework):
    pytest.importorskip(framework, reason=f"{framework} is not installed")
    e = mc.expression(f"sum(sin({text}))", "c: vector(4); r: vector(3); X: matrix(6, 6)")
    rng = np.random.default_rng(3)
    data = {"c": rng.standard_normal(4), "r": rng.standard_normal(3), "X": rng.standard_normal((6, 6))}
    for one in [e, *(e.gradient(name) for name in e.symbols)]:
        own = {name: data[name] for name in one.symbols}
        if one is not e and text == "circulant(c)":
            with pytest.raises(mc.NotSupported, match="no plain source over open indices"):
                mc.plain(one, language=framework)
            continue
        function = load(framework, mc.plain(one, language=framework), "f")
        np.testing.assert_allclose(call(framework, function, own)[0], one(**own), rtol=1e-11, atol=1e-13)
