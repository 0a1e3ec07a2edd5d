"""NaN in a tangent or cotangent is never lost in compiled code: where plain NumPy gives NaN, both targets do.

Enumerated over the operations and their arguments, functions of matrices of several shapes, first and second order.
"""

import contextlib

import numpy as np
import pytest

import matcalc as mc
from oracle.cases import Operation, operations


def function_of(kind, f, shape, assume=()):
    let = f"X: matrix{shape} {' '.join(assume)}"
    symbols = {"X": {"shape": list(shape), "assume": list(assume)}}
    return Operation(f"{kind} {f} {shape}", f"{kind}({f}, X)", let, "", shape, {"X": ""}, symbols)


FUNCTIONS = [
    function_of("svdfun", f, shape) for f in ("exp", "sinh", "relu") for shape in ((1, 1), (3, 3), (2, 4), (4, 2))
]
FUNCTIONS += [function_of("matfun", f, shape, ["spd"]) for f in ("exp", "sqrt", "relu") for shape in ((1, 1), (3, 3))]
CASES = [(case, name) for case in [*operations(), *FUNCTIONS] for name in case.vjp]
BEYOND = (mc.NotDifferentiable, mc.NotSupported, np.linalg.LinAlgError)


def derivatives(case, name):
    """Return an operation's derivatives along a cotangent and a tangent, and a second derivative."""
    e = mc.expression(case.text, case.let)
    total = mc.expression(f"sum(({case.text}).^2)", case.let) if e.node.shape else e
    found = []
    for derive in (e.vjp, e.jvp, total.hvp):
        with contextlib.suppress(*BEYOND):
            found.append(derive(name, check=False))
    return found


def check(case, name, target):
    data = case.sample()
    for derivative in derivatives(case, name):
        known = {one: data[one] for one in derivative.names.written if one in data}
        new = [one for one in derivative.names.written if one not in data]
        unknown = {one: np.full(case.out if one == "G" else np.shape(data[name]), np.nan) for one in new}
        try:
            with np.errstate(all="ignore"):
                plain = np.asarray(derivative(**known, **unknown))
                found = np.asarray(mc.compile(derivative, target=target, check=False)(**known, **unknown))
        except BEYOND:
            continue
        assert np.isnan(found[np.isnan(plain)]).all(), f"{derivative}"


@pytest.mark.sampled(180)
@pytest.mark.parametrize(("case", "name"), CASES, ids=lambda one: one if isinstance(one, str) else one.op)
@pytest.mark.thinned(6)
def test_on_numpy(case, name):
    check(case, name, "numpy")


@pytest.mark.whole
@pytest.mark.parametrize(("case", "name"), CASES, ids=lambda one: one if isinstance(one, str) else one.op)
@pytest.mark.thinned(15)
def test_compiled(case, name):
    check(case, name, "numba")
