"""Writes the self-test of a saved file.

Values are compared with expected numbers, which the reference computed from the formulas when the file was written.
Derivatives are compared with difference quotients, entry by entry. The Numba form is compared with the NumPy form on
data large enough to reach the kernels' code for large arrays.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from matcalc.compiler.files.save_entry import Part
from matcalc.compiler.spec.call_names import Spelled
from matcalc.compiler.spec.module_text import INDENT, WORD, literals
from matcalc.compiler.spec.spec import CompiledSpec, Derivative, Operand, Reference, size_names
from matcalc.language.identifiers import literal
from matcalc.tensor.sizes.size import Size, volume
from matcalc.tensor.sizes.sizes_from_shapes import holds

LARGEST = 1e8
"""Maximal operations of a call on the larger data."""
WIDTH = 108

FLAT = '''\
def flat(results):
    """Return the entries of a nested tuple, in order."""
    if not isinstance(results, tuple):
        return [results]
    return [entry for part in results for entry in flat(part)]'''
RESULTS = '''\
def all_results(data{jit}, only=None):
    """Return the results by name: of all functions, or of the one that gives the result `only`."""
    found = {{}}
    for function, arguments, names in FUNCTIONS:
        if only is None or only in names:
            results = function(*[data[name] for name in arguments]{passed})
            found.update(zip(names, map(np.asarray, flat(results)), strict=True))
    return found'''
DIFFER = '''\
def differ(name, got, want, tolerance, said, rest=()):
    """Return a line on the entry where two results differ most, none where they agree; `rest` are further indices."""
    if got.shape != want.shape:
        return [f"{name} has the shape {got.shape}, {said} {want.shape}"]
    error = np.where((got == want) | (np.isnan(got) & np.isnan(want)), 0.0, np.abs(got - want))
    if np.all(error <= tolerance):
        return []
    at = np.unravel_index(np.argmax(np.where(np.isnan(error), np.inf, error)), error.shape)
    return [f"{entry(name, (*at, *rest))} is {float(got[at])!r}, {said} {float(want[at])!r}"]


def entry(name, at):
    """Return how an entry is written."""
    return f"{name}[{', '.join(map(str, at))}]" if len(at) else name


def magnitude(array):
    """Return the largest magnitude of an array's entries, and a little more."""
    return 1e-3 + np.max(np.abs(array), initial=0.0)'''
VALUES = '''\
def check_values(results, wanted):
    """Compare results with the numbers of a case."""
    faults = []
    for name, want in wanted.items():
        faults += differ(name, results[name], np.asarray(want), 1e-9 * magnitude(want), "and by its formula")
    return faults'''
SLOPES = '''\
def tangents(data, arguments, along):
    """Yield the given tangents, else the unit tangents of each entry, projected on the set that the argument is in."""
    if along:
        pairs = zip(arguments, along, strict=True)
        yield (), {name: PROJECTIONS.get(name, np.asarray)(data[vector]) for name, vector in pairs}
        return
    (name,) = arguments
    for at in np.ndindex(np.shape(data[name])):
        tangent = np.zeros(np.shape(data[name]))
        tangent[at] = 1.0
        tangent = PROJECTIONS.get(name, np.asarray)(tangent)
        if np.any(tangent):
            yield at, {name: tangent}


