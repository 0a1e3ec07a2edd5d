"""Reductions of arrays with one entry or none: plain, NumPy and compiled give NumPy's own results."""

import numpy as np
import pytest
import scipy.special

import matcalc as mc

OWN = {
    "sum": np.sum, "mean": np.mean, "prod": np.prod, "max": np.max, "min": np.min, "var": np.var, "std": np.std,
    "median": np.median, "logsumexp": scipy.special.logsumexp, "norm": lambda x: np.linalg.norm(np.ravel(x)),
    "norm1": lambda x: np.sum(np.abs(x)), "norm2": lambda x: np.linalg.norm(np.ravel(x)),
    "norminf": lambda x: np.max(np.abs(x), initial=0.0),
}  # fmt: skip
OF_NOTHING = ("sum", "prod", "norm", "norm1", "norm2")
KINDS = {
    "scalar": ("s: scalar", np.array(-1.7)), "one": ("s: vector(1)", np.array([1.5])),
    "n": ("s: vector(n)", np.array([-2.5])), "1x1": ("s: matrix(1, 1)", np.array([[2.0]])),
    "column": ("s: matrix(m, 1)", np.array([[-3.0]])), "none": ("s: vector(0)", np.zeros(0)),
    "no rows": ("s: matrix(0, 3)", np.zeros((0, 3))),
}  # fmt: skip


@pytest.mark.sampled(16)
@pytest.mark.parametrize("target", ["numpy", pytest.param("numba", marks=pytest.mark.whole)])
@pytest.mark.parametrize("kind", KINDS)
def test_every_reduction_of_every_kind(kind, target):
    let, data = KINDS[kind]
    names = [name for name in OWN if data.size or name in OF_NOTHING]
    made = [mc.expression(f"{name}(s)", let) for name in names]
    truth = [OWN[name](data) for name in names]
    np.testing.assert_allclose([e(data) for e in made], truth)
    np.testing.assert_allclose(mc.compile(made, target=target)(data), truth)
    for name, e in zip(names, made, strict=True):
        if data.size:
            step = (OWN[name](data + 1e-6) - OWN[name](data - 1e-6)) / 2e-6
            np.testing.assert_allclose(np.sum(e.gradient("s")(data)), step, rtol=1e-7, atol=1e-8, err_msg=name)
