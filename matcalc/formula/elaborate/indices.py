"""Resolves index form: which names are indices, and in which product each of them is summed.

`{i,j: A[i,k]*B[k,j]}` lists i and j. k is summed over the outermost product that repeats it, separately in each term of
a sum and each argument of a function, also in nested forms (`language/index_sums.py`). A name that is not listed is
passed down the tree until two factors hold it, or one tensor holds it twice. There it gets a label and is summed. A
name that occurs only once raises, with its possible readings (`index_readings.py`); `sum{k: x[k]^2}` is unambiguous.
Index names hide symbols only if they are listed, or if the symbols are not declared.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import cast

from matcalc.formula.inference import index_ranges
from matcalc.formula.inference.index_readings import unsummed
from matcalc.formula.inference.inference import Inference, einsum
from matcalc.formula.inference.typed import Labels, Typed
from matcalc.language.index_sums import NONE, Names, held_in, is_summed
from matcalc.language.recurrences import STATE
from matcalc.language.syntax import Ast, names_in, walk
from matcalc.tensor.sizes.size import is_nonnegative


def open_indices(inference: Inference, form: Ast) -> Names:
    """Return the names that an outermost index form sums over; record the names that each tree in it holds.

    Raises: ShapeError for the name of a size that is used like a summed index.
    """
    _check_captured(inference, form)
    inference.form = form
    inference.free, inference.sums = held_in(form, partial(is_open, inference))
    return inference.free[form]


def is_open(inference: Inference, name: str) -> bool:
    """Whether a name can only be an index."""
    declared = name in inference.symbols and inference.symbols[name].declared
    return not declared and name not in inference.size_names and name not in inference.parameters


def _check_captured(inference: Inference, form: Ast) -> None:
    """Raise for the name of a size that a product repeats among subscripts, as `k` in `{i: A[i,k]*B[k,i]}`.

    A size is a subscript, as in `x[n]`, if every axis at which it occurs is declared to be longer.

    Raises: ShapeError.
    """
    sizes = inference.size_names.keys() - inference.symbols.keys() - inference.parameters.keys()
    parts_ = [node for node in walk(form) if node.head == "part"]
    for name in sorted(sizes & {str(s.value) for part in parts_ for s in part.args[1:] if s.head == "name"}):
        held = held_in(form, name.__eq__)
        count = sum(s.head == "name" and s.value == name for part in parts_ for s in part.args[1:])
        is_repeated = count > 1 and any(
            is_summed(name, tree, held.names) for tree in walk(form) if name in held.names[tree]
        )
        if is_repeated and not all(_is_subscript(inference, name, part) for part in parts_):
            hint = f"if {name} is to be an index, give it another name: {name} is declared as a size"
            raise inference.fault(f"'{name}' is both a size and an index", form, hint=hint)


def _is_subscript(inference: Inference, name: str, part: Ast) -> bool:
    """Whether the axes at which a size is a subscript are declared to be longer than it, or are those of steps."""
    symbol = inference.symbols.get(str(part.args[0].value)) if part.args[0].head == "name" else None
    at = [k for k, s in enumerate(part.args[1:]) if s.head == "name" and s.value == name]
    if not at or (part.args[0].head == STATE and at == [0]):
        return True
    if symbol is None or len(symbol.shape) != len(part.args) - 1:
        return False
    return all(is_nonnegative(symbol.shape[k] - inference.size_names[name] - 1) for k in at)


def assign_sums(inference: Inference, ast: Ast, names: Names, operands: Sequence[Ast]) -> tuple[Names, list[Names]]:
    """Return which of `names` are summed at `ast`, and which are passed on to each of its `operands`.

    Raises: ShapeError for an index that occurs once in a tensor and in no other factor.
    """
    held = [inference.free.get(child, NONE) & names for child in operands]
    subscripts = [str(s.value) for s in ast.args[1:] if s.head == "name"] if ast.head == "part" else []
    summed = frozenset(n for n in names if ast.head in ("product", "part") and _count(n, held, subscripts) > 1)
    alone = names - summed if ast.head == "condition" else (names - summed) & frozenset(subscripts)
    if alone:
        raise unsummed(inference, ast, min(alone))
    return summed, [h - summed for h in held]


def _count(name: str, held: Sequence[Names], subscripts: Sequence[str]) -> int:
    return subscripts.count(name) + sum(name in one for one in held)


def listed_in(inference: Inference, form: Ast) -> tuple[str, ...]:
    """Return the indices that a form lists.

    Raises: ShapeError for a listed name that is a size.
    """
    listed = cast("tuple[str, ...]", form.value)
    for name in listed:
        if name in inference.size_names:
            hint = "give the index another name"
            if any(node.head == "power" and name in names_in(node.args[1]) for node in walk(form)):
                steps = f"x[0] = b, x[{name}+1] = A*x[{name}]"
                hint = f"an index is no exponent of a matrix: write a recurrence, {steps}, or {hint}"
            raise inference.fault(f"'{name}' is both a size and an index", form, hint=hint)
    return listed


def bind(inference: Inference, names: Sequence[str], ast: Ast) -> dict[str, int | None]:
    """Bind index names to new labels; return their former labels."""
    before: dict[str, int | None] = {}
    for name in names:
        before[name] = inference.bound.get(name)
        label = inference.label(inference.sizes.fresh())
        inference.bound[name] = label
        inference.index_labels.append((label, name, ast, inference.text))
        index_ranges.open_range(inference, name, label, ast)
    return before


def restore(inference: Inference, before: dict[str, int | None]) -> None:
    """Restore the former labels of index names."""
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
    return einsum(inference, value.ast, [(value, core)], core, row=value.row, axes=axes)


def infer_index_form(inference: Inference, ast: Ast, body: Typed, listed: Labels) -> Typed:
    """Return the tensor whose axes are the listed indices, in order."""
    if body.rank:
        hint = "give every tensor in it as many subscripts as it has axes"
        raise inference.fault(f"the body of an index form is a number, not {inference.describe(body)}", ast, hint=hint)
    return einsum(inference, ast, [(body, ())], listed, axes=tuple(k for k in body.axes if k not in listed))


def infer_index_sum(inference: Inference, ast: Ast, body: Typed, listed: Labels) -> Typed:
    """Return the sum of a number over the listed indices."""
    if body.rank:
        hint = "give every tensor in it as many subscripts as it has axes"
        raise inference.fault(f"a sum over indices is of a number, not {inference.describe(body)}", ast, hint=hint)
    return summed(inference, body, listed)
