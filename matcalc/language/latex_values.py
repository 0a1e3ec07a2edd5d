"""Values of layouts: asking for one, the kind of products and sums, and how two readings are shown."""

from __future__ import annotations

from collections.abc import Sequence

from matcalc.errors import ParseError
from matcalc.language.latex_scope import Reading, Value
from matcalc.language.syntax import Ast
from matcalc.language.write import ends

_PRODUCTS = {
    ("row", "vector"): "scalar", ("vector", "row"): "matrix", ("matrix", "vector"): "vector",
    ("row", "matrix"): "row", ("matrix", "matrix"): "matrix",
}  # fmt: skip


def fault(message: str, layout: Ast, hint: str = "") -> ParseError:
    """Return the error of a layout, at its place."""
    return ParseError(message, at=layout.caret, hint=hint)


def value(reading: Reading, layout: Ast, found: Value | None = None) -> Value:
    """Return the value of a layout, which may be given.

    Raises: ParseError where it has none.
    """
    found = found if found is not None else reading.made[layout]
    if found.fault is not None:
        raise found.fault
    if found.tree is None:
        raise fault("expected an operand here", layout)
    return found


def needed(reading: Reading, layout: Ast, forms: tuple[str, ...] = ()) -> Value:
    """Return the value of a layout that is a formula, or of one of the other forms that an operand may have.

    Raises: ParseError where it is none.
    """
    found = value(reading, layout)
    if found.form and found.form not in forms:
        raise fault(f"a {found.form} is no value", layout)
    return found


def is_plain_number(layout: Ast) -> bool:
    r"""Whether a layout is a number, and no \mathbf{1}."""
    return layout.head == "number" and not layout.value[1]  # type: ignore[index]


def kind_of_product(left: str, right: str) -> str:
    """Return the kind of a product, "" where it is not known."""
    if "scalar" in (left, right):
        return right if left == "scalar" else left
    return _PRODUCTS.get((left, right), "")


def kind_of_sum(kinds: Sequence[str]) -> str:
    """Return the kind of a sum; a scalar is added to every entry."""
    if "" in kinds:
        return next((kind for kind in kinds if kind not in ("", "scalar")), "")
    return next((kind for kind in kinds if kind != "scalar"), "scalar")


def readings(*trees: Ast) -> str:
    """Return trees as text of the matrix language, as alternatives."""
    return " or ".join(dict.fromkeys(ends(tree, 60, 11) for tree in trees))
