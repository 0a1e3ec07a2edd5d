"""Generates random typed expressions over the whole language, with data inside their domain, to test your own rules.

    from hypothesis import given
    from matcalc.testing import expressions

    @given(expressions(outermost="geomean"))
    def test_my_rule(case):
        assert mc.check(case.text, case.symbols, declarations=case.declarations)

It needs hypothesis: `pip install matcalc-compiler[testing]`. The table of all pairs of operations (benchmarks/pairs)
uses the same forms.
"""

from matcalc.testing.strategies import Case, expressions

__all__ = ["Case", "expressions"]
