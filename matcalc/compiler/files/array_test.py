"""Writes the self-test of a saved file on a framework's arrays: expected values and difference quotients.

The test computes with lists of Python numbers, so that the file needs only the framework.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from matcalc.compiler.files.array_words import in_words
from matcalc.compiler.files.save_test import FLAT, NO_DATA, broken, case_number, function_tables
from matcalc.compiler.spec.module_text import INDENT
from matcalc.compiler.spec.spec import CompiledSpec, Derivative, Reference
from matcalc.language.identifiers import literal

RESULTS = '''\
def all_results(data, only=None):
    """Return the results by name: of all functions, or of the one that gives the result `only`."""
    found = {}
    for function, arguments_, names in FUNCTIONS:
        if only is None or only in names:
            found.update(zip(names, flat(function(*[data[name] for name in arguments_])), strict=True))
    return found


def numbers(x):
    """Return the entries of an array, in order."""
    return x.reshape(-1).tolist()


def differ(name, got, want, tolerance, said):
    """Return a line on the entry where two lists differ most, none where they agree."""
    if len(got) != len(want):
        return [f"{name} has {len(got)} entries, {said} {len(want)}"]
    gaps = [0.0 if g == w or (math.isnan(g) and math.isnan(w)) else abs(g - w) for g, w in zip(got, want, strict=True)]
    if all(gap <= tolerance for gap in gaps):
        return []
    at = max(range(len(gaps)), key=lambda k: math.inf if math.isnan(gaps[k]) else gaps[k])
    return [f"entry {at} of {name} is {got[at]!r}, {said} {want[at]!r}"]


def check_values(results, wanted):
    """Compare results with the numbers of a case."""
    faults = []
    for name, (shape, want) in wanted.items():
        if tuple(results[name].shape) != shape:
            faults.append(f"{name} has the shape {tuple(results[name].shape)}, and by its formula {shape}")
        size = 1e-3 + max(map(abs, want), default=0.0)
        faults += differ(name, numbers(results[name]), want, 1e-9 * size, "and by its formula")
    return faults'''
SLOPES = '''\
def tangents(data, names, along):
    """Yield the given tangents, else the unit tangents of each entry, projected on the set that the argument is in."""
    if along:
        pairs = zip(names, along, strict=True)
        yield {name: PROJECTIONS.get(name, lambda M: M)(data[vector]) for name, vector in pairs}
        return
    (name,) = names
    shape = tuple(data[name].shape)
    count = len(numbers(data[name]))
    for k in range(count):
        yield {name: PROJECTIONS.get(name, lambda M: M)(made(shape, [float(j == k) for j in range(count)]))}


def check_slopes(data, results):
    """Compare derivatives with difference quotients, each with the step that fits best."""
    faults = []
    for result, of, names, along in DERIVATIVES:
        whole, value = numbers(results[result]), numbers(results[of])
        tolerance = 1e-5 * (1e-3 + max(map(abs, whole), default=0.0)) + 1e-8 * max(map(abs, value), default=0.0)
        for tangent in tangents(data, names, along):
            claimed = whole
            if not along:
                move = numbers(tangent[names[0]])
                rows = [whole[k : k + len(move)] for k in range(0, len(whole), len(move))]
                claimed = [sum(a * b for a, b in zip(row, move, strict=True)) for row in rows]
            found = []
            for step in (1e-3, 1e-4, 1e-5, 1e-6):
                ahead = {name: data[name] + step * move for name, move in tangent.items()}
                behind = {name: data[name] - step * move for name, move in tangent.items()}
                ends = [numbers(all_results({**data, **end}, only=of)[of]) for end in (ahead, behind)]
                quotient = [(a - b) / (2.0 * step) for a, b in zip(*ends, strict=True)]
                gaps = [abs(q - c) for q, c in zip(quotient, claimed, strict=True)]
                error = max(gaps, default=0.0) if not any(map(math.isnan, gaps)) else math.inf
                found.append((error, step, quotient))
            _, step, quotient = min(found, key=lambda row: row[0])
            said = f"and the difference quotient of {of} in {', '.join(names)} with step {step:g} is"
            faults += differ(result, claimed, quotient, tolerance, said)
    return faults'''
SELF_TEST = '''\
def self_test():
    """Return what is wrong, one line each."""
    faults = []
    for number_, (given, wanted) in enumerate(CASES, 1):
        data = {name: made(*entry) if isinstance(entry, tuple) else entry for name, entry in given.items()}
        results = all_results(data)
        found = check_values(results, wanted)
        found += check_slopes(data, results)
        faults += [f"{line} (case {number_})" for line in found]
    return faults


if __name__ == "__main__":
    problems = self_test()
    print("\\n".join(problems) or ("all right" if CASES else {no_data}))
    sys.exit(1 if problems else 0)'''
ARRAY_TEST_NAMES = (
    "flat", "all_results", "numbers", "differ", "check_values", "tangents", "check_slopes", "self_test", "problems",
    "made", "sys", "FUNCTIONS", "DERIVATIVES", "PROJECTIONS", "CASES",
)  # fmt: skip
SLOPES_CALL = f"{INDENT * 2}found += check_slopes(data, results)\n"


def array_test_text(specs: Sequence[CompiledSpec], derivatives: Sequence[Derivative], target: str) -> list[str]:
    """Return the data, the functions that list the faults, and the main block that runs them."""
    oracle = next((spec.oracle for spec in specs if spec.oracle), None)
    reference = oracle(specs) if oracle else Reference(())
    texts = [*_projections(reference, derivatives, target), _tables(specs, reference, derivatives), FLAT, RESULTS]
    texts += [SLOPES] if derivatives else []
    test = SELF_TEST.replace("{no_data}", literal(NO_DATA))
    return [*texts, test if derivatives else test.replace(SLOPES_CALL, "")]


def _projections(reference: Reference, derivatives: Sequence[Derivative], target: str) -> list[str]:
    """Return the functions that project on the sets of the arguments."""
    functions = []
    for number, text in enumerate(_projected(reference, derivatives).values(), 1):
        sentence = '"""Return M projected on the set that an argument is in."""'
        functions.append(in_words(f"def projection_{number}(M):\n{INDENT}{sentence}\n{INDENT}return {text}", target))
    return functions


def _projected(reference: Reference, derivatives: Sequence[Derivative]) -> dict[str, str]:
    return {name: text for name, text in reference.projections.items() if text != "M"} if derivatives else {}


def _tables(specs: Sequence[CompiledSpec], reference: Reference, derivatives: Sequence[Derivative]) -> str:
    """Return the tables of the test: functions, derivatives, data."""
    lines = function_tables(specs, derivatives)
    if derivatives:
        names_of = enumerate(_projected(reference, derivatives), 1)
        lines.append(f"PROJECTIONS = {{{', '.join(f'{literal(n)}: projection_{k}' for k, n in names_of)}}}")
    lines.append("CASES = (  # data, and the results by an evaluation of the formulas with many digits")
    sizes = {name for spec in specs for name in spec.sizes}
    for case in reference.cases:
        lines.append(f"{INDENT}(")
        for arrays in (case.data, case.results):
            lines.append(f"{INDENT * 2}{{")
            for name, array in arrays.items():
                text = str(int(array)) if name in sizes else _array(array)
                lines += broken(f"{literal(name)}: {text},", INDENT * 3)
            lines.append(f"{INDENT * 2}}},")
        lines.append(f"{INDENT}),")
    return "\n".join([*lines, ")"]).replace("(\n)", "()")


def _array(array: NDArray[Any]) -> str:
    entries = ", ".join(case_number(entry) for entry in array.ravel().tolist())
    return f"({array.shape}, [{entries}])"
