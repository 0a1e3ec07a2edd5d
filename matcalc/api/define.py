"""Adds operations of the user: one entry by `define`, or a rule file by `load_rules`, checked before use.

Formulas are read, built at symbolic sizes, and tested at random points in this thread alone. Only a rulebook without
faults replaces the current one, so a faulty file changes nothing. All its faults are reported at once, each with the
rule, file and line.
"""

from __future__ import annotations

import hashlib
import re
import reprlib
import sys
import tomllib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from matcalc.errors import MatcalcError, RuleError
from matcalc.expressions.calling import function
from matcalc.formula.elaborate.check_rule import check_rule
from matcalc.language.declare import read_signature
from matcalc.language.identifiers import by_name, file_path, shown
from matcalc.rulebook.check_names import check_names
from matcalc.rulebook.entry import OF_A_USER, rule_from_table
from matcalc.rulebook.files import line_numbers
from matcalc.rulebook.load import Rulebook, adopt, default_rulebook, on_trial, survey
from matcalc.rulebook.rule import Rewrite, Rule
from matcalc.rulelab.finding import Finding, RuleReport
from matcalc.rulelab.rewrite_check import rewrite_faults
from matcalc.rulelab.rule_check import tested
from matcalc.rulelab.rule_point import Draws

FORMULAS = ("where", "differential", "derivative", "definition", "linear", "value", "sizes", "square")
"""Fields that hold formulas; messages name faults by them."""

Where = Callable[[Rule, str], str]
"""Returns the address of a field of a rule."""


def define(signature: str | Sequence[str], value: object = None, at: Draws | None = None, **fields: object) -> Any:
    """Add an operation to the language, and return it as a function of expressions.

    `signature` is `name(X: matrix(n, n)) -> matrix(n, n)`. `value` is Python text over the parameters, or a Python or
    Numba function of them. The other fields are those of a rule file: `differential`, `derivative`, `definition`,
    `where`, `linear`, `domain`, `facts`, ... `at` holds data for the numeric tests by parameter (an array, or a
    function of a generator and a shape), for parameters whose random data would miss the domain. Several results give a
    tuple of functions. Each function has the `report` of the tests.

    Raises: RuleError that lists all faults.

    Example:
        >>> cube = define("cube(X: matrix(n, n)) -> matrix(n, n)", value="X @ X @ X",
        ...               differential="dX*X*X + X*dX*X + X*X*dX")
    """
    frame = sys._getframe(1)
    address = f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"
    texts = [signature] if isinstance(signature, str) else signature
    if not isinstance(texts, Sequence) or not all(isinstance(one, str) for one in texts):
        raise RuleError(f"a signature is a text or a list of texts, not {reprlib.repr(signature)}")
    try:
        name = read_signature(texts[0], {}).name if texts else ""
    except MatcalcError:
        name = texts[0].partition("(")[0].strip()
    table = {"signature": signature if isinstance(signature, str) else list(texts), **OF_A_USER, **fields}
    functions: dict[str, Callable[..., object]] = {}
    if value is not None:
        table["value"] = _value_text(name, texts, value, functions)

    def extended(book: Rulebook) -> tuple[Rulebook, list[str]]:
        known = {f.name: f.of for f in book.facts.values()}
        rule = rule_from_table(name, table, address, known)
        return book.with_functions(functions).with_rules([rule]), []

    rules, report = _adopted(extended, by_name(at or {}, "at="), lambda rule, field: address)
    made = tuple(function(spelling) for rule in rules for spelling in rule.names) or (function(name),)
    for call in made:
        call.report = report  # type: ignore[attr-defined]
    return made[0] if len(made) == 1 else made


class RuleNames(tuple[str, ...]):
    """The names of the operations in a file, with the `report` of their tests."""

    report: RuleReport


def load_rules(path: str | Path) -> RuleNames:
    """Add the operations, rewrites and facts of a rule file; return the names of its operations, with their `report`.

    A file that is loaded again unchanged adds nothing and is tested again.

    Raises: RuleError that lists all faults of the file; then the file adds nothing.
    """
    file = Path(file_path(path))

    def where(rule: Rule, field: str) -> str:
        lines = line_numbers(file.read_text(encoding="utf-8"))
        line = lines.get((rule.name, field), lines.get((rule.name, ""), 1))
        return f"{file.as_posix()}:{line}"

    rules, report = _adopted(lambda book: survey(file, book), {}, where)
    book = default_rulebook()
    names = RuleNames(name for name in tomllib.loads(file.read_text(encoding="utf-8")) if name in book.rules)
    names.report = report if rules else check_rules(*names)
    return names


