"""Minimises with SciPy: variables of any shape by name, constraints as text, derivatives that the method uses.

There is one problem (`solvers.problem`) and a table of the inputs of each method; derivatives are compiled only for
the methods that use them. Constraints or bounds that SciPy would ignore with a warning raise an error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from matcalc.errors import NotSupported, ShapeError
from matcalc.expressions.derivatives import name_of
from matcalc.expressions.read_input import with_wrt
from matcalc.expressions.unused import shared
from matcalc.expressions.wrt import apart, read_wrt
from matcalc.language.containers import Form, gathered, spread
from matcalc.language.declare import Declarations
from matcalc.language.identifiers import by_name, nearest, shown
from matcalc.progress import progress_line
from matcalc.solvers.history import recorded
from matcalc.solvers.minimize_compiled import METHODS as COMPILED
from matcalc.solvers.minimize_compiled import compiled_method, first_fit, minimised
from matcalc.solvers.problem import Problem, problem
from matcalc.solvers.squares import residuals

# The derivatives that the methods of scipy.optimize.minimize use, and the methods that support bounds and constraints.
GRADIENT = ("CG", "BFGS", "L-BFGS-B", "TNC", "SLSQP", "trust-constr")
PRODUCT = ("Newton-CG", "trust-ncg", "trust-krylov", "trust-constr")
HESSIAN = ("dogleg", "trust-exact")
VALUE = ("Nelder-Mead", "Powell", "COBYLA", "COBYQA")
RESIDUAL = ("lm", "trf", "dogbox")
BOUNDED = ("Nelder-Mead", "L-BFGS-B", "TNC", "SLSQP", "Powell", "trust-constr", "COBYLA", "COBYQA", "trf", "dogbox")
CONSTRAINED = ("SLSQP", "trust-constr", "COBYLA", "COBYQA")
METHODS = {method.lower(): method for method in (*GRADIENT, *PRODUCT, *HESSIAN, *VALUE, *RESIDUAL)}


@progress_line("fitting")
def minimize(
    f: object,
    wrt: Any,
    start: Mapping[Any, ArrayLike],
    data: Mapping[Any, ArrayLike] | None = None,
    method: str | None = None,
    *,
    constraints: str | Sequence[Any] = "",
    bounds: Any = None,
    sizes: Mapping[Any, int] | None = None,
    progress: bool = False,
    parametrise: bool = False,
    declarations: Declarations = "",
    dialect: str = "matrix",
    target: str = "numba",
    check_facts: bool = False,
    compiled: bool = False,
    over: Any = (),
    threads: int = 1,
    **options: Any,
) -> Any:
    """Minimise the scalar `f` in the symbols `wrt` with SciPy and compiled derivatives.

    `wrt` is a name, a symbol, a part of one (`x[0]`), a container, or a list of these. `start` has a first value for
    each of them, `data` a value for each other symbol. `constraints` are comparisons, `"sum(w) == 1; w >= 0"`.
    `bounds` are pairs of None, numbers or arrays, by name. `parametrise` keeps variables in their declared sets, as
    for `solvers.problem`.
    `method` is one of scipy.optimize.minimize, by default L-BFGS-B, or SLSQP for constraints that are no bounds.
    `"lm"`, `"trf"` and `"dogbox"` are methods of scipy.optimize.least_squares, for an f that is a sum of squares.
    `progress` prints a line for each step. Other `options` are passed to SciPy (`tol=`, `callback=`, `options=`).
    `check_facts` checks the declared facts of start and data once.

    The result is SciPy's OptimizeResult and prints as a table. Its `x` and `jac` are dictionaries by name with arrays
    of the variables' shapes; with parametrised variables, `jac` is the gradient in the coordinates, a vector.

    With `compiled`, the whole solver is one compiled loop, for small problems or many fits. The methods are `"lbfgs"`
    (the default), `"newton-cg"` and `"lm"`, with the steps, options and defaults of SciPy's L-BFGS-B, trust-ncg and lm,
    but without bounds, constraints and callbacks. The starts and data named in `over` have a leading axis of fits,
    solved in one call in `threads` threads. The fields of the result then have this axis too, and `message` counts the
    endings of the fits. A step to a point where f is not finite or its linear algebra fails is rejected; a fit that
    begins at such a point ends there without success.

    Shapes: f is (); values of `start` and `data` are shaped as their symbols; `x` and `jac` of the result as `wrt`, by
        name. With `over`, each has a leading axis of fits.
    Raises: ValueError for a name without a value, for an unknown method, and for constraints or bounds that a method
        does not support; NotSupported for a residual method if f is no sum of squares; ShapeError for different
        numbers of fits; what reading f raises.
    Source: scipy.optimize.minimize and least_squares, with the derivatives that the method uses.
    """
    requested = list(over) if isinstance(over, (list, tuple)) else [over]
    if not compiled and (requested or threads != 1):
        raise ValueError("over= and threads= need a compiled loop: give compiled=True")
    if compiled:
        method = compiled_method(method)
    elif str(method).lower() in COMPILED and str(method).lower() not in METHODS:
        raise ValueError(f"{method} is a compiled loop: give compiled=True, or L-BFGS-B for SciPy's")
    named = method if method is None else METHODS.get(str(method).lower(), method if compiled else None)
    if method is not None and named is None:
        which = nearest(str(method), sorted(METHODS.values()))
        raise ValueError(f"unknown method {shown(method)}{which}; known are {', '.join(sorted(METHODS.values()))}")
    texts = [constraints] if isinstance(constraints, str) else [c for c in constraints if isinstance(c, str)]
    parted = apart(with_wrt(f, wrt, shared(declarations), dialect, scalar=True), wrt)
    if parted.parts:
        if any(texts):
            raise NotSupported("constraints where wrt has a part of a symbol", hint="fix entries by `bounds`")
        f, wrt, declarations = parted.e, parted.wrt, ""
        start, data = _by_part(start, "start=", parted.parts), _by_part(data or {}, "data=", parted.parts)
        bounds = _by_part(bounds, "bounds=", parted.parts) if isinstance(bounds, Mapping) else bounds
    rows: dict[str, Any] = {}
    forms = parted.e.names.containers
    if forms:
        start, data = spread(by_name(start, "start="), forms), spread(by_name(data or {}, "data="), forms)
    if compiled:
        names = list(_by_part(dict.fromkeys(requested), "over=", parted.parts))
        start, data = _by_part(start, "start=", parted.parts), _by_part(data or {}, "data=", parted.parts)
        start, data, rows = first_fit(start, data, names, parted.e.names.symbols)
    made = problem(f, wrt, data, texts, bounds, start, sizes, declarations=declarations, dialect=dialect,
                   target=target, parametrise=parametrise, check_facts=check_facts)  # fmt: skip
    own = [] if isinstance(constraints, str) else [_constraint(c) for c in constraints if not isinstance(c, str)]
    made.constraints.extend(own)
    if compiled:
        options = options | {"progress": progress}
        return _named(made, minimised(made, method or "", rows, options, threads, check_facts), parted.parts, forms)
    kind = named or ("SLSQP" if made.constraints else "L-BFGS-B")
    for given, what, taking in ((made.constraints, "constraints", CONSTRAINED), (made.bounds, "bounds", BOUNDED)):
        if given and kind not in taking:
            raise ValueError(f"{kind} does not support {what}: {', '.join(taking)} do")
    callback = options.pop("callback", None)
    if progress:
        callback = _reporting(made, callback)
    result = _squares(made, kind, callback, options) if kind in RESIDUAL else _minimised(made, kind, callback, options)
    return _named(made, result, parted.parts, forms)


def _by_part(values: Any, what: str, parts: Mapping[str, Any]) -> dict[str, Any]:
    """Return values by symbol name, where a part of a symbol (`x[0]`) has the name of the symbol that replaces it."""
    found = {}
    for key, value in by_name(values, what).items():
        requested = read_wrt(key)
        label = f"{name_of(requested.symbols)}[{requested.parts[0]}]" if requested.parts else ""
        found[next((name for name, piece in parts.items() if str(piece) == label), "") or name_of(key)] = value
    return found


def _minimised(made: Problem, kind: str, callback: Any, options: Mapping[str, Any]) -> Any:
    from scipy.optimize import minimize as scipy_minimize

    values: list[float] = []
    arguments: dict[str, Any] = {"fun": recorded(made.value if kind in VALUE else made.value_and_gradient, values)}
    if kind not in VALUE:
        arguments["jac"] = True
    if kind in PRODUCT:
        arguments["hessp"] = made.hessp
    if kind in HESSIAN:
        arguments["hess"] = made.hess
    if made.bounds is not None:
        arguments["bounds"] = made.bounds
    if made.constraints:
        arguments["constraints"] = [_for_method(constraint, kind) for constraint in made.constraints]
    result = scipy_minimize(x0=made.x0, method=kind, callback=callback, **arguments, **options)
    result.history = values
    return result


def _for_method(constraint: Any, kind: str) -> Any:
    """Return a constraint without its Hessian unless the method is trust-constr: other methods warn about it."""
    from scipy.optimize import NonlinearConstraint

    if kind == "trust-constr" or not isinstance(constraint, NonlinearConstraint):
        return constraint
    return NonlinearConstraint(constraint.fun, constraint.lb, constraint.ub, jac=constraint.jac)


def _squares(made: Problem, kind: str, callback: Any, options: Mapping[str, Any]) -> Any:
    """Minimise |r|^2 by SciPy's least_squares, whose cost is half of it."""
    from scipy.optimize import least_squares

    found = residuals(made.given)
    if found is None:
        raise NotSupported(f"{kind} works on residuals, and the objective is not recognised as a sum of squares")
    assert made.x0 is not None
    first = found.value(made.x0)
    if not np.all(np.isfinite(first)):
        raise ValueError(f"{kind}: a residual is not finite at the start")
    if kind == "lm" and first.size < made.given.packing.size:
        raise ShapeError(f"lm needs as many residuals as variables: {first.size} for {made.given.packing.size}")
    more: dict[str, Any] = dict(options)
    if "tol" in more:
        tol = more.pop("tol")
        more |= {"ftol": tol, "xtol": tol, "gtol": tol}
    more |= more.pop("options", None) or {}
    if made.bounds is not None:
        more["bounds"] = made.bounds
    if callback is not None and kind != "lm":  # MINPACK has no callbacks
        more["callback"] = callback
    values: list[float] = []
    result = least_squares(recorded(found.value, values), made.x0, jac=found.jacobian, method=kind, **more)
    result.residual, result.jacobian = result.pop("fun"), result.pop("jac")
    result.fun, result.jac, result.history = 2 * result.cost, 2 * result.grad, values
    return result


