"""The self-test of a saved file of C, compiled with -DMATCALC_TEST: numbers of the formulas, and difference quotients.

`codegen/c/test.c` holds what compares; here stand the tables: data, results by an evaluation of the formulas with
many digits, and which result is a derivative of which.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from matcalc.compiler.files.c_names import parameters
from matcalc.compiler.files.save_test import NO_DATA
from matcalc.compiler.spec.result_shapes import output_shapes, solve_sizes
from matcalc.compiler.spec.spec import Case, CompiledSpec, Derivative, Reference, size_names
from matcalc.store.data_folders import data_folder

INDENT = "    "
WIDTH = 112
INCLUDES = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>"
MAIN = """\
int main(void)
{{
{calls}
    if (test_faults == 0) {{
        printf("all right\\n");
    }}
    return test_faults == 0 ? 0 : 1;
}}"""
NO_CASES = """\
int main(void)
{{
    printf("{text}\\n");
    return 0;
}}"""


class _Tables:
    """The slots of arguments, results and sizes of all functions of a file."""

    def __init__(self, specs: Sequence[CompiledSpec]) -> None:
        self.specs = specs
        self.data = {a.name: k for k, a in enumerate({a.name: a for s in specs for a in s.arguments}.values())}
        self.dtypes = {a.name: a.dtype for s in specs for a in s.arguments}
        self.results = {n: k for k, n in enumerate(dict.fromkeys(o.name for s in specs for o in s.outputs))}
        self.sizes = {n: k for k, n in enumerate(dict.fromkeys(n for s in specs for n in size_names(s)))}
        self.giving = {o.name: spec for spec in reversed(specs) for o in spec.outputs}


def test_text(specs: Sequence[CompiledSpec], derivatives: Sequence[Derivative]) -> str:
    """Return the test of functions, between `#ifdef MATCALC_TEST` and `#endif`."""
    tables = _Tables(specs)
    oracle = next((spec.oracle for spec in specs if spec.oracle), None)
    reference = oracle(specs) if oracle else Reference(())
    common = (data_folder("codegen") / "c" / "test.c").read_text(encoding="utf-8").strip()
    if not reference.cases:
        body = NO_CASES.format(text=NO_DATA)
        return "\n\n".join(["#ifdef MATCALC_TEST", "#include <stdio.h>", body, "#endif"])
    if not derivatives:
        common = _without_slopes(common)
    runs = [_run(spec, tables) for spec in specs]
    cases = [_case(k, case, tables, reference, derivatives) for k, case in enumerate(reference.cases, 1)]
    calls = "\n".join(f"{INDENT}test_case_{k}();" for k in range(1, len(cases) + 1))
    return "\n\n".join(["#ifdef MATCALC_TEST", INCLUDES, common, *runs, *cases, MAIN.format(calls=calls), "#endif"])


def _without_slopes(text: str) -> str:
    """Return the parts of the common text that a file without derivatives needs."""
    parts = text.split("\n\n")
    kept = [p for p in parts if "test_slope" not in p and "test_run" not in p and "test_moved" not in p]
    return "\n\n".join(kept)


def _run(spec: CompiledSpec, tables: _Tables) -> str:
    """Return the function that takes arguments by slots."""
    given = []
    for operand in spec.arguments:
        kind = "double" if operand.dtype == "float64" else "int64_t"
        cell = f"({kind} *)data[{tables.data[operand.name]}]"
        given.append(cell if operand.shape else f"*({kind} *)data[{tables.data[operand.name]}]")
    given += [f"results[{tables.results[operand.name]}]" for operand in spec.outputs]
    sizes = [f"sizes[{tables.sizes[name]}]" for name in size_names(spec)]
    assert len(given) + len(sizes) + 1 == len(parameters(spec))
    unused = [] if sizes else [f"{INDENT}(void)sizes;"]
    unused += [] if spec.arguments else [f"{INDENT}(void)data;"]
    call = _wrapped(f"int status = {spec.name}({', '.join([*given, *sizes, 'work'])});", INDENT)
    lines = [f"static int test_run_{spec.name}(void **data, double **results, const int64_t *sizes)", "{", *unused]
    lines.append(f"{INDENT}double *work = test_memory({spec.name}_work({', '.join(sizes)}));")
    return "\n".join([*lines, *call, f"{INDENT}free(work);", f"{INDENT}return status;", "}"])


def _case(number: int, case: Case, tables: _Tables, reference: Reference, derivatives: Sequence[Derivative]) -> str:
    """Return the function that tests one case."""
    lengths, sizes = _lengths(case, tables)
    lines = [f"static void test_case_{number}(void)", "{"]
    for name, slot in tables.data.items():
        lines += _array("double" if tables.dtypes[name] == "float64" else "int64_t", f"x{slot}", case.data[name])
    for name, slot in tables.results.items():
        lines.append(f"{INDENT}double r{slot}[{max(1, lengths[name])}];")
        if name in case.results:
            lines += _array("const double", f"want{slot}", case.results[name])
    data = ", ".join(f"x{slot}" for slot in tables.data.values()) or "NULL"
    lines.append(f"{INDENT}void *data[] = {{{data}}};")
    lines.append(f"{INDENT}double *results[] = {{{', '.join(f'r{slot}' for slot in tables.results.values())}}};")
    lines.append(f"{INDENT}const int64_t lengths[] = {{{', '.join(str(lengths[n]) for n in tables.results)}}};")
    lines.append(f"{INDENT}const int64_t sizes[] = {{{', '.join(str(sizes[n]) for n in tables.sizes) or '0'}}};")
    counts = f"{len(tables.data)}, {len(tables.results)}, {number}"
    lines.append(f"{INDENT}const test_case c = {{data, results, lengths, sizes, {counts}}};")
    lines += [f"{INDENT}test_clear(r{slot}, {max(1, lengths[name])});" for name, slot in tables.results.items()]
    for spec in tables.specs:
        lines += [f"{INDENT}int status_{spec.name} = test_run_{spec.name}(data, results, sizes);"]
        lines += [f"{INDENT}if (status_{spec.name} != 0) {{"]
        lines += [f'{INDENT * 2}printf("{spec.name} returns the status %d (case {number})\\n", status_{spec.name});']
        lines += [f"{INDENT * 2}test_faults++;", f"{INDENT * 2}return;", f"{INDENT}}}"]
    for name, slot in tables.results.items():
        if name in case.results:
            lines.append(f"{INDENT}test_values(&c, {slot}, {_string(name)}, want{slot});")
    for k, derivative in enumerate(derivatives, 1):
        lines += _slope(k, derivative, case, tables, reference)
    return "\n".join([*lines, "}"])


def _slope(k: int, d: Derivative, case: Case, tables: _Tables, reference: Reference) -> list[str]:
    """Return the lines that compare one derivative with difference quotients."""
    lines, tangents = [], []
    for number, name in enumerate(d.arguments):
        projection = reference.projections.get(name, "M")
        shape = case.data[name].shape
        if not d.along and projection == "M":
            tangents.append("NULL")
            continue
        if d.along:
            rows = _projected(projection, np.asarray(case.data[d.along[number]]))
        else:
            units = np.eye(int(np.prod(shape))).reshape(-1, *shape)
            rows = np.array([_projected(projection, unit) for unit in units])
        tangents.append(f"t{k}_{number}")
        lines += _array("const double", tangents[-1], rows)
    slots = ", ".join(str(tables.data[name]) for name in d.arguments)
    counts = ", ".join(str(case.data[name].size) for name in d.arguments)
    run = f"test_run_{tables.giving[d.of].name}"
    where = f"{_string(d.result)}, {_string(d.of)}, {_string(', '.join(d.arguments))}"
    places = f"{tables.results[d.result]}, {tables.results[d.of]}, {len(d.arguments)}, {int(bool(d.along))}"
    lines.append(f"{INDENT}const int slots{k}[] = {{{slots}}};")
    lines.append(f"{INDENT}const int64_t lengths{k}[] = {{{counts}}};")
    lines.append(f"{INDENT}const double *const tangents{k}[] = {{{', '.join(tangents)}}};")
    lines.append(f"{INDENT}const test_slope s{k} = {{{where}, {run}, {places}, slots{k}, lengths{k}, tangents{k}}};")
    return [*lines, f"{INDENT}test_slopes(&c, &s{k});"]


def _projected(text: str, matrix: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(eval(text, {"np": np, "M": matrix}), float)


def _lengths(case: Case, tables: _Tables) -> tuple[dict[str, int], dict[str, int]]:
    """Return the entries of each result, and the sizes by name."""
    lengths: dict[str, int] = {}
    sizes: dict[str, int] = {}
    for spec in tables.specs:
        given = {name: int(case.data[name]) for name in spec.sizes}
        found: Mapping[str, int] = solve_sizes(spec, [np.shape(case.data[a.name]) for a in spec.arguments], given)
        sizes |= found
        shapes = output_shapes(spec, found)
        lengths |= {o.name: int(np.prod(shape)) for o, shape in zip(spec.outputs, shapes, strict=True)}
    return lengths, sizes


def _array(kind: str, name: str, array: NDArray[Any]) -> list[str]:
    """Return the definition of an array of numbers; one without entries has one that nothing reads."""
    entries = ", ".join(_number(entry) for entry in np.ravel(array).tolist()) or "0"
    return _wrapped(f"{kind} {name}[] = {{{entries}}};", INDENT)


def _number(entry: float) -> str:
    if entry != entry:
        return "NAN"
    return repr(entry) if abs(entry) != np.inf else ("INFINITY" if entry > 0 else "-INFINITY")


def _string(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent + INDENT,
        break_long_words=False,
        break_on_hyphens=False,
    )
