"""Plain source of formulas with matrices of indices, in NumPy, Octave and R, beside loops over their entries."""

import numpy as np
import pytest
from plain_source.interpreters import LANGUAGES, Call, needs, run

import matcalc as mc
from matcalc.errors import NotSupported

LET = "X: matrix(m, n); x: vector(m); J: index(p, q); K: index(p, q); W: matrix(p, q)"


def entries(J):
    return np.ndindex(*J.shape)


FORMULAS = {
    "gathered": ("x[J]", lambda x, J: np.array([x[k] for k in J.ravel()]).reshape(J.shape)),
    "weighted": ("sum{i,j: W[i,j]*x[J[i,j]]^2}", lambda x, J, W: sum(W[at] * x[J[at]] ** 2 for at in entries(J))),
    "pairs": ("X[J, K]", lambda X, J, K: np.array([X[J[at], K[at]] for at in entries(J)]).reshape(J.shape)),
    "column": (
        "norm2(X[J[:,0],:] - X[K[:,0],:])^2",
        lambda X, J, K: sum(np.sum((X[J[t, 0]] - X[K[t, 0]]) ** 2) for t in range(len(J))),
    ),
    "row": ("sum(x[J[0, :]])", lambda x, J: sum(x[k] for k in J[0])),
}
SIZES = [{"m": 4, "n": 3, "p": 3, "q": 2}, {"m": 3, "n": 3, "p": 2, "q": 2}, {"m": 2, "n": 2, "p": 1, "q": 1}]


def data_of(name, sizes):
    rng = np.random.default_rng(sizes["m"])
    m, n, p, q = sizes.values()
    whole = {
        "X": rng.standard_normal((m, n)), "x": rng.standard_normal(m), "J": rng.integers(0, m, (p, q)),
        "K": rng.integers(0, n, (p, q)), "W": rng.standard_normal((p, q)),
    }  # fmt: skip
    return {name: whole[name] for name in mc.expression(FORMULAS[name][0], LET).symbols}


@pytest.mark.parametrize("name", FORMULAS)
def test_numpy(name):
    formula, truth = FORMULAS[name]
    space = {}
    exec(mc.plain(formula, LET), space)
    for sizes in SIZES:
        data = data_of(name, sizes)
        np.testing.assert_allclose(space["f"](**data), truth(**data), rtol=1e-12)


@pytest.mark.whole
@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_octave_and_r(language):
    needs(language)
    calls = []
    for name, (formula, truth) in FORMULAS.items():
        for number, sizes in enumerate(SIZES):
            data = data_of(name, sizes)
            order = list(mc.expression(formula, LET).symbols)
            text = mc.plain(formula, LET, language=language, name=name)
            given = [data[k] + 1 if data[k].dtype.kind == "i" else data[k] for k in order]
            expected = np.asarray(truth(**data))
            calls.append((Call(f"{name}_{number}", name, text, given, (expected.shape,)), expected))
    found = run(language, [call for call, _ in calls])
    for call, expected in calls:
        np.testing.assert_allclose(found[call.label][0], expected, rtol=1e-12, err_msg=call.label)


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_tensors_of_parts_are_refused(language):
    with pytest.raises(NotSupported, match="a part with these indices has no plain source"):
        mc.plain("X[J]", LET, language=language)
