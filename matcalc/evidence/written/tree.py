"""Evaluates a syntax tree at data: the reference evaluator of a formula as written.

Shapes come from the arrays, operations from the `value` of their rules. The normal form, derivatives, rewrites and
facts are not used, so that a fault in them shows. It is slow and obvious.
"""

from __future__ import annotations

from collections.abc import Mapping

from matcalc.errors import NoReference
from matcalc.evidence.written import call_forms, index_forms, plain_forms, steps
from matcalc.evidence.written.evaluator import Data, Evaluator, Forms, Leaf, Unmeasured
from matcalc.evidence.written.values import Value
from matcalc.language.syntax import Ast
from matcalc.rulebook.load import Rulebook


def _is_other(tree: Ast, book: Rulebook) -> bool:
    """Whether a call or power does not evaluate all its operands in its own scope."""
    return plain_forms.is_by_letter(tree) if tree.head == "power" else call_forms.is_other(tree, book)


FORMS = Forms(
    plain={
        "number": plain_forms.number_value,
        "name": plain_forms.name_value,
        "leaf": plain_forms.leaf_value,
        "sum": plain_forms.sum_value,
        "dotted_sum": plain_forms.sum_value,
        "product": plain_forms.product_value,
        "negative": plain_forms.negative_value,
        "transpose": plain_forms.transpose_value,
        "power": plain_forms.power_value,
        "condition": plain_forms.condition_value,
        "call": call_forms.plain_call,
    },
    others={
        "power": plain_forms.power_by_letter,
        "block": plain_forms.block_value,
        "part": plain_forms.part_value,
        "shared": plain_forms.shared_value,
        "index_form": index_forms.binder,
        "index_sum": index_forms.binder,
        "call": call_forms.call_value,
        "state": steps.state_value,
        "step_sum": steps.step_sum_value,
        "inner_where": steps.inner_value,
    },
    is_other=_is_other,
)


def tree_value(
    tree: Ast,
    data: Data,
    sizes: Mapping[str, int],
    base: Data,
    leaf: Leaf,
    numpy: bool = False,
    broadcasts: bool = False,
) -> Value:
    """Return the value at data of a syntax tree with explicit sums over indices.

    `base` are the data before they were moved along a direction. The caller ignores floating-point errors.

    Raises: as `Evaluator.value`; NoReference also for an index whose length follows only from its context. Shape
        inference finds such lengths; this evaluator does not.
    """
    try:
        return Evaluator(data, sizes, base, leaf, FORMS, numpy, broadcasts).value(tree)
    except Unmeasured:
        raise NoReference("an index whose length follows only from its context") from None
