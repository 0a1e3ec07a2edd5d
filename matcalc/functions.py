"""The public functions on formulas: each reads its input and asks the expression."""

from __future__ import annotations

from typing import Any

from matcalc.errors import NotDifferentiable, NotSupported
from matcalc.expressions.expression import Expression
from matcalc.expressions.read_input import expression, from_sympy, symbols, with_wrt
from matcalc.expressions.sympy_bridge.given_objects import entry_of
from matcalc.language.identifiers import shown
from matcalc.rulebook.load import default_rulebook

__all__ = [
    "differential", "expression", "from_sympy", "gradient", "hessian", "hvp", "jacobian", "jvp", "symbols", "vjp",
]  # fmt: skip


def gradient(f: Any, wrt: Any, declarations: str = "", convention: str = "projected", dialect: str = "matrix") -> Any:
    """Return the gradient of a scalar formula, the shape of `wrt`; a tuple where `wrt` is a list.

    Of a symbol with a linear fact (symmetric, skew, lower, upper, diagonal) it is projected on the matrices with that
    fact, so that df = sum(gradient .* dX); `convention="magnus"` counts dX[i,j] and dX[j,i] of a symmetric one as one.

    Shapes: f (); result as `wrt`.
    Raises: ShapeError where f is no scalar or for another convention; UnknownName; NotDifferentiable; what reading f
        raises.
    Source: Magnus & Neudecker 2019, chapters 9 and 13, for the differential; Giles 2008 for the pullbacks.

    Example:
        >>> str(gradient("norm2(X*w - y)^2", "w"))
        "2*X'*(X*w - y)"
    """
    whole, places = _entries(wrt)
    e = with_wrt(f, whole, declarations, dialect)
    return _taken(e, whole, places, e.gradient(whole, convention), 0)


def jacobian(f: Any, wrt: Any, declarations: str = "", layout: str = "tensor", dialect: str = "matrix") -> Any:
    """Return the generalised Jacobian d f[i...]/d wrt[j...]; a tuple where `wrt` is a list.

    Shapes: result f.shape + wrt.shape; with layout="vec" the matrix d vec(f)/d vec(wrt)', columns stacked.
    Raises: ShapeError for another layout; UnknownName; NotDifferentiable; NotSupported for "vec" by one entry.
    """
    whole, places = _entries(wrt)
    e = with_wrt(f, whole, declarations, dialect)
    if places and layout != "tensor":
        raise NotSupported(f"layout={shown(layout)} of a derivative by one entry: it has the shape of the formula")
    return _taken(e, whole, places, e.jacobian(whole, layout), len(e.shape))


def hessian(f: Any, wrt: Any, declarations: str = "", layout: str = "tensor", dialect: str = "matrix") -> Any:
    """Return the Hessian of a scalar formula; rows of blocks where `wrt` is a list.

    Shapes: f (); result wrt.shape + wrt.shape, a block first.shape + second.shape; with layout="vec" a matrix.
    Raises: ShapeError where f is no scalar or for another layout; UnknownName; NotDifferentiable.
    """
    return with_wrt(f, wrt, declarations, dialect).hessian(wrt, layout)


def differential(f: Any, wrt: Any, declarations: str = "", tangent: Any = None, dialect: str = "matrix") -> Expression:
    """Return the differential, linear in new symbols d + name (or `tangent`, a list where `wrt` is one).

    That of a scalar is in the form tr(A'*dX), A the gradient.

    Shapes: a tangent as its symbol; result as f.
    Raises: UnknownName; NotDifferentiable; ShapeError where a tangent's name is in use.
    """
    return with_wrt(f, wrt, declarations, dialect).differential(wrt, tangent)


def jvp(f: Any, wrt: Any, declarations: str = "", tangent: Any = None, dialect: str = "matrix") -> Expression:
    """Return the pushforward of tangents d + name, the total where `wrt` is a list: `differential` by another name.

    Shapes: a tangent as its symbol; result as f.
    Raises: UnknownName; NotDifferentiable; ShapeError where a tangent's name is in use.
    """
    return with_wrt(f, wrt, declarations, dialect).jvp(wrt, tangent)


def vjp(f: Any, wrt: Any, declarations: str = "", cotangent: str = "G", dialect: str = "matrix") -> Any:
    """Return the pullback of a cotangent; a tuple where `wrt` is a list.

    Shapes: the cotangent as f; result as `wrt`, with sum(cotangent .* df) = sum(result .* dX).
    Raises: UnknownName; NotDifferentiable; ShapeError where the cotangent's name is in use.
    """
    return with_wrt(f, wrt, declarations, dialect).vjp(wrt, cotangent)


def hvp(f: Any, wrt: Any, declarations: str = "", vector: Any = "v", dialect: str = "matrix") -> Any:
    """Return the Hessian of a scalar formula times a direction, without forming the Hessian.

    Shapes: f (); a direction as its symbol (`v`; v_ + name where `wrt` is a list, and full row sums); result as `wrt`.
    Raises: ShapeError where f is no scalar; UnknownName; NotDifferentiable.
    Source: Pearlmutter 1994, by a pushforward of the gradient.
    """
    return with_wrt(f, wrt, declarations, dialect).hvp(wrt, vector)


def _entries(wrt: Any) -> tuple[Any, dict[int, tuple[int, ...]]]:
    """Return `wrt` with an entry of a SymPy symbol, `X[1, 1]`, as the symbol; and the entries, by place in a list."""
    many = isinstance(wrt, (list, tuple))
    found = {k: entry for k, one in enumerate(wrt if many else [wrt]) if (entry := entry_of(one)) is not None}
    whole = [found[k][0] if k in found else one for k, one in enumerate(wrt if many else [wrt])]
    return (whole if many else whole[0]), {k: place for k, (_, place) in found.items()}


def _taken(e: Expression, wrt: Any, places: dict[int, tuple[int, ...]], made: Any, rank: int) -> Any:
    """Return derivatives, those by an entry without the others.

    Raises: NotDifferentiable where entries depend on each other.
    """
    found = list(made) if isinstance(made, tuple) else [made]
    for k, place in places.items():
        x = e.symbols_of(wrt)[k]
        tied = default_rulebook().hull(x.data[1])
        if tied:
            raise NotDifferentiable(f"{x.name} is {tied[0]}: by one entry alone it cannot be differentiated")
        found[k] = found[k][(*[slice(None)] * rank, *place)] if place else found[k]
    return tuple(found) if isinstance(made, tuple) else found[0]
