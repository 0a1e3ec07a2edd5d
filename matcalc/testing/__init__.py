"""Test your own rules: random typed expressions over the whole language, with data inside their domain.

    from hypothesis import given
    from matcalc.testing import expressions

    @given(expressions(outermost="geomean"))
    def test_my_rule(case):
        assert mc.check(case.text, case.symbols, declarations=case.declarations)

Needs hypothesis: `pip install matcalc-compiler[testing]`. The same forms make the table of every operation in every
other (benchmarks/pairs).
"""

from matcalc.testing.strategies import Case, expressions

__all__ = ["Case", "expressions"]
