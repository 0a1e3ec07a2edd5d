"""Provides the public functions on formulas: each reads its input and calls a method of the expression.

Each result is compared with the formula as written before it is returned: at random data of small sizes, by complex
steps or differences. A result that differs raises InternalError; `check=False` omits the comparison.
"""

from __future__ import annotations

from matcalc.expressions.expression import Expression
from matcalc.expressions.operands.handle import Derived, Wrt
from matcalc.expressions.read_input import Readables, expression, from_sympy, function, symbols, with_wrt
from matcalc.language.declare import Declarations

__all__ = [
    "differential", "expression", "from_sympy", "function", "gradient", "hessian", "hvp", "jacobian", "jvp", "symbols",
    "vjp",
]  # fmt: skip


def gradient(
    f: Readables,
    wrt: Wrt,
    declarations: Declarations = "",
    convention: str = "projected",
    dialect: str = "matrix",
    check: bool = True,
) -> Derived:
    """Return the gradient of a scalar formula, with the shape of `wrt`; a tuple if `wrt` is a list.

    For a symbol with a linear fact (symmetric, skew, lower, upper, diagonal) the gradient is projected on the matrices
    with that fact, so that df = sum(gradient .* dX). `convention="magnus"` counts dX[i,j] and dX[j,i] of a symmetric
    matrix as one variable. The gradient in a container of arrays, `params`, is a container of the same form.

    Shapes: f (); result as `wrt`.
    Raises: ShapeError if f is not a scalar, or for another convention; UnknownName; NotDifferentiable; the errors of
        reading f.
    Source: Magnus & Neudecker 2019, chapters 9 and 13, for the differential; Giles 2008 for the pullbacks.

    Example:
        >>> str(gradient("norm2(X*w - y)^2", "w"))
        "2*X'*(X*w - y)"
    """
    return with_wrt(f, wrt, declarations, dialect, scalar=True).gradient(wrt, convention, check)


def jacobian(
    f: Readables,
    wrt: Wrt,
    declarations: Declarations = "",
    layout: str = "tensor",
    dialect: str = "matrix",
    check: bool = True,
) -> Derived:
    """Return the generalised Jacobian d f[i...]/d wrt[j...]; a tuple if `wrt` is a list.

    Formulas in a list must have one shape; they are stacked along a new first axis. If `wrt` is a SymPy matrix, the
    result has its shape for the variables.

    Shapes: result f.shape + wrt.shape; with layout="vec" the matrix d vec(f)/d vec(wrt)', columns stacked.
    Raises: ShapeError for another layout; UnknownName; NotDifferentiable; NotSupported for "vec" by one entry.
    """
    return with_wrt(f, wrt, declarations, dialect).jacobian(wrt, layout, check)


def hessian(
    f: Readables,
    wrt: Wrt,
    declarations: Declarations = "",
    layout: str = "tensor",
    dialect: str = "matrix",
    check: bool = True,
) -> Derived:
    """Return the Hessian of a scalar formula; rows of blocks if `wrt` is a list.

    Shapes: f (); result wrt.shape + wrt.shape, a block first.shape + second.shape; with layout="vec" a matrix.
    Raises: ShapeError if f is not a scalar, or for another layout; UnknownName; NotDifferentiable.
    """
    return with_wrt(f, wrt, declarations, dialect, scalar=True).hessian(wrt, layout, check)


def differential(
    f: Readables,
    wrt: Wrt,
    declarations: Declarations = "",
    tangent: Wrt | None = None,
    dialect: str = "matrix",
    check: bool = True,
) -> Expression:
    """Return the differential, linear in new symbols d + name (or in `tangent`, a list if `wrt` is one).

    The differential of a scalar has the form tr(A'*dX), with A the gradient.

    Shapes: a tangent as its symbol; result as f.
    Raises: UnknownName; NotDifferentiable; ShapeError if a tangent's name is in use.
    """
    return with_wrt(f, wrt, declarations, dialect).differential(wrt, tangent, check)


def jvp(
    f: Readables,
    wrt: Wrt,
    declarations: Declarations = "",
    tangent: Wrt | None = None,
    dialect: str = "matrix",
    check: bool = True,
) -> Expression:
    """Return the pushforward of tangents d + name, summed over a list `wrt`. The same as `differential`.

    Shapes: a tangent as its symbol; result as f.
    Raises: UnknownName; NotDifferentiable; ShapeError if a tangent's name is in use.
    """
    return with_wrt(f, wrt, declarations, dialect).jvp(wrt, tangent, check)


def vjp(
    f: Readables,
    wrt: Wrt,
    declarations: Declarations = "",
    cotangent: str = "G",
    dialect: str = "matrix",
    check: bool = True,
) -> Derived:
    """Return the pullback of a cotangent; a tuple if `wrt` is a list.

    Shapes: the cotangent as f; result as `wrt`, with sum(cotangent .* df) = sum(result .* dX).
    Raises: UnknownName; NotDifferentiable; ShapeError if the cotangent's name is in use.
    """
    return with_wrt(f, wrt, declarations, dialect).vjp(wrt, cotangent, check)


def hvp(
    f: Readables,
    wrt: Wrt,
    declarations: Declarations = "",
    vector: Wrt = "v",
    dialect: str = "matrix",
    check: bool = True,
) -> Derived:
    """Return the Hessian of a scalar formula times a direction, without forming the Hessian.

    If `wrt` is a list, the directions are v_ + name, and the results are sums over whole block rows.

    Shapes: f (); a direction as its symbol; result as `wrt`.
    Raises: ShapeError if f is not a scalar; UnknownName; NotDifferentiable.
    Source: Pearlmutter 1994, by a pushforward of the gradient.
    """
    return with_wrt(f, wrt, declarations, dialect, scalar=True).hvp(wrt, vector, check)
