"""Derivatives of all cases print public names, or internal ones with their definition, in text and in LaTeX."""

import json
import re
from pathlib import Path

import pytest

import matcalc as mc
from matcalc.rulebook.load import shipped_rulebook

CASES = Path(__file__).parents[2] / "cases"
INTERNAL = {name for r in shipped_rulebook().rules.values() if r.internal for name in (r.name, r.spelling)}
BY_NAME = re.compile(r"(\w+) of (.*) by (\w+) = [^|]*(?:\| (.*))?$")


def cases():
    for line in (CASES / "derivatives.txt").read_text(encoding="utf-8").splitlines():
        if found := BY_NAME.match(line.strip()):
            yield found[2], found[3], found[4] or ""
    for file in ("textbook.json", "identities.json"):
        for case in json.loads((CASES / file).read_text(encoding="utf-8")):
            yield case["text"], case["wrt"], case["let"]
    for case in json.loads((CASES / "rules.json").read_text(encoding="utf-8")):
        yield from ((case["text"], wrt, case["let"]) for wrt in case["vjp"])


EVERY = sorted(set(cases()))


DEFINED = (
    re.compile(r'([A-Za-z_]\w*)\([^=()]*\) = "[^"]*"'),
    re.compile(r"\\operatorname\{([^}]*)\}\([^=()]*\) = \\text\{[^{}]*\}"),
)


def called(shown):
    """Return the names of calls in a formula and in its named parts, and the names that are defined in words behind."""
    rest, defined = shown.replace(r"\_", "_"), set()
    for definition in DEFINED:
        defined |= set(definition.findall(rest))
        rest = definition.sub("", rest)
    return set(re.findall(r"([A-Za-z_]\w*)\(", rest)) | set(re.findall(r"\\operatorname\{([^}]*)\}", rest)), defined


@pytest.mark.parametrize(
    "shown",
    [
        "P'*x where P = sort_P(x)",
        r"\mathbf{P} \quad\text{where } \mathbf{P} = \operatorname{sort\_P}(\mathbf{x})",
        'P where P = sort_P(x), equal_mean(w, g) = "g, with means"',
    ],
)
def test_names_in_parts_are_found(shown):
    calls, defined = called(shown)
    assert (calls - defined) & INTERNAL == {"sort_P"}


def assert_defined(derivatives):
    for derivative in derivatives:
        for shown in (str(derivative), derivative.latex(), str(derivative.named())):
            calls, defined = called(shown)
            assert not calls & INTERNAL - defined, shown


def test_there_are_cases():
    assert len(EVERY) > 300 and "ratio0" in INTERNAL


@pytest.mark.sampled(640)
@pytest.mark.parametrize(("text", "wrt", "let"), EVERY, ids=[f"{text} by {wrt}" for text, wrt, _ in EVERY])
@pytest.mark.thinned(2)
def test_internal_names_have_definitions(text, wrt, let):
    e = mc.expression(text, let)
    of_scalars = [e.gradient(wrt), e.hvp(wrt)] if not e.shape else []
    assert_defined([e.vjp(wrt, cotangent="Gbar"), e.jvp(wrt), *of_scalars])


@pytest.mark.sampled(280)
@pytest.mark.parametrize(("text", "wrt", "let"), EVERY, ids=[f"{text} by {wrt}" for text, wrt, _ in EVERY])
@pytest.mark.thinned(6)
def test_internal_names_in_hessians_have_definitions(text, wrt, let):
    e = mc.expression(text, let)
    if e.shape:
        e = mc.expression(f"sum(({text}).^2)", let)
    assert_defined([e.hessian(wrt)])
