"""Results contain no operation that their reader cannot know without its meaning; readers skip the meanings."""

import json
import re
from pathlib import Path

import pytest

import matcalc as mc
from matcalc.rulebook.load import default_rulebook

BOOK = default_rulebook()
CASES = [
    ("max(x, y)'*x", "x", 'x.*leads(x, y) + max(x, y) where leads(x, y) = "1 where x > y, 1/2 where x == y, else 0"'),
    ("tr(inv(A + B))", "A", "-inv(A + B)'^2"),
    ("x'*expm(A)*y", "A", "expm(A, y*x')' where expm(X, E) = \"the derivative of expm(X) along E\""),
    ("prod(x)", "x", 'prod_others(x) where prod_others(x) = "the product of the other entries of x, at each entry"'),
]
LET = "x: vector(n); y: vector(n); A: matrix(n, n); B: matrix(n, n)"


def test_every_internal_operation_has_a_meaning():
    for rule in BOOK.rules.values():
        assert rule.internal == bool(rule.meaning), rule
        assert " " in rule.meaning or rule.shown or not rule.meaning, rule  # LaTeX is read back by the space
        assert not re.search(r'["{}\\\n]', rule.meaning), rule


@pytest.mark.parametrize(("text", "wrt", "printed"), CASES)
def test_a_meaning_is_printed_and_skipped(text, wrt, printed):
    e = mc.gradient(text, wrt, LET)
    assert str(e) == printed
    for shown in (str(e), e.named()):
        assert mc.expression(shown, e.declarations).node is e.node
    for shown in (e.latex(), e.latex(named=True)):
        assert mc.expression(shown, e.declarations, dialect="latex").node is e.node
    remark = printed.partition(" where ")[2]
    assert not remark or f"where {remark}" in e.explain().splitlines()
    assert (r"\text{where }" in e.explain("latex")) == bool(remark)


@pytest.mark.whole
def test_meanings_stand_behind_named_parts():
    h = mc.hessian("tr(logm(A)*B)", "A", "A: matrix(n, n) spd; B: matrix(n, n)")
    named = h.named()
    assert re.search(
        r'where T1 = \{.*, matfun\(f, S, E, F\) = "the derivative of matfun\(f, S\) along E and F"$', named
    )
    assert mc.expression(named, h.declarations).node is h.node
    assert mc.expression(str(h), h.declarations).node is h.node


def test_a_remark_in_front_of_a_part_is_skipped():
    text = 'tr(K) where leads(x, y) = "1, else 0", K = A*A\''
    assert mc.expression(text, LET).node is mc.expression("tr(A*A')", LET).node


DERIVATIVE = re.compile(r"(?P<kind>\w+) of (?P<text>.*) by (?P<wrt>\w+) = .* \| (?P<let>.*)")


def derivatives():
    """Yield kind, text, variable and declarations of the derivatives of all cases, and of Hessians beside gradients."""
    folder = Path(__file__).parents[1] / "cases"
    files = [json.loads((folder / name).read_text(encoding="utf-8")) for name in ("textbook.json", "identities.json")]
    lines = map(DERIVATIVE.fullmatch, (folder / "derivatives.txt").read_text(encoding="utf-8").splitlines())
    for case in [*files[0], *files[1], *(line.groupdict() for line in lines if line)]:
        yield tuple(case[key] for key in ("kind", "text", "wrt", "let"))
        if case["kind"] == "gradient":
            yield ("hessian", *(case[key] for key in ("text", "wrt", "let")))


def unexplained(printed):
    """Return the operations of a printed result that are internal or unknown, and whose definition is not printed."""
    body = re.sub(r'"[^"]*"', '""', printed)
    known = {name for name, ones in BOOK.spellings.items() if not all(one.rule.internal for one in ones)}
    explained = re.findall(r'(\w+)\([^()"]*\) = ""', body)
    return set(re.findall(r"(?<![\w.])([A-Za-z_]\w*)\(", body)) - known - set(explained)


@pytest.mark.thinned(2)
@pytest.mark.whole
@pytest.mark.parametrize("part", range(8))
def test_no_result_of_a_case_has_an_unexplained_operation(part):
    for kind, text, wrt, let in sorted(set(derivatives()))[part::8]:
        e = getattr(mc.expression(text, let), kind)(wrt, check=False)
        assert unexplained(str(e)) == unexplained(e.named()) == set(), (kind, text, wrt)


def test_an_operation_without_its_meaning_is_found():
    printed = CASES[0][2]
    assert unexplained(printed) == set() and unexplained(printed.partition(" where ")[0]) == {"leads"}
    assert unexplained("unheard(x) + tr(A)") == {"unheard"}
