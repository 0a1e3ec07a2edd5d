"""Published problems, as formulas, solved with every method that uses derivatives: known minima are reached.

Source: Moré, Garbow, Hillstrom, "Testing unconstrained optimization software", ACM TOMS 7 (1981), section 3: the
problem numbers, the functions, the starts and the minima of the sum of squares, to the digits printed.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import matcalc as mc
from matcalc.solvers.minimize import GRADIENT, HESSIAN, PRODUCT, RESIDUAL

I10, I20 = np.arange(1.0, 11), np.arange(1.0, 21)
U15 = np.arange(1.0, 16)
BARD = [0.14, 0.18, 0.22, 0.25, 0.29, 0.32, 0.35, 0.39, 0.37, 0.58, 0.73, 0.96, 1.34, 2.10, 4.39]
GAUSS = [0.0009, 0.0044, 0.0175, 0.0540, 0.1295, 0.2420, 0.3521, 0.3989]
KOWALIK = [0.1957, 0.1947, 0.1735, 0.1600, 0.0844, 0.0627, 0.0456, 0.0342, 0.0323, 0.0235, 0.0246]
KOWALIK_U = [4, 2, 1, 0.5, 0.25, 0.167, 0.125, 0.1, 0.0833, 0.0714, 0.0625]


@dataclass(frozen=True)
class Known:
    """A residual, its start, and the known local minima of its sum of squares, of which a method may reach any."""

    name: str
    residual: str
    start: Any
    minima: tuple[float, ...]
    data: dict[str, Any] = field(default_factory=dict)
    unfit: tuple[str, ...] = ()
    """Methods that do not apply.

    Dogleg, where the Hessian becomes indefinite, which SciPy excludes. Methods whose first step goes to infinity, where
    the sum of squares has another limit. SciPy's CG stops early on problem 25, with a hand-written gradient too. Its
    Newton-CG may stay near the saddle of problem 14, depending on the last digits of the start.
    """

    @property
    def declarations(self) -> str:
        vectors = "; ".join(f"{name}: vector({len(self.data[name])})" for name in self.data)
        return f"x: vector({len(self.start)}); {vectors}".rstrip("; ")

    @property
    def loss(self) -> str:
        return f"norm2({self.residual})^2"


PROBLEMS = [
    Known("1 Rosenbrock", "[10*(x[1] - x[0]^2); 1 - x[0]]", [-1.2, 1.0], (0.0,)),
    Known("2 Freudenstein and Roth",
          "[x[0] - 13 + ((5 - x[1])*x[1] - 2)*x[1]; x[0] - 29 + ((x[1] + 1)*x[1] - 14)*x[1]]",
          [0.5, -2.0], (0.0, 48.9842)),
    Known("5 Beale", "y - x[0]*(1 - x[1].^k)", [1.0, 1.0], (0.0,),
          {"y": [1.5, 2.25, 2.625], "k": [1.0, 2.0, 3.0]}, ("dogleg",)),
    Known("6 Jennrich and Sampson", "2 + 2*i - exp(i*x[0]) - exp(i*x[1])", [0.3, 0.4], (124.362,), {"i": I10},
          ("L-BFGS-B", "SLSQP")),
    Known("8 Bard", "y - x[0] - u./(v*x[1] + w*x[2])", [1.0, 1.0, 1.0], (8.21487e-3,),
          {"y": BARD, "u": U15, "v": 16 - U15, "w": np.minimum(U15, 16 - U15)}),
    Known("9 Gaussian", "x[0]*exp(-x[1]*(t - x[2]).^2/2) - y", [0.4, 1.0, 0.0], (1.12793e-8,),
          {"y": [*GAUSS, *GAUSS[-2::-1]], "t": (8 - U15) / 2}),
    Known("13 Powell singular",
          "[x[0] + 10*x[1]; sqrt(5)*(x[2] - x[3]); (x[1] - 2*x[2])^2; sqrt(10)*(x[0] - x[3])^2]",
          [3.0, -1.0, 0.0, 1.0], (0.0,)),
    Known("14 Wood",
          "[10*(x[1] - x[0]^2); 1 - x[0]; sqrt(90)*(x[3] - x[2]^2); 1 - x[2];"
          " sqrt(10)*(x[1] + x[3] - 2); (x[1] - x[3])/sqrt(10)]",
          [-3.0, -1.0, -3.0, -1.0], (0.0,), {}, ("dogleg", "Newton-CG")),
    Known("15 Kowalik and Osborne", "y - x[0]*(u.^2 + u*x[1])./(u.^2 + u*x[2] + x[3])",
          [0.25, 0.39, 0.415, 0.39], (3.07505e-4, 1.02734e-3), {"y": KOWALIK, "u": KOWALIK_U}, ("dogleg",)),
    Known("16 Brown and Dennis", "(x[0] + t*x[1] - exp(t)).^2 + (x[2] + x[3]*sin(t) - cos(t)).^2",
          [25.0, 5.0, -5.0, -1.0], (85822.2,), {"t": I20 / 5}),
    Known("25 variably dimensioned", "[x - 1; j'*(x - 1); (j'*(x - 1))^2]", list(1 - I10 / 10), (0.0,), {"j": I10},
          ("CG",)),
    Known("30 Broyden tridiagonal", "(3 - 2*x).*x - [0; x[:-1]] - 2*[x[1:]; 0] + 1", [-1.0] * 10, (0.0,)),
]  # fmt: skip

METHODS = list(dict.fromkeys((*GRADIENT, *PRODUCT, *HESSIAN, *RESIDUAL)))
COMPILED = {"lbfgs": "L-BFGS-B", "newton-cg": "trust-ncg", "lm": "lm"}
"""The compiled loops, and SciPy's methods with the same steps.

Each of them applies to every problem. In problem 6 L-BFGS-B goes to infinity, and the compiled loop rejects the step
because the value overflows.
"""
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


FIRST = ("lm",)
CASES = [
    pytest.param(problem, method, id=f"{problem.name}-{method}", marks=() if method in FIRST else pytest.mark.whole)
    for problem in PROBLEMS
    for method in METHODS
    if method not in problem.unfit
]


@pytest.mark.thinned(6)
@pytest.mark.sampled(9)
@pytest.mark.filterwarnings("ignore:delta_grad == 0.0:UserWarning")
@pytest.mark.parametrize(("problem", "method"), CASES)
def test_known_minimum_is_reached(problem, method):
    found = solved(problem, method)
    assert is_known(problem, found.fun), (found.fun, found.message)


@pytest.mark.thinned(3)
@pytest.mark.whole
@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.name)
@pytest.mark.parametrize("method", COMPILED)
def test_known_minimum_is_reached_by_a_compiled_loop(problem, method):
    found = mc.minimize(
        problem.loss, "x", {"x": problem.start}, problem.data, method, declarations=problem.declarations,
        compiled=True, options=TIGHT[COMPILED[method]],
    )  # fmt: skip
    assert is_known(problem, found.fun), (found.fun, found.message)
    at_gradient = np.max(np.abs(found.jac["x"])) / max(1.0, found.fun)
    assert at_gradient < 1e-4