def _constraint(given: Any) -> Any:
    """Return a constraint on the packed vector that is an object of SciPy.

    Raises: ValueError for any other object.
    """
    from scipy.optimize import LinearConstraint, NonlinearConstraint

    if isinstance(given, (LinearConstraint, NonlinearConstraint, dict)):
        return given
    raise ValueError(f"{shown(given)} is no comparison: a constraint is text, 'sum(w) == 1', or one of SciPy's")


def _reporting(made: Problem, callback: Any) -> Any:
    """Return a callback that prints a line for each step, then calls another."""
    step = 0

    def report(intermediate_result: Any) -> Any:
        nonlocal step
        step += 1
        at = getattr(intermediate_result, "x", intermediate_result)
        value = getattr(intermediate_result, "fun", None)
        value = made.fun(at) if value is None or np.ndim(value) else value
        print(f"step {step:4d}  f = {float(value):.10g}", flush=True)
        return None if callback is None else callback(intermediate_result)

    return report


def _named(made: Problem, result: Any, parts: Mapping[str, Any], forms: Mapping[str, Form]) -> Any:
    """Return SciPy's result with arrays by name, in containers; parts of symbols are named as in `wrt`."""
    from matcalc.solvers.result import Result

    def named(x: Any) -> dict[str, Any]:
        arrays = x if isinstance(x, dict) else made.unpack(x)
        return gathered({str(parts.get(name, name)): array for name, array in arrays.items()}, forms)

    size = made.given.packing.size
    for field in ("jac", "grad"):
        found = result.get(field)  # trust-constr returns a list `jac` of the constraints
        is_vector = isinstance(found, np.ndarray) and found.shape == (size,) and not made.is_parametrised
        if is_vector or isinstance(found, dict):  # for many fits it is already by name
            result[field] = named(found)
    return Result({**result, "x": named(result["x"])})
