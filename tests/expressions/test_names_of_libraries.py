"""Functions of NumPy, SciPy, PyTorch and JAX in NumPy text, by the public functions and the command line.

A name has the meaning that its library gives it, or it is refused with what to write. All names that matcalc and
NumPy or SciPy share are called with many kinds of arguments, and compared with the library.
"""

import copy
import re

import numpy as np
import pytest
import scipy.linalg
import scipy.special

import matcalc as mc
from matcalc.commands.cli import main
from matcalc.rulebook.load import shipped_rulebook
from matcalc.rulebook.notations import numpy_names

RNG = np.random.default_rng(0)
A, B = RNG.random((2, 3, 3)) * 0.5 + 0.2
X = RNG.random((4, 3))
A = A + np.eye(3)
S = A @ A.T
x, y = RNG.random((2, 3)) * 0.8 + 0.1
DATA = {"A": A, "B": B, "X": X, "S": S, "x": x, "y": y, "a": 0.7, "b": 0.4, "c": 0.3}
KINDS = {
    "A": "matrix(n, n)", "B": "matrix(n, n)", "X": "matrix(m, n)", "S": "matrix(n, n) spd", "x": "vector(n)",
    "y": "vector(n)", "a": "scalar", "b": "scalar", "c": "scalar",
}  # fmt: skip


def declared(text):
    return "; ".join(f"{name}: {kind}" for name, kind in KINDS.items() if re.search(rf"\b{name}\b", text))


def read(text):
    return mc.expression(text, declared(text), dialect="numpy")


def value(e):
    return np.asarray(e(**{name: DATA[name] for name in e.symbols}), float)


