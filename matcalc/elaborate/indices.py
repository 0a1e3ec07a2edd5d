"""Index form: which names are indices, and which product each summed one belongs to.

`{i,j: A[i,k]*B[k,j]}` lists i and j; k is summed over the smallest product or tensor that holds all its
occurrences, in each term of a sum by itself. So a name that is not listed is carried down the tree, from a
product to the one factor that holds it, until two factors or a tensor hold it: there it is given a label
and summed. Index names hide symbols only where they are listed, or not declared.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import cast

from matcalc.elaborate.inference import Inference, einsum
from matcalc.elaborate.typed import Einsum, Labels, Typed
from matcalc.errors import MatcalcError, NotSupported
from matcalc.language.syntax import Ast, children, walk
from matcalc.normal_form.signature_shapes import size_of
from matcalc.sizes import Size

Names = frozenset[str]
NONE: Names = frozenset()
TENSORS = ("part", "condition")


def open_indices(inference: Inference, form: Ast) -> Names:
    """Return the names that an outermost index form sums over; note those that each tree in it holds."""
    free = inference.free
    for ast in walk(form):
        names = NONE.union(*(free[id(child)] for child in children(ast)))
        if ast.head == "part":
            names |= {str(s.value) for s in ast.args[1:] if s.head == "name" and is_open(inference, str(s.value))}
        elif ast.head == "condition":
            names |= {str(n.value) for n in walk(ast) if n.head == "name" and is_open(inference, str(n.value))}
        elif ast.head == "index_form":
            names -= set(cast("tuple[str, ...]", ast.value))
        free[id(ast)] = names
    return free[id(form)]


def is_open(inference: Inference, name: str) -> bool:
    """Whether a name means nothing but an index."""
    declared = name in inference.symbols and inference.symbols[name].declared
    return not declared and name not in inference.size_names and name not in inference.parameters


def place(inference: Inference, ast: Ast, names: Names, operands: Sequence[Ast]) -> tuple[Names, list[Names]]:
    """Return which of `names` are summed at `ast`, and which are handed on to each of its `operands`.

    Raises: ShapeError for an index in several operands of a function, with no product round it.
    """
    held = [inference.free.get(id(child), NONE) & names for child in operands]
    if ast.head == "sum":
        return NONE, held
    here: set[str] = set()
    for name in sorted(names):
        count = sum(name in h for h in held)
        holder = next((child for child, h in zip(operands, held, strict=True) if name in h), None)
        if (
            ast.head in TENSORS
            and _is_subscript(ast, name)
            or ast.head == "product"
            and (count > 1 or (holder is not None and not _lands(inference, holder, name)))
        ):
            here.add(name)
        elif count > 1:
            hint = f"multiply by ones(...)[{name}] where the sum belongs"
            raise inference.fault(f"index {name} stands in several operands and no product holds them", ast, hint=hint)
    summed = frozenset(here)
    return summed, [h - summed for h in held]


def _is_subscript(ast: Ast, name: str) -> bool:
    if ast.head == "condition":
        return True
    return any(s.head == "name" and s.value == name for s in ast.args[1:])


def _lands(inference: Inference, ast: Ast, name: str) -> bool:
    """Whether a product, a sum or a tensor inside `ast` holds all that `ast` holds of an index."""
    while ast.head not in ("product", "sum", *TENSORS):
        inner = [child for child in children(ast) if name in inference.free.get(id(child), NONE)]
        if len(inner) != 1:
            return False
        ast = inner[0]
    return True


def bind(inference: Inference, names: Sequence[str], ast: Ast) -> dict[str, int | None]:
    """Put index names in force with new labels; return what they meant before."""
    before: dict[str, int | None] = {}
    for name in names:
        before[name] = inference.bound.get(name)
        label = inference.label(inference.sizes.fresh())
        inference.bound[name] = label
        inference.index_labels.append((label, name, ast, inference.text))
    return before


def restore(inference: Inference, before: dict[str, int | None]) -> None:
    """Put back what index names meant."""
    for name, label in before.items():
        if label is None:
            del inference.bound[name]
        else:
            inference.bound[name] = label


def summed(inference: Inference, value: Typed, labels: Sequence[int]) -> Typed:
    """Return a value summed over named axes."""
    if not any(label in value.axes for label in labels):
        return value
    axes = tuple(label for label in value.axes if label not in labels)
    core = inference.labels(value)
    data = Einsum(Fraction(1), (value.axes + core,), axes + core)
    return Typed("einsum", value.ast, value.shape, (value,), data, axes, value.row)


def infer_index_form(inference: Inference, ast: Ast, body: Typed, listed: Labels) -> Typed:
    """Return the tensor whose axes are the listed indices, in order."""
    if body.rank:
        hint = "give every tensor in it as many subscripts as it has axes"
        raise inference.fault(f"the body of an index form is a number, not {inference.describe(body)}", ast, hint=hint)
    value = einsum(inference, ast, [(body, ())], listed)
    value.axes = tuple(label for label in body.axes if label not in listed)
    value.data.out = value.axes + listed
    return value


def infer_condition(inference: Inference, ast: Ast) -> Typed:
    """Return a condition as a tensor over its indices; its data: relation, and left - right over `@label`."""
    named = [str(node.value) for node in walk(ast) if node.head == "name"]
    for name in named:
        if name not in inference.bound and name not in inference.size_names:
            message = f"a condition is over indices and sizes, and {name} is neither"
            raise inference.fault(message, ast)
    used = dict.fromkeys(name for name in named if name in inference.bound)
    values = {**inference.size_names, **{name: Size.of(f"@{inference.bound[name]}") for name in used}}
    try:
        difference = size_of(ast.args[0], values) - size_of(ast.args[1], values)
    except MatcalcError as fault:
        raise NotSupported(f"a condition: {fault.message}", text=inference.text, at=ast.caret) from None
    axes = tuple(sorted(inference.bound[name] for name in used))
    return Typed("condition", ast, (), (), (ast.value, difference), axes)
