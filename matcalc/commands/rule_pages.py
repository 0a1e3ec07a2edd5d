"""Prints the rulebook: a page for each rule with its derived adjoint, and a list of all rules.

Fields are shown as in their file. The adjoint is in no file: it is the pullback of a call of the rule, derived as for
any expression and printed with the parameters' names (`Xbar = -inv(X)'*G*inv(X)'`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache

from matcalc.api.define import load_rules
from matcalc.errors import MatcalcError
from matcalc.expressions.expression import Expression
from matcalc.expressions.read_input import expression
from matcalc.language.declare import Declaration, Signature, write_declaration
from matcalc.language.latex.writer.latex import latex
from matcalc.language.read import read
from matcalc.rulebook.load import Rulebook, default_rulebook, measured, shipped_rulebook
from matcalc.rulebook.notations import latex_templates, spelled
from matcalc.rulebook.rule import Rule
from matcalc.store.data_folders import data_folder
from matcalc.tensor.nodes.signature import PLAIN

STANDS_FOR = {"number": "5/2", "equation": "Y + tanh(Y) - start", "unknown": "Y"}
"""The arguments in a shown adjoint for parameters that are neither tensors nor functions."""
MEASURES = ("value", "jvp", "vjp", "second")


@dataclass(frozen=True, slots=True)
class Page:
    """The page of a rule: its formulas by left side, and its derived adjoints or the reasons for missing ones.

    Units: the errors are relative.
    """

    rule: Rule
    formulas: Mapping[str, str]
    adjoints: Mapping[str, Expression | str]
    errors: Mapping[str, object]


def page(rule: Rule) -> Page:
    """Return the page of a rule with derived adjoints."""
    return Page(rule, formulas(rule), dict(_adjoints(rule)), measured().get(rule.name, {}))


def signatures(rule: Rule) -> list[str]:
    """Return the signatures of a rule as written."""
    written = rule.fields["signature"]
    return [str(text) for text in written] if isinstance(written, list) else [str(written)]


def formulas(rule: Rule) -> dict[str, str]:
    """Return the formulas of a rule by left side: differentials, derivatives or definitions, and their parts."""
    if rule.kind == "definition":
        if len(rule.definitions) == 1:
            return {"Y": rule.definitions[0]}
        short = (signature.split("->")[0].strip() for signature in signatures(rule))
        return dict(zip(short, rule.definitions, strict=True))
    if rule.kind == "map":
        return {f"dY/d{name}": text for name, text in rule.derivative.items()}
    if rule.implicit is not None:
        left, _, right = rule.implicit.partition(" = ")
        return {left: right}
    lets = dict(text.split("=", 1) for text in rule.where)
    found = {f"d{output or 'Y'}": text for output, text in rule.differentials.items()}
    if not found and rule.is_linear:
        found = {"dY": " + ".join(f"{rule.name}({_varied(rule, slot)})" for slot in rule.linear)}
    return {**found, **{name.strip(): text.strip() for name, text in lets.items()}}


def _varied(rule: Rule, slot: str) -> str:
    """Return the parameters as text, with the tangent in place of the parameter `slot`."""
    return ", ".join(f"d{p.name}" if p.name == slot else p.name for p in rule.parameters)


def _adjoints(rule: Rule) -> Iterator[tuple[str, Expression | str]]:
    """Yield the pullback of the cotangent G of each output in each argument, by the name of the result."""
    if rule.opaque is not None:
        return
    plain = [f"{p.name} = {_stand_in(p)}" for p in rule.parameters if _stand_in(p) != p.name]
    meaning = f" for {', '.join(plain)}" if plain else ""
    signature = next((s for s in rule.signatures if _is_general(rule, s)), rule.signature)
    for output in rule.outputs:
        for p in _tensors(signature):
            label = f"{p.name}bar of {output}" if output else f"{p.name}bar{meaning}"
            try:
                yield label, _called(rule, signature, output).vjp(p.name, "G")
            except MatcalcError as error:
                yield label, f"{type(error).__name__}: {error.message}"


def _is_general(rule: Rule, signature: Signature) -> bool:
    """Whether a signature can be called with its own size names; `reshape(X, p, q)` cannot, since sizes must fit."""
    try:
        _called(rule, signature, rule.outputs[0])
    except MatcalcError:
        return False
    return True


def _stand_in(p: Declaration) -> str:
    """Return the argument for a parameter in a shown call: a tensor's own name, else an example."""
    return spelled("exponential") if p.kind == "function" else STANDS_FOR.get(p.kind, p.name)