def check_rules(*names: str, at: Draws | None = None) -> RuleReport:
    """Test operations of the rulebook as new operations are tested: every field of their entries.

    The tests compare the value with the definition, and tangents with complex steps or differences. They cover
    adjoints, second derivatives, declared properties, scales from 1e-150 to 1e150, equal eigenvalues, and the laws in
    rows and columns of larger tensors. `at` holds data by parameter, as in `define`. The report is true or false and
    prints as a table.

    Raises: UnknownName.

    Example:
        >>> bool(check_rules("inv", "det"))
        True
    """
    book = default_rulebook()
    if wrong := [name for name in names if not isinstance(name, str)]:
        raise TypeError(f"names of operations are text, not {shown(wrong[0])}")
    rules, draws = [book.get(name) for name in names], by_name(at or {}, "at=")
    return RuleReport(tuple((rule.name, tuple(tested(book, rule, draws))) for rule in rules))


def _adopted(
    extended: Callable[[Rulebook], tuple[Rulebook, list[str]]], at: Draws, where: Where
) -> tuple[tuple[Rule, ...], RuleReport]:
    """Make an extended rulebook the current one if its new rules and rewrites pass every test; return rules and tests.

    `extended` returns the rulebook with the faults met while reading.
    """
    fresh: list[Rule] = []
    tests: dict[str, tuple[Finding, ...]] = {}

    def change(book: Rulebook) -> Rulebook:
        made, found = extended(book)
        fresh.extend(rule for name, rule in made.rules.items() if name not in book.rules)
        with on_trial(made):
            found += [line for rule in fresh for line in _rule_faults(made, rule, at, where, tests)]
            known = set(book.rewrites)
            for rewrite in (r for r in made.rewrites if r not in known):
                found += _rewrite_faults(made, rewrite)
        if found:
            raise RuleError("\n".join(dict.fromkeys(found)))
        return made

    adopt(change)
    return tuple(fresh), RuleReport(tuple(tests.items()))


def _rule_faults(
    book: Rulebook, rule: Rule, at: Draws, where: Where, tests: dict[str, tuple[Finding, ...]]
) -> list[str]:
    """Return the faults of a rule: of names, else of shapes, else of numbers, whose tests join `tests`."""
    static: tuple[Callable[[], None], ...] = (partial(check_names, book, [rule.name]), partial(check_rule, rule, book))
    for test in static:
        try:
            test()
        except RuleError as error:
            return [_with_field_address(line, rule, where) for line in error.message.splitlines()]
    if rule.value is None:
        if rule.kind == "definition":
            return []
        return [f"{where(rule, '')}: [{rule.name}] has no value, which its numeric test and compiled code need"]
    tests[rule.name] = tuple(tested(book, rule, at))
    found = RuleReport(((rule.name, tests[rule.name]),))
    return [f"{where(rule, fault.field)}: [{rule.name}] {fault}" for _, fault in found.wrong]


def _with_field_address(line: str, rule: Rule, where: Where) -> str:
    """Return a fault of a formula with the address of its field, if the message names the field."""
    head, mark, rest = line.partition(f"{rule.address}: [{rule.name}] ")
    field = next((word for word in re.findall(r"\w+", rest) if word in FORMULAS), "")
    return line if head or not mark else f"{where(rule, field)}: [{rule.name}] {rest}"


def _rewrite_faults(book: Rulebook, rewrite: Rewrite) -> list[str]:
    try:
        return [f"{rewrite.address}: {fault}" for fault in rewrite_faults(rewrite, book)]
    except RuleError as error:
        return [error.message]


def _value_text(name: str, texts: Sequence[str], value: object, functions: dict[str, Callable[..., object]]) -> object:
    """Return a value as text; add functions to `functions`, which the text calls by a name made from their content."""
    if isinstance(value, (list, tuple)):
        pairs = zip(value, texts, strict=False)
        return [_value_text(name, [text], one, functions) for one, text in pairs] + list(value[len(texts) :])
    if not callable(value):
        return value
    known = f"{name}_{_content(value)}"
    functions[known] = value
    try:
        parameters = read_signature(texts[0]).parameters
    except MatcalcError:
        return f"{known}()"  # checking the signature reports the fault
    return f"{known}({', '.join(f'*{p.name}' if p.repeated else p.name for p in parameters)})"


def _content(value: Callable[..., object]) -> str:
    """Return a short digest of a function: its code and the values it closes over."""
    plain = getattr(value, "py_func", value)
    code = getattr(plain, "__code__", None)
    cells = [repr(cell.cell_contents) for cell in getattr(plain, "__closure__", None) or ()]
    parts = (
        [repr(value)] if code is None else [code.co_code.hex(), repr(code.co_names), *map(_constant, code.co_consts)]
    )
    parts += [*cells, repr(getattr(plain, "__defaults__", None))]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:8]


def _constant(value: object) -> str:
    return value.co_code.hex() if hasattr(value, "co_code") else repr(value)


__all__ = ["check_rules", "define", "load_rules"]
