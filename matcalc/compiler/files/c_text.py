"""Compiled functions as one file of C99: the mathematics first, then its kernels, then the test of the file.

The functions are printed from Code: the function of a Program, and the kernels that it calls, which are read from
`codegen/numba`. LAPACK is called through those functions of LAPACKE that take their workspace, BLAS through CBLAS.
Nothing is allocated. The text depends on the specs alone: equal specs give equal bytes.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from matcalc.compiler.files.c_function import boxed, wrapped
from matcalc.compiler.files.c_kinds import definition, entry_word, word
from matcalc.compiler.files.c_names import parameters, size_text, spelled
from matcalc.compiler.files.c_test import test_text
from matcalc.compiler.files.c_unit import CFunction, Unit
from matcalc.compiler.files.c_words import helpers_of
from matcalc.compiler.files.save_header import formulas_at_end, header_text
from matcalc.compiler.kernels.native_kinds import INTEGER, Kind
from matcalc.compiler.spec.spec import LONGEST_AXIS, CompiledSpec, Derivative, Operand, size_names

SAYS = """\
Arrays are double, row by row, sizes int64_t. The workspace is the caller's: work holds {work} entries.
Compile with  gcc -std=c99 -O2 -ffp-contract=off -c {name}.c  and link with  -llapacke -lopenblas -lm  (or another
BLAS with CBLAS); with -DMATCALC_TEST it is a program that tests itself. No option may regroup sums (-ffast-math)."""
AS_WRITTEN = """\
#if defined(__GNUC__) && !defined(__clang__) /* no product is merged into a sum: x*y - z*w of equal products is 0 */
#pragma GCC optimize ("fp-contract=off")
#else
#pragma STDC FP_CONTRACT OFF
#endif"""
LINE = "/* ---- The mathematics ends here. What follows: the functions that it calls{test}. ---- */"


