"""Lists the forms of syntax trees that have plain source."""

from __future__ import annotations

from collections.abc import Mapping

from matcalc.plain_source import arithmetic, calls, index_forms, parts
from matcalc.plain_source.read import Form, Reader
from matcalc.plain_source.terms.term import Pool
from matcalc.tensor.symbols import Names

FORMS: Mapping[str, Form] = {
    "number": arithmetic.number,
    "name": arithmetic.name,
    "leaf": arithmetic.leaf,
    "sum": arithmetic.total,
    "dotted_sum": arithmetic.total,
    "product": arithmetic.product,
    "negative": arithmetic.negative,
    "transpose": arithmetic.transpose,
    "power": arithmetic.power,
    "shared": arithmetic.shared,
    "call": calls.call,
    "part": parts.part,
    "block": parts.block,
    "index_form": index_forms.index_form,
    "index_sum": index_forms.index_sum,
    "condition": index_forms.condition,
}


def reader_of(names: Names, pool: Pool) -> Reader:
    """Return the reader of the formulas of one function."""
    return Reader(names, FORMS, pool)
