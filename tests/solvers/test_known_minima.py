"""Problems of the literature, solved with every method that takes derivatives: the known minima are reached."""

import pytest
from known_minima import PROBLEMS

import matcalc as mc
from matcalc.solvers.minimize import GRADIENT, HESSIAN, PRODUCT, RESIDUAL

METHODS = list(dict.fromkeys((*GRADIENT, *PRODUCT, *HESSIAN, *RESIDUAL)))
TIGHT = {
    "L-BFGS-B": {"ftol": 1e-15, "gtol": 1e-9, "maxiter": 2000},
    "TNC": {"ftol": 1e-15, "gtol": 1e-9, "xtol": 1e-12, "maxfun": 5000},
    "SLSQP": {"ftol": 1e-14, "maxiter": 2000},
    "CG": {"gtol": 1e-6, "maxiter": 20000},
    "BFGS": {"gtol": 1e-6},
    "Newton-CG": {"xtol": 1e-10, "maxiter": 2000},
    "trust-constr": {"gtol": 1e-9, "xtol": 1e-12, "maxiter": 3000},
    **dict.fromkeys(("trust-ncg", "trust-krylov", "trust-exact", "dogleg"), {"gtol": 1e-7, "maxiter": 2000}),
    **dict.fromkeys(RESIDUAL, {"ftol": 1e-14, "xtol": 1e-14, "gtol": 1e-12, "max_nfev": 5000}),
}


def solved(problem, method):
    return mc.minimize(
        problem.loss, "x", {"x": problem.start}, problem.data, method, declarations=problem.declarations,
        target="numpy", options=TIGHT[method],
    )  # fmt: skip


def is_known(problem, value):
    return any(abs(value - least) <= 1e-5 * least + 1e-6 * (least == 0) for least in problem.minima)


FIRST = ("SLSQP", "lm")
CASES = [
    pytest.param(problem, method, id=f"{problem.name}-{method}", marks=() if method in FIRST else pytest.mark.whole)
    for problem in PROBLEMS
    for method in METHODS
    if method not in problem.unfit
]


@pytest.mark.filterwarnings("ignore:delta_grad == 0.0:UserWarning")
@pytest.mark.parametrize(("problem", "method"), CASES)
def test_known_minimum_is_reached(problem, method):
    found = solved(problem, method)
    assert is_known(problem, found.fun), (found.fun, found.message)
