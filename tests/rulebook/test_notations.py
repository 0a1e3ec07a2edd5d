"""Names of user-defined rules in NumPy, SymPy and LaTeX: the same fields as in the shipped rulebook."""

import pytest
import sympy as sp

import matcalc as mc
from matcalc.errors import RuleError, UnknownName
from matcalc.language.declare import write_declaration
from matcalc.rulebook.check_names import check_names
from matcalc.rulebook.load import load_text, on_trial, shipped_rulebook

OWN = r"""
[softsign]
signature  = "softsign(x: entry) -> entry"
derivative = "1./(1 + abs(x)).^2"
value      = "x/(1 + np.abs(x))"
latex      = { otherwise = "\\varsigma({0})", entry = "\\varsigma_{{1}}({0})" }
numpy      = { soft_sign = "method" }
sympy      = "x/(1 + Abs(x))"
from_sympy = { Softsign = "(x, 1) => softsign(x); (x, 2) => 2*softsign(x)" }
"""


def spelled(text):
    return load_text(text, "own.toml", shipped_rulebook())


class Softsign(sp.Function):
    pass


@pytest.mark.whole
def test_a_rule_of_ones_own_in_other_languages():
    book = spelled(OWN)
    check_names(book)
    with on_trial(book):
        for text in ("np.soft_sign(x)", "x.soft_sign()"):
            assert str(mc.expression(text, "x: vector(3)", dialect="numpy")) == "softsign(x)"
        e = mc.expression("softsign(s)", "s: scalar")
        assert e.latex() == r"\varsigma(s)"
        s = sp.Symbol("s", real=True)
        assert str(e.sympy()) == "s/(Abs(s) + 1)"
        assert str(mc.expression(Softsign(s, 2))) == "2*softsign(s)"
        with pytest.raises(mc.NotSupported, match="is read with the arguments"):
            mc.expression(Softsign(s, 3))
    with pytest.raises(mc.MatcalcError, match="soft_sign"):
        mc.expression("np.soft_sign(x)", "x: vector(3)", dialect="numpy")


@pytest.mark.whole
@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("field", "message"),
    [
        ('numpy = { soft = "axes" }', "unknown word 'axes' on numpy 'soft'; did you mean axis?"),
        ('sympy = "x/("', "sympy does not parse"),
        ("sympy = \"__import__('os').getcwd()\"", "sympy takes names"),
        ('sympy = "Abs(x).__class__"', "sympy takes names"),
        ("sympy = \"Symbol('y')\"", "sympy takes names"),
        ('sympy = "[x for x in (1, 2)]"', "sympy takes names"),
        ('sympy = "x*0.5"', "sympy takes names"),
        ('from_sympy = { Soft = "softer(x)" }', "unknown function 'softer' in from_sympy Soft"),
        ('from_sympy = { Soft = "(y, 0) => softsign(x)" }', "unknown name 'x' in from_sympy Soft"),
    ],
)
def test_what_is_said_of_other_languages_is_checked(field, message):
    text = "\n".join(line for line in OWN.split("\n") if not line.startswith(field.split(" ")[0])) + field
    with pytest.raises(RuleError) as caught:
        check_names(spelled(text))
    assert message in str(caught.value)


def test_a_part_that_nothing_plays():
    with pytest.raises(UnknownName, match="no operation of the rulebook has the role 'idle'"):
        shipped_rulebook().playing("idle")


@pytest.mark.parametrize("text", ["test", "preview(x)", "lambdify(x, x)", "open(x)", "__import__(x)", "nowhere(x)"])
def test_what_sympy_texts_call_are_classes_of_sympy(text):
    source = "\n".join(line for line in OWN.split("\n") if not line.startswith("sympy")) + f'sympy = "{text}"'
    with on_trial(spelled(source)), pytest.raises(mc.MatcalcError, match="is no class of SymPy"):
        mc.expression("softsign(x)", "x: scalar").sympy()


SEVERAL = [rule for rule in shipped_rulebook().rules.values() if len(rule.outputs) > 1]


@pytest.mark.parametrize("rule", SEVERAL, ids=lambda rule: rule.name)
def test_an_item_of_several_results_is_the_part(rule):
    arguments = ", ".join(p.name for p in rule.parameters)
    declared = "; ".join(map(write_declaration, rule.parameters))
    for k, part in enumerate(rule.names):
        wanted = mc.expression(f"{part}({arguments})", declared).node
        assert mc.expression(f"{rule.name}({arguments})[{k}]", declared).node is wanted
        named = mc.expression(f"F = 2*{rule.name}({arguments})[{k}]; F - F/2", declared)
        assert named.node is mc.expression(f"{part}({arguments})", declared).node
    with pytest.raises(mc.UnknownName, match="several results"):
        mc.expression(f"{rule.name}({arguments})[{len(rule.names)}]", declared)
