"""Tests that wrong rules are found: the checks for all rules must reject every mutant of every entry.

    python tests/rules/mutation.py [NAME ...]

A mutant whose formulas compile to the nodes of the original is no change and is left out. Mutants that change something
and are right all the same (equal by symmetry, on the domain, or in exact arithmetic) are listed in equivalent.toml,
each with the reason.
"""

import sys
import time
import tomllib
import warnings
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import numpy as np

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).resolve().parents[k]) for k in (1, 2)]

from rules.mutants import FORMULAS, mutants, replaced, rewritten
from rules.samplers import DELIBERATE, DRAWS

from matcalc.calculus.simplify.compiled_rewrites import compiled
from matcalc.errors import MatcalcError
from matcalc.evidence.numeric.sampling import MODES
from matcalc.formula.elaborate.check_rule import check_rule, defined, formulas, settings
from matcalc.rulebook.check_names import check_names
from matcalc.rulebook.entry import rule_from_table
from matcalc.rulebook.fields import read_rewrite
from matcalc.rulebook.load import Candidate, on_trial, shipped_rulebook
from matcalc.rulelab.edges import edges
from matcalc.rulelab.finding import is_finite, value_or_none
from matcalc.rulelab.function_shape import function_shape
from matcalc.rulelab.properties import properties
from matcalc.rulelab.rewrite_check import applied_sides, chosen_symbols, rewrite_faults
from matcalc.rulelab.rule_check import derivatives, further_tests, lengths, tests, values
from matcalc.rulelab.rule_point import points

ENTRIES = tomllib.loads((Path(__file__).parent / "equivalent.toml").read_text(encoding="utf-8"))["equal"]
LISTED = {mutant: entry["reason"] for entry in ENTRIES for mutant in entry.get("mutants", ())}
PARTS = [(entry["of"], part, entry["reason"]) for entry in ENTRIES for part in entry.get("parts", ())]
STATIC, NUMERIC, SAME, LIVES = "killed as it is read", "killed by numbers", "compiles to the same", "lives"


def reason_of(mutant):
    """Return why a mutant is listed as equal: by its whole text, or by a part of the formula; None if it is not."""
    written = str(mutant)
    place, change = written.partition(": ")[0], str(mutant.text)
    return LISTED.get(written) or next((why for of, part, why in PARTS if of == place and part in change), None)


def with_rule(book, old, new):
    """Return a rulebook in which an entry replaces another of its name."""
    rules = MappingProxyType({**book.rules, old.name: new})
    spellings = {
        name: tuple(Candidate(new, c.output, c.index) if c.rule is old else c for c in found)
        if any(c.rule is old for c in found)
        else found
        for name, found in book.spellings.items()
    }
    rewrites = tuple(r for r in book.rewrites if r not in old.rewrites) + new.rewrites
    claims = {claim: new if rule is old else rule for claim, rule in book.claims.items()}
    indices = {"spellings": MappingProxyType(spellings), "claims": MappingProxyType(claims)}
    return replace(book, rules=rules, rewrites=rewrites, **indices)


class Entry:
    """An entry whose mutants are tried: the points where its own tests pass, and the nodes of its formulas."""

    def __init__(self, book, rule):
        self.book, self.rule = book, rule
        self.draws = DRAWS.get(rule.name, {})
        self.points = self.passing()
        self.formulas = self.compiled(rule)

    def passing(self):
        """Return the points of the mode in which the entry passes its tests, each with its value."""
        for mode in (0,) if self.draws else range(len(MODES)):
            made = points(self.book, self.rule, mode, self.draws, lengths(self.rule))
            found = [(at, value) for at in made if (value := self.value(at))]
            if found and all(f.is_right for at, value in found for f in tests(at, value)):
                return found
        return [(at, value) for at in points(self.book, self.rule, 0, self.draws) if (value := self.value(at))]

    def compiled(self, rule):
        """Return the nodes of all formulas; None where one is rejected."""
        try:
            made = settings(rule, self.book)
            if rule.kind == "definition":
                return [defined(setting, index) for setting, index in made]
            return [s.build(f.text, f.shape, f.more, f.members) for s, _ in made for f in formulas(s)]
        except MatcalcError:
            return None

    def fate(self, mutant):
        """Return the outcome of a mutant, and the fault that caused it."""
        if mutant.path[0] == "rewrites":
            return rewrite_fate(self.book, self.rule.rewrites[mutant.path[1]], str(mutant.text))
        table = replaced(dict(self.rule.fields), mutant)
        facts = {f.name: f.of for f in self.book.facts.values()}
        try:
            changed = rule_from_table(self.rule.name, table, self.rule.address, facts)
            book = with_rule(self.book, self.rule, changed)
            with on_trial(book):
                check_names(book, [changed.name])
                check_rule(changed, book)
        except MatcalcError as error:
            return STATIC, str(error)
        same = changed if changed.kind == "definition" else replace(changed, digest=self.rule.digest)
        if mutant.path[0] in FORMULAS and self.compiled(same) == self.formulas:
            return SAME, ""
        with on_trial(book):
            fault = self.fault(book, changed, self.is_formula(mutant))
        return (NUMERIC, fault) if fault else (LIVES, "")

    def is_formula(self, mutant):
        return mutant.path[0] in ("differential", "derivative", "definition", "linear", "where")

    def fault(self, book, rule, is_formula):
        """Return the first test that a rule fails, quick tests first; None if it passes.

        Properties are tests of values alone, which a formula does not change.
        """
        ready = [(replace(at, rule=rule, book=book), value) for at, value in self.points]
        kinds = (values, derivatives, further_tests)
        kinds = kinds if is_formula else (properties, function_shape, *kinds)
        for kind in kinds:
            for at, value in ready:
                try:
                    wrong = next((f for f in kind(at, value) if not f.is_right and self.counts(f)), None)
                except Exception as error:  # noqa: BLE001 - whatever it is, the mutant does not pass
                    return f"{type(error).__name__}: {error}"
                if wrong:
                    return str(wrong)
        wrong = next((f for f in edges(book, rule) if not f.is_right), None)
        return str(wrong) if wrong else None

    def counts(self, finding):
        return self.rule.name not in DELIBERATE or "against" not in finding.what

    @staticmethod
    def value(at):
        value = value_or_none(at)
        return value if value is not None and at.is_defined() and is_finite(value) else None