def c_text(*specs: CompiledSpec, given: str = "", derivatives: Sequence[Derivative] = (), has_test: bool = True) -> str:
    """Return the text of the file of functions, with its test or without.

    Raises: NotSupported with the name of what has no form in C.
    """
    unit = Unit(reserved={name for spec in specs for name in (spec.name, f"{spec.name}_work")})
    mains = [_main(unit, spec) for spec in specs]
    for main in mains:
        unit.reach(main)
    inner = [function for function in unit.reached if function not in mains]
    entries = [_entry(spec, main) for spec, main in zip(specs, mains, strict=True)]
    works = [function.work_definition for function in unit.reached if function.takes_work]
    known = [*derivatives, *(own for spec in specs for own in spec.derivatives)]
    test = test_text(specs, known) if has_test else ""
    body = "\n\n".join(
        [*(main.text for main in mains), *entries, *(f.text for f in inner), *works, *unit.constants.values()]
    )
    helpers = helpers_of(body)
    kinds = _kinds(body)
    heads = [wrapped(f"{function.head};") for function in unit.reached]
    heads += [f"{work.splitlines()[0]};" for work in works]
    prototypes = [f"{wrapped(f'int {_head(spec)};')}\nint64_t {_work_head(spec)};" for spec in specs]
    texts = [text for main, entry in zip(mains, entries, strict=True) for text in (main.text, entry)]
    line = LINE.format(test=", and the test of this file" if test else "")
    at_end = formulas_at_end(specs, given)
    parts = [
        _header(specs, given),
        _includes("\n".join([body, *helpers])),
        AS_WRITTEN,
        "\n".join(kinds),
        *([PAIR_TYPE] if "pair" in body else []),
        *prototypes,
        "\n".join(heads),
        *unit.constants.values(),
        *helpers,
        *texts,
        *([line] if inner or works or test else []),
        *(function.text for function in inner),
        *works,
        *([test] if test else []),
        *(["\n".join(boxed("\n".join(at_end)))] if at_end else []),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


PAIR_TYPE = "typedef struct { double first, second; } pair;"


def _main(unit: Unit, spec: CompiledSpec) -> CFunction:
    """Return the function of a spec, whose arguments are arrays with their shapes."""
    unit.add(spec.code)
    kinds = [Kind(operand.dtype, len(operand.shape)) for operand in spec.arguments] + [INTEGER for _ in spec.sizes]
    kinds += [Kind("float64", max(1, len(operand.shape))) for operand in spec.outputs]
    return unit.function(spec.code.main.name, kinds)


# ---- the public functions


def _head(spec: CompiledSpec) -> str:
    return f"{spec.name}({', '.join(parameters(spec))})"


def _work_head(spec: CompiledSpec) -> str:
    names = spelled(spec)
    return f"{spec.name}_work({', '.join(f'int64_t {names.sizes[n]}' for n in size_names(spec)) or 'void'})"


def _entry(spec: CompiledSpec, main: CFunction) -> str:
    """Return the public function and the one that says how much workspace it needs."""
    names = spelled(spec)
    given: list[str] = []
    for name, operand, kind in zip(names.arguments, spec.arguments, main.given, strict=False):
        shape = ", ".join(size_text(names, size) for size in operand.shape)
        given.append(f"({word(kind)}){{({entry_word(kind)} *){name}, {{{shape}}}}}" if kind.rank else name)
    given += [names.sizes[name] for name in spec.sizes]
    for name, operand in zip(names.outputs, spec.outputs, strict=True):
        shape = ", ".join(size_text(names, size) for size in operand.shape) or "1"
        given.append(f"({word(Kind('float64', max(1, len(operand.shape))))}){{{name}, {{{shape}}}}}")
    given += ["work"] if main.takes_work else []
    sizes = [names.sizes[name] for name in size_names(spec)]
    lengths = dict.fromkeys(
        size_text(names, size)
        for operand in (*spec.arguments, *spec.outputs)
        for size in operand.shape
        if not size.is_integer
    )
    tests = [f"{text} < 0 || {text} > {LONGEST_AXIS}" for text in dict.fromkeys([*sizes, *lengths])]
    tests += [f"{size_text(names, condition.size)} < 0" for condition in spec.conditions]
    inner = [size_text(names, size) for size in spec.blas_axes]
    tests += [f"{text} > {LONGEST_AXIS}" for text in inner if text not in (*sizes, *lengths)]
    lines = [wrapped(f"int {_head(spec)}"), "{"]
    lines += [] if main.takes_work else ["    (void)work;"]
    if tests:
        lines += [wrapped(f"    if ({' || '.join(tests)}) {{"), f"        return {len(spec.faults) + 1};", "    }"]
    lines += [wrapped(f"    return (int){main.name_in_c}({', '.join(given)});"), "}"]
    rows = [f"Compute {', '.join(o.name for o in spec.outputs)}. Returns", "  0  where all went well"]
    rows += [f"  {status}  {fault}" for status, fault in enumerate(spec.faults, 1)]
    rows += [f"  {len(spec.faults) + 1}  a size is negative, too large, or does not fit"] if tests else []
    text = "0"
    if main.takes_work:
        arrays = [*spec.arguments, *spec.sizes, *spec.outputs]
        atoms = []
        for place, axis in main.workspace.ordered if main.workspace else ():
            of = arrays[place]
            shape_of = of.shape if isinstance(of, Operand) else ()
            length = of if isinstance(of, str) else ""
            if isinstance(of, Operand):
                length = size_text(names, shape_of[axis]) if shape_of else "1"
            else:
                length = names.sizes[length]
            atoms.append(length)
        text = f"{main.name_in_c}_work({', '.join(atoms)})"
    unused = [f"    (void){n};" for n in sizes if n not in re.findall(r"\w+", text)]
    work = [f"/* Return how many entries of workspace {spec.name} needs. */", f"int64_t {_work_head(spec)}", "{"]
    work += [*unused, f"    return {text};", "}"]
    return "\n".join([*boxed("\n".join(rows)), *lines]) + "\n\n" + "\n".join(work)


# ---- what stands first


def _header(specs: Sequence[CompiledSpec], given: str) -> str:
    calls = ", ".join(f"{spec.name}_work({', '.join(size_names(spec))})" for spec in specs)
    says = SAYS.format(work=calls, name=specs[0].name)
    text = ast.literal_eval(header_text(specs, given, "ARRAYS"))
    return "\n".join(boxed(text.replace("ARRAYS Run the file to test it.", says)))


def _includes(body: str) -> str:
    names = ["math", "stdint", *(["string"] if "memcpy" in body else [])]
    lines = ["#include <cblas.h>"] if "Cblas" in body else []
    lines += ["#include <lapacke.h>"] if "LAPACKE_" in body else []
    lines += [f"#include <{name}.h>" for name in names]
    return "\n".join(lines)


def _kinds(body: str) -> list[str]:
    """Return the types of the arrays that the file speaks of."""
    found = [Kind(number, rank) for number in ("float64", "int32", "int64") for rank in range(1, 13)]
    words = set(re.findall(r"\w+", body))
    return [definition(kind) for kind in found if word(kind) in words]
