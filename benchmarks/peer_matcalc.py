"""matcalc: the formula as text, called with NumPy arrays."""

from __future__ import annotations

from problems import DIRECTION, FORWARD_SEED, Call, Data, Problem

import matcalc as mc


def compiled(problem: Problem, name: str = "f") -> mc.Compiled:
    """Return the compiled function of a problem, under a name of its own."""
    f = mc.expression(problem.formula, problem.declarations)
    wrt = problem.wrt[0] if len(problem.wrt) == 1 else list(problem.wrt)
    if problem.gives == "gradient":
        return mc.value_and_gradient(f, wrt, name=name)
    if problem.gives == "pullback":
        return mc.compile([f, f.vjp(wrt, cotangent=FORWARD_SEED)], name=name)
    if problem.gives == "hvp":
        return mc.compile(f.hvp(wrt, vector=DIRECTION), name=name)
    return mc.compile(f.hessian(wrt) if problem.gives == "hessian" else f.jacobian(wrt), name=name)


def build(problem: Problem, data: Data) -> Call:
    """Return a function without arguments that computes the answer from `data`."""
    try:
        fn = compiled(problem)
    except mc.NotSupported as missing:
        raise NotImplementedError(str(missing)) from None
    args = [data[name] for name in fn.args]
    return lambda: fn(*args)