def shares(a, axis):
    e = np.exp(a - a.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


READ = [
    ("jax.nn.softmax(X, axis=-1)", shares(X, 1)),
    ("jax.nn.softmax(X, 0)", shares(X, 0)),
    ("jax.nn.log_softmax(X, axis=1)", np.log(shares(X, 1))),
    ("torch.softmax(X, dim=0)", shares(X, 0)),
    ("torch.softmax(X, 1)", shares(X, 1)),
    ("torch.log_softmax(X, -1)", np.log(shares(X, 1))),
    ("torch.nn.functional.softmax(X, dim=1)", shares(X, 1)),
    ("scipy.special.softmax(X)", shares(X.ravel(), 0).reshape(4, 3)),
    ("jax.nn.logsumexp(X)", np.log(np.exp(X).sum())),
    ("torch.logsumexp(X, 1)", np.log(np.exp(X).sum(1))),
    ("torch.nn.functional.gelu(x)", x * scipy.special.ndtr(x)),
    ("jax.nn.elu(-x)", np.expm1(-x)),
    ("jax.nn.silu(x)", x / (1 + np.exp(-x))),
    ("torch.amax(X, 1)", X.max(1)),
    ("torch.max(X)", X.max()),
    ("torch.sum(X, 1)", X.sum(1)),
    ("torch.roll(X, 1)", np.roll(X, 1)),
    ("torch.vander(x)", np.vander(x)),
    ("torch.kron(A, x)", np.kron(A, x)),
    ("scipy.linalg.block_diag(A, x)", scipy.linalg.block_diag(A, x)),
    ("torch.linalg.norm(X, 2)", np.linalg.norm(X, 2)),
    ("torch.linalg.cholesky(S)", np.linalg.cholesky(S)),
    ("jnp.linalg.cholesky(S)", np.linalg.cholesky(S)),
    ("jnp.std(X, axis=0)", X.std(0)),
]


@pytest.mark.parametrize(("text", "expected"), READ, ids=[row[0] for row in READ])
def test_value_is_that_of_the_library(text, expected):
    np.testing.assert_allclose(value(read(text)), expected, rtol=1e-12)


REFUSED = [
    ("jax.nn.softmax(X)", "takes an axis"),
    ("jax.nn.log_softmax(X)", "takes an axis"),
    ("torch.softmax(X)", "takes an axis"),
    ("torch.special.log_softmax(X)", "takes an axis"),
    ("torch.nn.functional.softmax(x)", "takes an axis"),
    ("x[:, None] * jax.nn.softmax(x)", "takes an axis"),
    ("jax.nn.gelu(x)", "approximation by tanh"),
    ("jax.nn.gelu(x, approximate=True)", "approximation by tanh"),
    ("torch.max(X, 1)", "returns a pair"),
    ("torch.max(X, 1)[0]", "returns a pair"),
    ("torch.max(X, dim=1)", "returns a pair"),
    ("torch.min(X, 0)", "returns a pair"),
    ("torch.sort(x)", "returns a pair"),
    ("torch.median(x)", "lower of two middle"),
    ("torch.std(x)", "divides by n - 1"),
    ("torch.var(x[:, None])", "divides by n - 1"),
    ("torch.svd(X)[2]", "returns V"),
    ("torch.lu(A)[0]", "one matrix for both"),
    ("torch.norm(X, 2)", "whatever the order"),
    ("torch.linalg.vander(x)", "ascending powers"),
    ("torch.nn.functional.normalize(X)", "each row"),
    ("scipy.linalg.cholesky(S)", "upper factor"),
    ("jax.scipy.linalg.cholesky(S)", "upper factor"),
    ("linalg.cholesky(S)", "upper factor"),
    ("scipy.linalg.qr(X)[0]", "square Q"),
    ("tf.nn.softmax(X)", "not supported"),
    ("tf.reduce_mean(X)", "not supported"),
    ("F.softmax(X)", "not supported"),
    ("torch.flip(X, [0])", "not supported"),
    ("torch.cov(X)", "not supported"),
]


@pytest.mark.parametrize(("text", "message"), REFUSED, ids=[row[0] for row in REFUSED])
def test_refused_by_the_public_functions(text, message):
    with pytest.raises(mc.MatcalcError, match=message):
        read(text)
    with pytest.raises(mc.MatcalcError, match=message):
        mc.gradient(f"np.sum({text})", declared(text)[0], declared(text), dialect="numpy")


def test_refused_by_the_command_line(capsys):
    let = [part for one in declared("X").split("; ") for part in ("--let", one)]
    assert main(["gradient", "jax.nn.softmax(X)[0, 0]", "--wrt", "X", "--dialect", "numpy", *let]) != 0
    assert "jax.nn.softmax takes an axis" in capsys.readouterr().err


MODULES = {"np": np, "np.linalg": np.linalg, "scipy.special": scipy.special, "scipy.linalg": scipy.linalg}
ARGUMENTS = [
    "x", "A", "X", "S", "a", "x, y", "A, B", "A, x", "x, A", "a, x", "x, a", "2, x", "x, 2", "X, 1", "X, 0",
    "X, axis=0", "X, axis=-1", "a, b, x", "x, y, x", "A, B, S", "A, B, S, S", "x, a, b", "X, (2, 1)", "3", "3, 2",
    "x, 0.1, 0.5", "1, A", "A, 1", "1.0, x",
]  # fmt: skip
OF_A_CHOICE = ("eig", "eigvals", "eigh", "qr", "svd")
"""Signs and orders of these are a choice of LAPACK's."""
RULEBOOK = shipped_rulebook()
NAMES = sorted({n for n in {*RULEBOOK.spellings, *numpy_names(RULEBOOK).functions} if n.isidentifier()})
SHARED = [
    (m, n) for m, room in MODULES.items() for n in NAMES if callable(getattr(room, n, None)) and n not in OF_A_CHOICE
]


@pytest.mark.whole
@pytest.mark.parametrize(("module", "name"), SHARED, ids=[f"{m}.{n}" for m, n in SHARED])
def test_shared_names_have_the_values_of_numpy_and_scipy(module, name):
    for arguments in ARGUMENTS:
        text = f"{module}.{name}({arguments})"
        try:
            expected = eval(text, {"np": np, "scipy": scipy, **copy.deepcopy(DATA)})
            e = read(text)
        except Exception:  # no call of theirs, or refused here
            continue
        if not isinstance(expected, tuple):
            got = value(e)
            assert got.shape == np.shape(expected), text
            np.testing.assert_allclose(got, np.real(expected), rtol=1e-7, atol=1e-9, err_msg=text)
