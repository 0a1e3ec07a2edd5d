"""Checks the formulas of a rulebook without shapes: they parse, and each name in them is known.

Names are parameters and sizes of the signature, operations of the book, the names of `where`, and indices. Others are
`dX` in differentials, Y or the outputs, and G in adjoints. A differential must contain `dX` for each argument X that
can vary: an omitted one would be a silent zero ("0" states it). Shapes, linearity in dX and termination of rewrites
need nodes; the layer above, which compiles formulas, checks them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import cast

from matcalc.errors import MatcalcError, RuleError
from matcalc.language.declare import Declaration, Signature, size_names
from matcalc.language.identifiers import nearest
from matcalc.language.numpy_names import CALL_FORMS
from matcalc.language.read import read
from matcalc.language.syntax import BINDERS, Ast, call_name, children, names_in
from matcalc.rulebook.fields import read_pattern
from matcalc.rulebook.load import Rulebook
from matcalc.rulebook.rule import TIED, VARIED, Fact, Rewrite, Rule
from matcalc.rulebook.sympy_text import read_sympy

CONSTANTS = ("pi",)
FORMULAS = (
    "square", "difference", "radius", "scale", "calculus", "degree", "merge", "by_total", "share", "shown",
)  # fmt: skip
"""Fields that are one formula in the parameters."""
CHANGED = ("O", "Z", "P", "c")
SAMPLE_NAMES = ("X", "M", "m", "n", "eps")

Report = Callable[[str], None]


def check_names(book: Rulebook, names: Iterable[str] | None = None) -> None:
    """Read each formula of the rules called `names` (by default of all, and of rewrites and facts).

    Raises: RuleError that lists all faults.
    """
    found = faults_of(book, None if names is None else list(names))
    if found:
        raise RuleError("\n".join(found))


def faults_of(book: Rulebook, names: Sequence[str] | None = None) -> list[str]:
    """Return the faults of the rules called `names`, or of the whole book, each with its address."""
    found: list[str] = []

    def reporter(address: str, name: str) -> Report:
        return lambda message: found.append(f"{address}: [{name}] {message}")

    for rule in book.rules.values() if names is None else map(book.get, names):
        _check_rule(book, rule, reporter(rule.address, rule.name))
    if names is not None:
        return found
    for rewrite in book.rewrites:
        _check_rewrite(book, rewrite, reporter(rewrite.address, "rewrite"))
    for fact in book.facts.values():
        _check_fact(book, fact, reporter(fact.address, fact.name))
    return found


def _check_kinks(known: _Names, rule: Rule, report: Report) -> None:
    pieces, choices = rule.pieces or {}, rule.choices or {}
    formulas = [("jumps", text) for text in rule.jumps]
    formulas += [("pieces", text) for text in (*pieces, *pieces.values())]
    formulas += [("choices", text) for text in choices.values()]
    for field, text in formulas:
        known.check(field, text, (), report)
    for field, weight in (("weight", rule.weight), ("weighed", rule.weighed)):
        if weight is not None:
            known.check(field, weight, TIED, report)


def _check_rule(book: Rulebook, rule: Rule, report: Report) -> None:
    """Report the faults of all formulas of one rule."""
    known = _Names(book, rule.signature, rule.sizes)
    outputs = [name or "Y" for name in rule.outputs]
    tangents = [f"d{d.name}" for d in rule.parameters if d.kind in VARIED and not d.repeated]
    used: dict[str, frozenset[str]] = {}
    for name, text in rule.sizes.items():
        known.check(f"size {name}", text, (), report)
    for text in rule.where:
        name, _, formula = (part.strip() for part in text.partition("="))
        extra = [*outputs, *used, *(tangents if rule.kind == "op" else ())]
        found = known.check(f"where {name}", formula, extra, report)
        used[name] = found.union(*(used[other] for other in sorted(found & used.keys())))
    for index, signature in enumerate(rule.signatures):
        definition = rule.definition(index)
        if definition is not None:
            _Names(book, signature, rule.sizes).check("definition", definition, used, report)
    for output, text in rule.differentials.items():
        found = known.check(f"differential {output}".strip(), text, [*outputs, *tangents, *used], report)
        found = found.union(*(used[name] for name in sorted(found & used.keys())))
        if text.strip() != "0":
            _check_all_varied(rule, found, report)
    for parameter, text in rule.derivative.items():
        known.check(f"derivative in {parameter}", text, ("Y",), report)
    if rule.by_value is not None:
        known.check("by_value", rule.by_value, ("Y",), report)
    for parameter, text in rule.linear.items():
        known.check(f"adjoint in {parameter}", text, ("Y", "G"), report)
    for value, text in rule.divided.items():
        known.check(f"divided {value}".strip(), text, ("a", "b"), report)
    for field in FORMULAS:
        text = getattr(rule, field)
        if isinstance(text, str):
            known.check(field, text, ("a", "b") if field in ("difference", "merge") else (), report)
    _check_kinks(known, rule, report)
    for change in rule.equivariant:
        for name, text in change.items():
            known.check(f"change of {name}", text, (*outputs, *CHANGED), report)
    for edge in rule.edges:
        for part in ("at", "derivative", "pullback"):
            for parameter, text in edge.get(part, {}).items():  # type: ignore[attr-defined]
                _Names(book).check(f"edge {part} {parameter}", text, ("inf",), report)
        if "G" in edge:
            _Names(book).check("edge G", str(edge["G"]), (), report)
    for field, texts in (("value", rule.values), ("precise", rule.precise)):
        for text in texts:
            _check_python(field, text, rule, report)
    if rule.sympy is not None:
        _check_sympy(rule.sympy, report)
    for kind, text in rule.from_sympy.items():
        for left, formula in read_pattern(text, [d.name for d in rule.parameters]):
            _Names(book).check(f"from_sympy {kind}", formula, left, report)
    for name, words in rule.numpy.items():
        _check_words(book, rule, name, words, report)


def _check_all_varied(rule: Rule, found: frozenset[str], report: Report) -> None:
    for d in rule.parameters:
        if d.kind in VARIED and d.name not in rule.linear and f"d{d.name}" not in found:
            report(f"no differential in '{d.name}': d{d.name} does not occur (nor {d.name} in `linear`)")


def _check_python(field: str, text: str, rule: Rule, report: Report) -> None:
    try:
        compile(text, rule.address, "eval")
    except (SyntaxError, ValueError) as error:
        report(f"{field} does not parse: {error}")


def _check_sympy(text: str, report: Report) -> None:
    try:
        read_sympy(text)
    except RuleError as error:
        report(str(error))


def _check_words(book: Rulebook, rule: Rule, name: str, words: Sequence[str], report: Report) -> None:
    """Report words of a NumPy name that are neither a form of calls nor an item of a tuple."""
    for word in words:
        known = (*CALL_FORMS, *rule.outputs)
        if "=" not in word and word not in known and word.removesuffix("'") not in (*known, *book.names):
            report(f"unknown word '{word}' on numpy '{name}'{nearest(word, known)}")


def _check_rewrite(book: Rulebook, rewrite: Rewrite, report: Report) -> None:
    shapes = {fact.name: fact.of for fact in book.facts.values()}
    known = _Names(book, Signature("", rewrite.variables, ()))
    left = known.check("left side", rewrite.left, (), report)
    right = known.check("right side", rewrite.right, (), report)
    for d in rewrite.variables:
        if d.name in right and d.name not in left:
            report(f"'{d.name}' is on the right of {rewrite} but not on the left")
    if rewrite.condition is not None:
        _check_condition(known, rewrite.condition, shapes, report)


def _check_condition(known: _Names, text: str, facts: Mapping[str, str], report: Report) -> None:
    try:
        root = read(text)
    except MatcalcError as error:
        report(f"condition does not parse: {error}")
        return
    if root.head != "call" or call_name(root) not in facts or len(root.args) != 1:
        fact = call_name(root) if root.head == "call" else text
        report(f"condition '{text}' is not of the form  fact(expression){nearest(fact, facts)}")
        return
    known.check_tree("condition", root.args[0], (), report)


def _check_fact(book: Rulebook, fact: Fact, report: Report) -> None:
    for field in ("zero", "nonnegative", "positive", "tangent", "sample", "whole", "near"):
        text = getattr(fact, field)
        if text is not None:
            _Names(book).check(field, text, SAMPLE_NAMES, report)
    for text in fact.entries:
        _Names(book).check("entries", text, ("X", "i", "j"), report)


class _Names:
    """The names that a formula of one rule may use."""

    def __init__(self, book: Rulebook, signature: Signature | None = None, sizes: Iterable[str] = ()) -> None:
        declared: tuple[Declaration, ...] = () if signature is None else (*signature.parameters, *signature.outputs)
        parameters = () if signature is None else signature.parameters
        self.book = book
        names = [d.name for d in parameters if d.kind == "function"]
        self.functions = tuple(prefix + name for name in names for prefix in ("", "d", "dd"))
        self.plain = (
            *CONSTANTS,
            *(d.name for d in parameters),
            *self.functions,
            *(n for d in declared for n in size_names(d)),
            *sizes,
        )

    def check(self, field: str, text: str, extra: Collection[str], report: Report) -> frozenset[str]:
        """Report the faults of a formula; return the names in it."""
        try:
            root = read(text)
        except MatcalcError as error:
            report(f"{field} does not parse: {error}")
            return frozenset(extra)
        return self.check_tree(field, root, extra, report)

    def check_tree(self, field: str, root: Ast, extra: Collection[str], report: Report) -> frozenset[str]:
        known = (*self.plain, *extra)
        found: dict[str, None] = {}
        stack: list[tuple[Ast, bool, tuple[str, ...]]] = [(root, False, ())]
        while stack:
            node, in_form, bound = stack.pop()
            if node.head == "name":
                name = str(node.value)
                found[name] = None
                if name not in known and name not in bound and name not in self.book:
                    report(f"unknown name '{name}' in {field}{nearest(name, known)}")
            elif node.head == "call":
                found[call_name(node)] = None
                self.check_call(field, node, report)
            stack.extend((child, in_form or node.head in BINDERS, bound + more)
                         for child, more in _inner(node, in_form))  # fmt: skip
        return frozenset(found)

    def check_call(self, field: str, node: Ast, report: Report) -> None:
        name = call_name(node)
        if node.args and node.args[0].head == "compare":
            name += str(node.args[0].value)
        if name not in self.book and name not in self.functions:
            known = [*self.book.names, *self.functions]
            report(f"unknown function '{name}' in {field}{nearest(name, known)}")


def _inner(node: Ast, in_form: bool) -> list[tuple[Ast, tuple[str, ...]]]:
    """Return the operands of `node`, each with the names bound in it: a function's parameter, indices."""
    operands = children(node)
    if node.head == "function":
        return [(child, (str(node.value),)) for child in operands]
    if node.head in BINDERS:
        return [(child, cast(tuple[str, ...], node.value)) for child in operands]
    if in_form and node.head in ("part", "condition"):
        first = 1 if node.head == "part" else 0
        return [(child, tuple(names_in(child)) if k >= first else ()) for k, child in enumerate(operands)]
    return [(child, ()) for child in operands]
