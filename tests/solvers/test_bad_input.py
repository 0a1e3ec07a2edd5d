"""Input that every adapter of a flat vector rejects, in one sentence, before it imports its library."""

import sys

import numpy as np
import pytest

import matcalc as mc
from matcalc import solvers

GOOD = {"f": "norm2(X*w - y)^2", "wrt": "w", "data": {"X": np.eye(2), "y": np.ones(2)}}
FAULTS = [
    ({"wrt": "z"}, mc.UnknownName, "z is not a symbol"),
    ({"data": {"X": np.eye(2)}}, ValueError, "data gives no value for y"),
    ({"data": {"X": np.eye(2), "y": np.ones(2), "q": 1}}, mc.UnknownName, "data gives a value for q"),
    ({"data": {"X": np.eye(2), "y": np.ones(3)}}, mc.ShapeError, r"y: vector\(m\) must have shape \(2,\)"),
    ({"start": {"w": np.ones(3)}}, mc.ShapeError, r"w: vector\(n\) must have shape \(2,\)"),
    ({"start": {"w": [1.0, np.nan]}}, ValueError, "the start of w is not finite"),
    ({"start": {"v": [1.0, 2.0]}}, ValueError, "start gives no value for w"),
    ({"sizes": {"q": 2}}, mc.UnknownName, "q is not a size"),
]


@pytest.mark.parametrize("adapter", ["casadi", "nlopt", "nuts", "statsmodels"])
@pytest.mark.parametrize(("change", "kind", "message"), FAULTS, ids=[fault[2][:20] for fault in FAULTS])
def test_refused(adapter, change, kind, message):
    asked = {**GOOD, **change}
    with pytest.raises(kind, match=message):
        getattr(solvers, adapter)(asked.pop("f"), asked.pop("wrt"), asked.pop("data"), **asked, target="numpy")


@pytest.mark.parametrize("adapter", ["nlopt", "nuts"])
def test_an_objective_is_a_scalar(adapter):
    with pytest.raises(mc.ShapeError, match=r"the objective has shape \(m\): a solver minimises a scalar"):
        getattr(solvers, adapter)("X*w - y", "w", GOOD["data"], target="numpy")


def test_what_is_explained_is_told():
    data = {"X": np.eye(3), "y": np.ones(3), "z": np.ones(3)}
    likelihood = "-(X*w - y).^2 - z"
    with pytest.raises(ValueError, match="the vectors among the data are y, z: name the explained data with endog="):
        solvers.statsmodels(likelihood, "w", data, target="numpy")
    with pytest.raises(mc.UnknownName, match="endog: yy is none of the data"):
        solvers.statsmodels(likelihood, "w", data, target="numpy", endog="yy")
    with pytest.raises(mc.ShapeError, match="has 2 entries for 3 observations"):
        solvers.statsmodels("(X*w - y)[:2]", "w", {"X": np.eye(3), "y": np.ones(3)}, target="numpy")
    with pytest.raises(ValueError, match="names has 1 entries for 3 parameters"):
        solvers.statsmodels(likelihood, "w", data, target="numpy", endog="y", names=["a"])


@pytest.mark.parametrize(
    ("name", "extra", "make"),
    [
        ("casadi", "solvers", lambda: solvers.casadi(**GOOD, target="numpy")),
        ("jax", "jax", lambda: solvers.jax("A*x", target="numpy")),
        ("pymanopt", "solvers", lambda: solvers.pymanopt(**GOOD, manifold=None, target="numpy")),
        ("statsmodels", "solvers", lambda: solvers.statsmodels(*GOOD.values(), target="numpy")),
        ("torch", "torch", lambda: solvers.torch("A*x", target="numpy")),
    ],
)
def test_a_library_that_is_not_installed(monkeypatch, name, extra, make):
    monkeypatch.setitem(sys.modules, name, None)
    said = rf'this needs {name}: pip install "matcalc-compiler.{extra}."'
    with pytest.raises(ModuleNotFoundError, match=said):
        make()


def test_a_sampler_that_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "nutpie", None)
    with pytest.raises(ModuleNotFoundError, match="this needs nutpie: pip install nutpie"):
        solvers.nuts(*GOOD.values(), target="numpy").nutpie()
