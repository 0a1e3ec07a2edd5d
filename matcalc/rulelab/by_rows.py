"""Tests the fields of a rule about blocks of rows: merged values of two blocks, and the formula by totals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from matcalc.evidence.numeric.sampling import Array
from matcalc.formula.elaborate.rule_formula import build_formula
from matcalc.rulelab.finding import EXACT, Finding, location, relative
from matcalc.rulelab.rule_point import Point
from matcalc.tensor.constructors import symbol


def by_rows(at: Point, value: Mapping[str, Array]) -> Iterator[Finding]:
    """Test `merge` at each cut of the first axis, and `by_total` and `share` on the whole."""
    if at.form.overload or at.form.tangents or len(at.data) != 1:
        return
    ((name, X),) = at.data.items()
    if at.rule.by_total is not None:
        node = build_formula(at.rule.by_total, (), at.book, at.symbols, shape=at.symbols[name].shape)
        (found,) = at.evaluate([node])
        yield Finding("the value by totals,", "by_total", relative(found, value[""]), EXACT, location(at))
    if at.rule.share is not None:
        node = build_formula(at.rule.share, (), at.book, at.symbols, shape=at.symbols[name].shape)
        (found,) = at.evaluate([node])
        yield Finding("shares over their sum,", "share", relative(found / found.sum(), value[""]), EXACT, location(at))
    if at.rule.merge is not None:
        a, b = symbol("a", ()), symbol("b", ())
        node = build_formula(at.rule.merge, (), at.book, {"a": a, "b": b})
        for k in range(1, len(X)):
            one, other = (at.value({name: part})[""] for part in (X[:k], X[k:]))
            (found,) = at.evaluate([node], {"a": one, "b": other})
            yield Finding(f"two blocks, cut at {k}, merged,", "merge", relative(found, value[""]), EXACT, location(at))
