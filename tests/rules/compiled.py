"""Compiled rules against plain evaluation at every shape, layout and scale, with NaN, inf or empty data.

    python tests/rules/compiled.py numba [NAME ...]

It prints the faults, then the cases that the target rejects.
"""

import sys
import time
import warnings
from pathlib import Path

import numpy as np

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).resolve().parents[k]) for k in (1, 2)]

from rules.compiled_check import SAME, cases, compiled_findings, groups
from rules.samplers import DRAWS

from matcalc.calculus.evaluate.evaluate import evaluate
from matcalc.evidence.numeric.sampling import MODES
from matcalc.rulebook.load import shipped_rulebook
from matcalc.rulelab.finding import REFUSED
from matcalc.rulelab.rule_point import lengths_of, point

NOT_FINITE = (np.nan, np.inf, -np.inf)
EMPTY = ((0,), (0, 2), (2, 0))


def made(rules):
    """Return (case, mode, draws) of all forms of rules, at the first mode in which there are any."""
    found = []
    for rule in rules:
        draws = DRAWS.get(rule.name, {})
        for mode in range(len(MODES)):
            if here := cases(shipped_rulebook(), rule, mode, draws):
                found += [(case, mode, draws) for case in here]
                break
    return found


def rules(names=()):
    book = shipped_rulebook()
    return [r for r in book.rules.values() if r.values and r.kind != "implicit" and (not names or r.name in names)]


def faults(chosen, target):
    """Yield (name, fault, whether the target rejected it) of compiled rules."""
    known = {case.tag: (mode, draws) for case, mode, draws in chosen}
    for group in groups([case for case, _, _ in chosen], target):
        if isinstance(group, tuple):
            yield group[0].at.rule.name, group[1], True
            continue
        for case in group.cases:
            for finding in compiled_findings(group, case, *known[case.tag]):
                if not finding.is_right:
                    yield case.at.rule.name, str(finding), False
            for fault in (*poisoned(group, case), *differing(group, case, *known[case.tag])):
                yield case.at.rule.name, fault, False


def poisoned(group, case):
    """Yield where a result is a number although an entry on which it depends is not.

    A result depends on an entry if a change of the entry changes it. NaN must appear everywhere in such results. An
    infinite entry of a matrix must appear at one index at least. So must NaN where permuting an argument does not
    change the result (`sort` puts it last). A LinAlgError is right too.
    """
    data = case.data(case.at)
    clean = called(group, case, data)
    if clean is None:
        return
    for name, node in case.at.symbols.items():
        array = data[node.name]
        if not array.size:
            continue
        at = tuple(n // 2 for n in array.shape)
        depends = dependent(group, case, data, node.name, at, clean)
        somewhere = any(change in ({a: f"P*{a}", "Y": "Y"} for a in change) for change in case.at.rule.equivariant)
        is_matrix = array.ndim == 2 and case.at.rule.kind != "map" and not has_arrays(case.at)
        for bad in NOT_FINITE if is_matrix else NOT_FINITE[:1]:
            found = called(group, case, {**data, node.name: with_entry(case, name, array, at, bad)})
            if found is None:
                continue
            for (what, _), one, where in zip(case.outputs, found, depends, strict=True):
                finite = np.isfinite(one)
                everywhere = np.isnan(bad) and not somewhere
                if np.any(where) and (np.any(finite[where]) if everywhere else np.all(finite)):
                    yield f"{what} is a number where {name}{list(at)} is {bad}"


def differing(group, case, mode, draws):
    """Yield where only one path raises, with data that are not finite or sizes 0; NaN is allowed there too."""
    at, data = case.at, case.data(case.at)
    for name, node in at.symbols.items():
        array = data[node.name]
        for bad in NOT_FINITE if array.size else ():
            for place in dict.fromkeys((tuple(0 for _ in array.shape), tuple(n - 1 for n in array.shape))):
                given = {**data, node.name: with_entry(case, name, array, place, bad)}
                plain, found = both(group, case, at, given)
                if (plain is None) != (found is None):
                    yield f"{'compiled' if found is None else 'plain'} alone fails where {name}{list(place)} is {bad}"
    rule = at.rule
    fixed = any(p.kind == "integer" for p in rule.signatures[at.form.overload].parameters)
    for lengths in () if fixed or rule.nonempty else EMPTY:
        try:
            there = point(at.book, rule, at.form, lengths_of(rule, at.form.overload, lengths), mode, 0, draws)
            there.value()
        except REFUSED:
            continue
        if 0 not in there.lengths.values():
            continue
        plain, found = both(group, case, there, case.data(there))
        if (plain is None) != (found is None):
            yield f"{'compiled' if found is None else 'plain'} alone fails at sizes {there.lengths}"
        for (what, _), one, other in zip(case.outputs, found or (), plain or (), strict=False):
            if "value" in what and not is_same(one, other):
                yield f"{what} at sizes {there.lengths} is {one}, plain {other}"


def both(group, case, at, data):
    """Return the values plain and compiled, None for each that raises."""
    try:
        plain = [np.asarray(a) for a in evaluate([node for _, node in case.outputs], data, case.lengths(at))]
    except REFUSED:
        plain = None
    try:
        return plain, group.call(case, at, data)
    except REFUSED:
        return plain, None


def is_same(one, other):
    return one.shape == other.shape and np.allclose(one, other, rtol=SAME, atol=0.0, equal_nan=True)


def has_arrays(at):
    return any(p.kind == "array" for p in at.rule.signatures[at.form.overload].parameters)


def called(group, case, data):
    try:
        return group.call(case, case.at, data)
    except REFUSED:
        return None


def with_entry(case, name, array, at, entry):
    """Return an array with another entry, in symmetric and skew arrays with its mirror image."""
    facts = case.at.book.hull(case.at.facts[name])
    changed = array.copy()
    changed[at] = entry
    if "symmetric" in facts or "skew" in facts:
        changed[at[::-1]] = -entry if "skew" in facts and at[0] != at[1] else entry
    return changed


def dependent(group, case, data, name, at, clean):
    """Return for each output where it changes with an entry."""
    short = next(n for n, node in case.at.symbols.items() if node.name == name)
    entry, size = data[name][at], np.max(np.abs(data[name]))
    found = [np.zeros(np.shape(a), bool) for a in clean]
    for other in (entry + 0.1 * size, entry - 0.07 * size, 1.5 * entry):
        changed = called(group, case, {**data, name: with_entry(case, short, data[name], at, other)})
        if changed is None or not all(np.all(np.isfinite(a)) for a in changed):
            continue
        for k, (one, before) in enumerate(zip(changed, clean, strict=True)):
            found[k] |= np.abs(one - before) > 1e-6 * np.max(np.abs(before), initial=1e-300)
    return found


def main(target, names):
    start, refused, wrong = time.perf_counter(), {}, 0
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, fault, is_refusal in faults(made(rules(names)), target):
            if is_refusal:
                refused[name] = fault
                continue
            wrong += 1
            print(f"{name}: {fault}", flush=True)
    print(*(f"not on {target}: {name}: {why}" for name, why in refused.items()), sep="\n")
    print(f"{wrong} faults, {time.perf_counter() - start:.0f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