def compared_sides(pattern, book):
    """Return both sides over symbols that have the required facts; None if no symbols have them."""
    chosen = chosen_symbols(pattern, book)
    return None if chosen is None else applied_sides(pattern, book, chosen)


def rewrite_fate(book, original, text):
    """Return the outcome of a mutant of a rewrite."""
    parts = read_rewrite(text)
    if parts is None:
        return STATIC, "does not read"
    changed = replace(original, **dict(zip(("left", "right", "condition"), parts, strict=True)), splits=False)
    trial = replace(book, rewrites=(*(r for r in book.rewrites if r != original), changed))
    try:
        with on_trial(trial):
            sides = [[compared_sides(p, trial) for p in compiled(r, trial)] for r in (original, changed)]
            if sides[0] == sides[1] and original.condition == changed.condition:
                return SAME, ""
            faults = rewrite_faults(changed, trial)
    except MatcalcError as error:
        return STATIC, str(error)
    except Exception as error:  # noqa: BLE001 - whatever it is, the mutant does not pass
        return NUMERIC, f"{type(error).__name__}: {error}"
    return (NUMERIC, faults[0]) if faults else (LIVES, "")


def fates(names=(), every=1, part=1):
    """Yield (mutant, fate, fault) of the entries called `names`, or of one entry in `part`.

    Of each entry one mutant in `every` is tried.
    """
    book = shipped_rulebook()
    for rule in list(book.rules.values())[::part]:
        if (names and rule.name not in names) or not rule.values or rule.kind == "implicit":
            continue
        chosen = list(mutants(rule.name, rule.fields))[::every]
        if chosen:
            entry = Entry(book, rule)
            for mutant in chosen:
                yield mutant, *entry.fate(mutant)
    own = {r for rule in book.rules.values() for r in rule.rewrites}
    for rewrite in (r for r in book.rewrites if r not in own and (not names or "rewrites" in names)):
        for mutant in list(rewritten("rewrite", (), str(rewrite)))[::every]:
            yield mutant, *rewrite_fate(book, rewrite, str(mutant.text))


def survivors(found):
    """Return the mutants that live and are not listed, and the listed ones that do not live."""
    living = {str(mutant): reason_of(mutant) for mutant, fate, _ in found if fate == LIVES}
    return sorted(mutant for mutant, reason in living.items() if reason is None), living


def main(names):
    start, found = time.perf_counter(), []
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for mutant, fate, fault in fates(names):
            found.append((mutant, fate, fault))
            if fate == LIVES and reason_of(mutant) is None:
                print(f"{fate:22}{mutant}   {fault.splitlines()[0] if fault else ''}", flush=True)
    counts = Counter(fate for _, fate, _ in found)
    new, living = survivors(found)
    entries, seconds = len({m.name for m, _, _ in found}), time.perf_counter() - start
    told = ", ".join(f"{count} {fate}" for fate, count in sorted(counts.items()))
    print(f"{len(found)} mutants of {entries} entries in {seconds:.0f} s: {told}")
    print(f"{len(living) - len(new)} of those that live are listed with the reason, {len(new)} are not")
    if not names and (stale := sorted(set(LISTED) - set(living))):
        print("listed, but do not live:", *stale, sep="\n  ")
    return 1 if new else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