def _called(rule: Rule, signature: Signature, output: str) -> Expression:
    """Return a call of a rule on symbols with the names of its parameters."""
    name = f"{rule.name}_{output}" if output else rule.name
    given = ", ".join(map(_stand_in, _shown(signature)))
    return expression(f"{name}({given})", "; ".join(map(_declared, _tensors(signature))))


def _tensors(signature: Signature) -> list[Declaration]:
    return [p for p in _shown(signature) if p.kind not in PLAIN]


def _shown(signature: Signature) -> list[Declaration]:
    """Return the parameters of a call; a repeated one is included once, and only if there is no other tensor."""
    single = [p for p in signature.parameters if not p.repeated]
    shown = single if any(p.kind not in PLAIN for p in single) else signature.parameters
    return [replace(p, repeated=False) for p in shown]


def _declared(parameter: Declaration) -> str:
    plain = {"entry": "scalar", "array": "vector(n)"}.get(parameter.kind)
    facts = " ".join(parameter.facts)
    return f"{parameter.name}: {plain} {facts}" if plain else write_declaration(parameter)


def worst(rule: Rule) -> str:
    """Return the largest measured error of a rule as text, or ""."""
    found = [float(error) for key, error in measured().get(rule.name, {}).items() if key in MEASURES]
    return f"{max(found):.1e}" if found else ""


# ---- text, for people


def tested(path: str) -> str:
    """Return the pages of the rules in a file and the report of their tests.

    Raises: RuleError for a faulty file.
    """
    added = load_rules(path)
    book = default_rulebook()
    return "\n\n".join([*(text(page(book.get(name))) for name in added), str(added.report)])


def listed(book: Rulebook | None = None) -> str:
    """Return the list of all rules by family, with signatures, formulas and notes; internal rules come last."""
    book = book or default_rulebook()
    wide = max(map(len, book.rules))
    where = max(len(rule.address) for rule in book.rules.values())
    lines: list[str] = []
    found = ""
    for rule in sorted(book.rules.values(), key=lambda rule: rule.internal):
        name, before, found = rule.name, found, INTERNAL if rule.internal else family(rule)
        lines += [] if found == before else [f"--- {found}", ""]
        lines += [f"{name:{wide}}  {rule.address:{where}}  {signature}" for signature in signatures(rule)]
        says = [f"{left} = {right}" for left, right in formulas(rule).items()]
        notes = {"domain": rule.domain, "gauge": rule.gauge, "source": rule.source, "error": worst(rule)}
        says += [f"{label}: {text}" for label, text in notes.items() if text]
        lines += [*(f"{'':{wide}}    {text}" for text in says), ""]
    return "\n".join([*lines, counted()])


INTERNAL = "for internal use: what derivatives and kernels are written with"
OWN = "of your own"


def family(rule: Rule) -> str:
    """Return the family of a shipped rule: the last heading above it in its file."""
    file, _, line = rule.address.rpartition(":")
    headings = _headings(file.removeprefix("rules/")) if file.startswith("rules/") else ()
    return next((title for at, title in reversed(headings) if at < int(line)), OWN)


@cache
def _headings(name: str) -> tuple[tuple[int, str], ...]:
    """Return the headings of a shipped rule file, `# --- powers: what they are`, with their lines."""
    lines = (data_folder("rules") / name).read_text(encoding="utf-8").splitlines()
    found = ((at, re.match(r"# --- ([^:;]+)", line)) for at, line in enumerate(lines, 1))
    return tuple((at, title[1]) for at, title in found if title)


