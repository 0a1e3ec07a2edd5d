"""The public functions on formulas: each reads its input and asks the expression."""

from __future__ import annotations

from typing import Any

from matcalc.expressions import Expression
from matcalc.reading import expression, symbols, with_wrt

__all__ = [
    "differential", "expression", "gradient", "hessian", "hvp", "jacobian", "jvp", "symbols", "vjp",
]  # fmt: skip


def gradient(f: Any, wrt: Any, declarations: str = "", convention: str = "projected", dialect: str = "matrix") -> Any:
    """Return the gradient of a scalar formula, the shape of `wrt`; a tuple where `wrt` is a list.

    Raises: ShapeError where f is no scalar, UnknownName, NotDifferentiable.

    Example:
        >>> str(gradient("norm2(X*w - y)^2", "w"))
        "2*X'*(X*w - y)"
    """
    return with_wrt(f, wrt, declarations, dialect).gradient(wrt, convention)


def jacobian(f: Any, wrt: Any, declarations: str = "", layout: str = "tensor", dialect: str = "matrix") -> Any:
    """Return the generalised Jacobian, shape f.shape + wrt.shape; with layout="vec" d vec(f)/d vec(wrt)'."""
    return with_wrt(f, wrt, declarations, dialect).jacobian(wrt, layout)


def hessian(f: Any, wrt: Any, declarations: str = "", layout: str = "tensor", dialect: str = "matrix") -> Any:
    """Return the Hessian of a scalar formula, shape wrt.shape + wrt.shape; rows of blocks for a list."""
    return with_wrt(f, wrt, declarations, dialect).hessian(wrt, layout)


def differential(f: Any, wrt: Any, declarations: str = "", tangent: Any = None, dialect: str = "matrix") -> Expression:
    """Return the differential, linear in the new symbol d + name."""
    return with_wrt(f, wrt, declarations, dialect).differential(wrt, tangent)


def jvp(f: Any, wrt: Any, declarations: str = "", tangent: Any = None, dialect: str = "matrix") -> Expression:
    """Return the pushforward of the tangent d + name, the shape of f."""
    return with_wrt(f, wrt, declarations, dialect).jvp(wrt, tangent)


def vjp(f: Any, wrt: Any, declarations: str = "", cotangent: str = "G", dialect: str = "matrix") -> Any:
    """Return the pullback of the cotangent G (the shape of f): the shape of `wrt`."""
    return with_wrt(f, wrt, declarations, dialect).vjp(wrt, cotangent)


def hvp(f: Any, wrt: Any, declarations: str = "", vector: Any = "v", dialect: str = "matrix") -> Any:
    """Return the Hessian of a scalar formula times the vector v: the shape of `wrt`."""
    return with_wrt(f, wrt, declarations, dialect).hvp(wrt, vector)
