"""Writes the plain source of each formula of the table, and runs it."""

from functools import cache

import numpy as np

import matcalc as mc

FIRST = {"gradient": mc.gradient, "jacobian": mc.jacobian, "vjp": mc.vjp}


@cache
def outputs(formula):
    """Return the value and the derivatives that the hand-written function returns, as expressions."""
    value = mc.expression(formula.text, formula.declarations)
    if formula.gives == "hvp":
        return (mc.hvp(value, formula.wrt[0]),)
    if formula.gives == "hessian":
        return value, mc.gradient(value, formula.wrt[0]), mc.hessian(value, formula.wrt[0])
    return value, *FIRST[formula.gives](value, list(formula.wrt))


@cache
def source(formula, language="python"):
    """Return the plain source of a formula with its derivatives."""
    return mc.plain(list(outputs(formula)), language=language, name=formula.name, check=language == "python")


def loaded(formula):
    """Return the function of the plain Python source."""
    names = {}
    exec(compile(source(formula), f"<{formula.name}>", "exec"), names)
    return names[formula.name]


def as_tuple(results):
    """Return the results as a tuple of arrays."""
    results = results if isinstance(results, tuple) else (results,)
    return tuple(np.asarray(r, dtype=float) for r in results)


def assert_close(got, expected, bound=1e-12, least=0.0):
    """Assert that all arrays are equal, relative to the largest entry of each, or to `least` if that is larger."""
    for a, b in zip(as_tuple(got), as_tuple(expected), strict=True):
        assert a.shape == b.shape
        assert np.max(np.abs(a - b), initial=0) <= bound * np.max(np.abs(b), initial=least), (a, b)