def counted() -> str:
    """Return the numbers of shipped entries, rewrites and facts, and the mean lines of an entry."""
    book, files = shipped_rulebook(), data_folder("rules")
    lines, header = 0, ""
    for name in dict.fromkeys(rule.address.rpartition(":")[0] for rule in book.rules.values()):
        for line in (files / name.removeprefix("rules/")).read_text(encoding="utf-8").splitlines():
            if title := re.match(r"\[+\s*([^\[\]]+?)\s*\]", line):
                header = title[1]
            lines += header in book.rules and bool(line.strip()) and not line.lstrip().startswith("#")
    each = f"{len(book.rules)} entries of {lines / len(book.rules):.1f} lines"
    return f"{each}, {len(book.rewrites)} rewrites, {len(book.facts)} facts."


def text(of: Page) -> str:
    """Return a page as text: the fields as in the file, then the derived adjoints and measured errors."""
    rule = of.rule
    lines = [f"{rule.name}   ({rule.kind}, {rule.address})"]
    for name, value in rule.fields.items():
        lines += _labelled(name, _parts(value))
    lines += _labelled("adjoint", [f"{left} = {right}" for left, right in of.adjoints.items()])
    lines += _labelled("in LaTeX", list(_latex_lines(of)))
    lines += _labelled("measured", [f"{key} {value}" for key, value in of.errors.items()])
    return "\n".join(lines)


def _labelled(label: str, parts: list[str]) -> list[str]:
    labels = [label, *[""] * len(parts)]
    return [f"  {label:12} {part}" for label, part in zip(labels, parts, strict=False)]


def _parts(value: object) -> list[str]:
    """Return the value of a field as short lines."""
    if isinstance(value, bool):
        return [str(value).lower()]
    if isinstance(value, Mapping):
        return [f"{key} = {_inline(part)}" for key, part in value.items()]
    return [_inline(part) for part in value] if isinstance(value, list) else [str(value)]


def _inline(value: object) -> str:
    if not isinstance(value, Mapping):
        return str(value)
    return "; ".join(f"{key} {_inner(part)}" for key, part in value.items())


def _inner(value: object) -> str:
    if not isinstance(value, Mapping):
        return str(value)
    return ", ".join(f"{key} = {part}" for key, part in value.items())


# ---- LaTeX and JSON


def as_latex(of: Page) -> str:
    """Return a page as LaTeX: an `align*` of its formulas and adjoints."""
    return "\n".join(["\\begin{align*}", " \\\\\n".join(latex_lines(of)), "\\end{align*}"])


def latex_lines(of: Page) -> list[str]:
    """Return formulas and adjoints as lines of an alignment."""
    return list(_latex_lines(of))


def _latex_lines(of: Page) -> Iterator[str]:
    rule = of.rule
    kinds = _kinds(rule)
    if rule.kind != "definition":
        for left, right in of.formulas.items():
            top, _, bottom = left.partition("/d")
            shown = latex(read(top), kinds) if not bottom else f"\\frac{{\\partial Y}}{{\\partial {bottom}}}"
            yield f"{shown} &= {latex(read(right), kinds, latex_templates(default_rulebook()))}"
    for left, adjoint in of.adjoints.items():
        if isinstance(adjoint, Expression):
            name, _, output = left.partition("bar")
            note = f" \\quad\\text{{{output.strip()}}}" if output else ""
            yield f"\\bar{{{latex(read(name), kinds)}}} &= {adjoint.latex()}{note}"


def _kinds(rule: Rule) -> dict[str, str]:
    """Return the kinds of the names in a rule's formulas, including tangents and outputs."""
    kinds = {"entry": "scalar", "array": "vector"}
    found = {d.name or "Y": kinds.get(d.kind, d.kind) for d in (*rule.parameters, *rule.signature.outputs)}
    return {**found, **{f"d{name}": kind for name, kind in found.items()}}


def as_json(of: Page) -> dict[str, object]:
    """Return a page as a JSON object: the fields, the derived adjoints and the measured errors."""
    adjoints = {left: str(adjoint) for left, adjoint in of.adjoints.items()}
    in_latex = {left: a.latex() for left, a in of.adjoints.items() if isinstance(a, Expression)}
    return {**as_record(of.rule), "adjoint": adjoints, "adjoint_latex": in_latex}


def as_record(rule: Rule) -> dict[str, object]:
    """Return the fields of a rule, its address and its measured errors."""
    head = {"name": rule.name, "kind": rule.kind, "address": rule.address}
    return {**head, **rule.fields, "formulas": formulas(rule), "measured": dict(measured().get(rule.name, {}))}
