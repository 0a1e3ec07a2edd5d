"""Every entry of the rulebook, each signature, each output: LaTeX, and a SymPy form that reads back, or a reason."""

import pytest

import matcalc as mc
from matcalc.language.write import text
from matcalc.rulebook import default_rulebook

BOOK = default_rulebook()
PLAIN = {"number": "3/2", "integer": "2", "function": "exp"}
KINDS = {"entry": "scalar", "array": "matrix(m, n)"}
BOUND = ("root", "dd")  # their arguments are no list
# Results and operands of order 3 and more: SymPy has only matrices, and entries of symbols.
REASONS = ("sum", "sort")


def calls(rule):
    """Yield a call for each signature and output, with its declarations."""
    for signature in rule.signatures:
        arguments, declarations = [], []
        for p in signature.parameters:
            if p.repeated:
                continue
            arguments.append(PLAIN.get(p.kind, p.name))
            if p.kind not in PLAIN:
                sizes = f"({', '.join(map(text, p.sizes))})" if p.sizes and p.kind not in KINDS else ""
                declarations.append(f"{p.name}: {KINDS.get(p.kind, p.kind)}{sizes} {' '.join(p.facts)}")
        if rule.per_axis:
            arguments.append("axis=[0, 1]")
        for name in rule.names:
            yield f"{name}({', '.join(arguments)})", "; ".join(declarations)


NOT_2_X_2 = ("unvec", "reshape", "partial_trace", "partial_trace_first")
"""Operations that do not take the 2 x 2 symbols of the test."""


@pytest.mark.parametrize("rule", [r for r in BOOK.rules.values() if r.name not in BOUND], ids=lambda rule: rule.name)
@pytest.mark.sampled(27)
def test_latex_and_sympy_form_or_a_reason(rule):
    for formula, declarations in calls(rule):
        try:
            e = mc.expression(formula, declarations)
        except mc.ShapeError:
            assert rule.name in NOT_2_X_2
            continue
        assert e.latex()
        try:
            expr = e.sympy()
        except mc.NotSupported as error:
            assert rule.name in REASONS
            assert "no SymPy form" in str(error)
            continue
        assert mc.expression(expr, declarations=e.declarations).shape == e.shape