def check_slopes(data, results):
    """Compare derivatives with difference quotients, each with the step that fits best."""
    faults = []
    for result, of, arguments, along in DERIVATIVES:
        whole, value = results[result], results[of]
        tolerance = 1e-5 * magnitude(whole) + 1e-8 * np.max(np.abs(value), initial=0.0)
        for at, tangent in tangents(data, arguments, along):
            claimed = whole
            if not along:
                claimed = np.asarray(np.tensordot(whole, tangent[arguments[0]], len(at)))
            found = []
            for step in (1e-3, 1e-4, 1e-5, 1e-6):
                ahead = {name: data[name] + step * move for name, move in tangent.items()}
                behind = {name: data[name] - step * move for name, move in tangent.items()}
                change = all_results({**data, **ahead}, only=of)[of] - all_results({**data, **behind}, only=of)[of]
                quotient = change / (2.0 * step)
                error = np.max(np.abs(quotient - claimed), initial=0.0)
                found.append((np.inf if np.isnan(error) else error, step, quotient))
            _, step, quotient = min(found, key=lambda row: row[0])
            moved = f"along {', '.join(along)}" if along else f"in {entry(arguments[0], at)}"
            said = f"and the difference quotient of {of} {moved} with step {step:g} is"
            faults += differ(result, claimed, quotient, tolerance, said, at)
    return faults'''
FORMS = '''\
def check_forms():
    """Compare the form for Numba with that for NumPy on larger data."""
    data, found = sample(np.random.default_rng(0)), []
    for jit in (True, False):
        try:
            found.append(all_results(data, jit))
        except np.linalg.LinAlgError as fault:
            found.append({"the fault": str(fault)})
    quick, plain = found
    if quick.keys() != plain.keys():
        return [f"on larger data Numba gives {', '.join(quick)}, and NumPy {', '.join(plain)}"]
    faults = []
    for name, want in plain.items():
        if isinstance(want, np.ndarray):
            said = "by Numba on larger data, and by NumPy"
            faults += differ(name, quick[name], want, 1e-6 * magnitude(want[np.isfinite(want)]), said)
    return faults'''
SELF_TEST = '''\
def self_test():
    """Return what is wrong, one line each."""
    faults = []
    with np.errstate(all="ignore"):
        for number, (data, wanted) in enumerate(CASES, 1):
{each}
                try:
                    results = all_results(data{passed})
                    found = check_values(results, wanted)
                    found += check_slopes(data, results){unless}
                except np.linalg.LinAlgError as fault:
                    found = [f"LinAlgError: {{fault}}"]
                faults += [f"{{line}} (case {{number}}{form})" for line in found]
{forms}    return faults'''
NO_DATA = "not tested: no data were found at which the results are finite"
"""The output of a test without data, which is no failure."""
MAIN = f"""\
if __name__ == "__main__":
    problems = self_test()
    passed = "all right" if CASES else {literal(NO_DATA)}
    print("\\n".join(problems) or passed)
    sys.exit(1 if problems else 0)"""
TEST_NAMES = (
    "all_results", "check_forms", "check_slopes", "check_values", "differ", "entry", "flat", "magnitude", "sample",
    "self_test", "tangents", "solve", "problems", "has_mask", "real_array", "whole_array", "outside", "kernels",
    "machine_code", "typed", "cache", "find_spec", "NDArray", "CASES", "DERIVATIVES", "FUNCTIONS", "PROJECTIONS",
    "minimize", "stored_matrix", "stored_arrays",
)  # fmt: skip
"""Names that a function of a file must not have, since the file defines them itself."""


def self_test_text(parts: Sequence[Part], reference: Reference, derivatives: Sequence[Derivative]) -> list[str]:
    """Return the data, the functions that list the faults, and the main block that runs them."""
    has_quick = any(part.quick for part in parts)
    given = {"jit": ", jit=HAS_NUMBA", "passed": ", jit=jit"} if has_quick else {"jit": "", "passed": ""}
    texts = [_tables(parts, reference, derivatives), FLAT, RESULTS.format(**given), DIFFER, VALUES]
    texts += [SLOPES] if derivatives else []
    texts += [sample_text([part.spec for part in parts], parts[0].names), FORMS] if has_quick else []
    each = "for jit in (True, False) if HAS_NUMBA else (False,):" if has_quick else "for _ in range(1):"
    texts.append(
        SELF_TEST.format(
            each=f"{INDENT * 3}{each}",
            passed=", jit" if has_quick else "",
            form=", {'Numba' if jit else 'NumPy'}" if has_quick else "",
            unless=(" if jit == HAS_NUMBA else []" if has_quick else "") if derivatives else "",
            forms=f"{INDENT * 2}faults += check_forms() if HAS_NUMBA else []\n" if has_quick else "",
        )
    )
    if not derivatives:
        texts[-1] = texts[-1].replace(f"{INDENT * 5}found += check_slopes(data, results)\n", "")
    if not has_quick:
        texts[-1] = _without_loop(texts[-1])
    return [*texts, MAIN]


def _without_loop(text: str) -> str:
    """Return the test without its loop over forms."""
    head, _, rest = text.partition(f"{INDENT * 3}for _ in range(1):\n")
    lines = rest.splitlines()
    return head + "\n".join(line.removeprefix(INDENT) if line.startswith(INDENT * 4) else line for line in lines)


def _tables(parts: Sequence[Part], reference: Reference, derivatives: Sequence[Derivative]) -> str:
    """Return the tables of the test: functions, derivatives, data."""
    lines = function_tables([part.spec for part in parts], derivatives)
    if derivatives:
        lines += ["PROJECTIONS = {"]
        lines += [
            f"{INDENT}{literal(name)}: lambda M: {text}," for name, text in reference.projections.items() if text != "M"
        ]
        lines += ["}"]
    lines.append("CASES = (  # data, and the results by an evaluation of the formulas with many digits")
    for case in reference.cases:
        lines += [f"{INDENT}(", *_arrays(case.data, 8), *_arrays(case.results, 8), f"{INDENT}),"]
    return "\n".join([*lines, ")"]).replace("{\n}", "{}").replace("(\n)", "()")


def function_tables(specs: Sequence[CompiledSpec], derivatives: Sequence[Derivative]) -> list[str]:
    """Return the lines of the tables of functions and derivatives."""
    lines = ["FUNCTIONS = ("]
    for spec in specs:
        names = literals([a.name for a in spec.arguments] + list(spec.sizes))
        results = literals([spec.outputs[k].name for k in output_order(spec)])
        lines += broken(f"({spec.name}, {names}, {results}),", INDENT)
    lines.append(")")
    if derivatives:
        lines.append("DERIVATIVES = (  # a result, what it is the derivative of, in what, along what")
        for d in derivatives:
            row = [literal(d.result), literal(d.of), literals(d.arguments), literals(d.along)]
            lines += broken(f"({', '.join(row)}),", INDENT)
        lines.append(")")
    return lines


def broken(text: str, indent: str) -> list[str]:
    """Return a text as lines, broken at spaces."""
    return textwrap.wrap(text, WIDTH, initial_indent=indent, subsequent_indent=indent + INDENT, break_long_words=False)


def _arrays(arrays: Mapping[str, NDArray[Any]], indent: int) -> list[str]:
    """Return a dictionary of arrays, broken at spaces."""
    pad, lines = " " * indent, [" " * indent + "{"]
    for name, array in arrays.items():
        entries = ", ".join(case_number(entry) for entry in array.ravel().tolist())
        text = f"np.reshape([{entries}], {array.shape})" if array.ndim > 1 else f"np.array([{entries}])"
        if not array.size:
            text = f"np.empty({array.shape})"
        lines += broken(f"{literal(name)}: {text if array.ndim else entries},", pad + INDENT)
    return [*lines, pad + "},"]


def case_number(entry: float | int) -> str:
    return repr(entry) if np.isfinite(entry) else f'float("{entry}")'


# ---- larger data


def sample_text(specs: Sequence[CompiledSpec], names: Spelled) -> str:
    """Return the function that draws larger data of the declared structure."""
    arguments = {a.name: a for spec in specs for a in spec.arguments}
    sizes = sample_sizes(specs)
    lines = ["def sample(rng):", f'{INDENT}"""Return larger data of the declared structure, by name."""']
    spelled = names.sizes | {name: name for name in sizes if name not in names.sizes}
    lines += [f"{INDENT}{spelled[name]} = {length}" for name, length in sizes.items()]
    rows = []
    for operand in arguments.values():
        shape = ", ".join(names.size(s) for s in operand.shape) + ("," if len(operand.shape) == 1 else "")
        normal = f"rng.standard_normal(({shape}))" if operand.shape else "rng.standard_normal()"
        drawn = operand.sample.replace("{shape}", f"({shape})")
        if operand.dtype != "float64":
            drawn = _random_indices(specs, names, operand, shape)
        rows.append(f"{INDENT * 2}{literal(operand.name)}: {drawn or normal},")
    rows += [f"{INDENT * 2}{literal(n)}: {spelled[n]}," for n in dict.fromkeys(n for s in specs for n in s.sizes)]
    used = WORD.findall(" ".join(rows))
    lines = [x for x in lines if " = " not in x or x.partition(" = ")[0].strip() in used]
    return "\n".join([*lines, f"{INDENT}return {{", *rows, f"{INDENT}}}"])


def _random_indices(specs: Sequence[CompiledSpec], names: Spelled, operand: Operand, shape: str) -> str:
    """Return the text of random indices, valid for every axis that an argument selects from."""
    found = dict.fromkeys(c.length for spec in specs for c in spec.data if operand.name in c.index.names)
    lengths = [names.size(length) for length in found] or ["1"]
    length = lengths[0] if len(lengths) == 1 else f"min({', '.join(lengths)})"
    return f"rng.integers(0, {length}, ({shape}))" if operand.shape else f"int(rng.integers(0, {length}))"


def sample_sizes(specs: Sequence[CompiledSpec]) -> dict[str, int]:
    """Return sizes that fit and are as large as a short test allows."""
    sizes: dict[str, int] = {}
    for sizes in fitting_sizes(specs, ((270, -5), (130, -5), (64, -5), (33, -4), (17, -2), (9, -1))):
        arrays = [o.shape for spec in specs for o in (*spec.arguments, *spec.outputs)]
        entries = sum((volume(shape) for shape in arrays), Size.of(0)).evaluate(sizes)
        if max(entries, *(_operations(spec, sizes) for spec in specs), 0) < LARGEST:
            break
    return sizes


def _operations(spec: CompiledSpec, sizes: Mapping[str, int]) -> float:
    is_known = spec.flops is not None and set(spec.flops.names) <= set(sizes)
    return float(spec.flops.amount(sizes)) if spec.flops is not None and is_known else 0.0


def fitting_sizes(specs: Sequence[CompiledSpec], choices: Sequence[tuple[int, int]]) -> list[dict[str, int]]:
    """Return the choices of sizes that meet the conditions of functions, one for each (first, step).

    The k-th size is first + k*step, at least 2. Ascending and much larger sizes follow, since some formulas need them.
    """
    names = dict.fromkeys(name for spec in specs for name in size_names(spec))
    shapes = [o.shape for spec in specs for o in (*spec.arguments, *spec.outputs)]
    found = []
    for first, step in (*choices, (4, 1), (4, 4), (40, -8), (40, 40)):
        sizes = {name: max(2, first + step * k) for k, name in enumerate(names)}
        fit = all(holds(condition, sizes) for spec in specs for condition in spec.conditions)
        if fit and all(s.evaluate(sizes) >= 0 for shape in shapes for s in shape):
            found.append(sizes)
    return found


def output_order(spec: CompiledSpec) -> list[int]:
    """Return the outputs in the order of the flattened nesting."""
    found: list[int] = []
    waiting = [spec.nesting]
    while waiting:
        part = waiting.pop()
        if isinstance(part, int):
            found.append(part)
        else:
            waiting.extend(reversed(part))
    return found
