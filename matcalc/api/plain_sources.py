"""Writes formulas and derivatives as one function of plain source: `mc.plain`."""

from __future__ import annotations

from collections.abc import Sequence

from matcalc.errors import ShapeError
from matcalc.expressions.as_source import plain_source
from matcalc.expressions.read_input import Readable, expressions


def plain(
    outputs: Readable | Sequence[object],
    declarations: str = "",
    language: str = "python",
    name: str = "f",
    dialect: str = "matrix",
    check: bool = True,
) -> str:
    """Return the source of one function that returns the values of formulas, as a person would write it.

    It needs NumPy and SciPy (or the library of another `language`) alone. Lists and tuples of formulas may be nested;
    the function returns all values in order, as a tuple.

    Raises: NotSupported for an operation without a plain form; InternalError if the text computes other numbers than
        the formulas as written; `check=False` omits the comparison.

    Example:
        >>> import matcalc as mc
        >>> f = mc.expression("norm2(X*w - y)^2")
        >>> print(mc.plain([f, f.gradient("w")], name="loss_and_gradient"), end="")
        def loss_and_gradient(X, w, y):
            \"\"\"Return norm2(X*w - y)^2 and its gradient in w.
        <BLANKLINE>
            X: (m, n), w: (n,), y: (m,)
            \"\"\"
            r = X @ w - y
            value = r @ r
            gradient_w = 2 * (X.T @ r)
            return value, gradient_w
    """
    flat: list[Readable] = []
    _flatten(outputs, flat)
    return plain_source(expressions(flat, declarations, dialect), language, name, check)


def _flatten(outputs: object, flat: list[Readable]) -> None:
    """Append formulas to `flat` in order.

    Raises: ShapeError for an empty list.
    """
    if not isinstance(outputs, (list, tuple)):
        flat.append(outputs)
        return
    if not outputs:
        raise ShapeError("plain needs at least one formula")
    for part in outputs:
        _flatten(part, flat)
