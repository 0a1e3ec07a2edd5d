"""Builds further entries of a compiled function on first use: for the user's own njit code and for C.

Each is a small generated module that calls the existing `_into` function, so nothing is compiled twice. Only the
allocating twin raises, and in its own njit frame: an exception that crosses a frame leaks arrays. The twins for njit
code call by address (see linker_symbols.py), so neither they nor their callers are cached on disk.
"""

from __future__ import annotations

from typing import Any

from matcalc.compiler.kernels.library import import_block
from matcalc.compiler.kernels.modules import load_text
from matcalc.compiler.spec.call_names import Spelled
from matcalc.compiler.spec.module_text import INDENT, OPTIONS, into_name, nested_text, signature_text
from matcalc.compiler.spec.size_steps import size_lines
from matcalc.compiler.spec.spec import LONGEST_AXIS, CompiledSpec, size_names
from matcalc.errors import NotSupported
from matcalc.language.identifiers import free, literal

UNCACHED = OPTIONS.replace('    "cache": True,\n', "")
INTEGERS = {"int64": "integers", "int32": "stored_places"}
"""The functions that convert arrays of integers in njit code, by the type that compiled code takes."""
FAULTS = ("the sizes of the arguments do not fit", "a result shares memory with another array")


def guarded(twin: Any) -> Any:
    """Make a twin check the arrays of calls from Python; return it."""
    from matcalc.compiler.numba.njit_entry import Guarded

    twin.__class__ = Guarded
    return twin


def allocating(spec: CompiledSpec, module: str) -> Any:
    """Return the njit twin that allocates its results, checks sizes and raises in its own frame."""
    names, lines, tests = _sizes(spec)
    parameters = names.parameters
    body = []
    for name, operand in zip(names.arguments, spec.arguments, strict=True):
        if operand.dtype != "float64":
            body.append(f"{name} = {INTEGERS[operand.dtype]}({name})")
        elif operand.shape:
            body.append(f"{name} = np.ascontiguousarray({name})")
    body += lines
    for test, fault in tests:
        body += [f"if {test}:", f"{INDENT}raise ShapeError({literal(fault)})"]
    for name, operand in zip(names.outputs, spec.outputs, strict=True):
        body.append(f"{name} = {operand.maker}({names.shape(operand.shape)})")
    body.append(f"status = into({', '.join([*parameters, *names.outputs])})")
    for number, fault in enumerate(spec.faults, 1):
        error = "LinAlgError" if number <= spec.numeric_faults else "ShapeError"
        body += [f"if status == {number}:", f"{INDENT}raise {error}({fault!r})"]
    values = [n if o.shape else f"{n}[0]" for n, o in zip(names.outputs, spec.outputs, strict=True)]
    body.append(f"return {nested_text(spec.nesting, values)}")
    statements = ["import numpy as np", "from numba import njit", "from numpy.linalg import LinAlgError"]
    statements.append("from matcalc.errors import ShapeError")
    readers = sorted({INTEGERS[o.dtype] for o in spec.arguments if o.dtype != "float64"})
    statements += [f"from matcalc.compiler.numba.njit_entry import {reader}" for reader in readers]
    head = ["@njit(**OPTIONS)", f"def {spec.name}({', '.join(parameters)}):"]
    text = _module(spec, module, names, statements, UNCACHED, [*head, *(INDENT + line for line in body)])
    return guarded(getattr(load_text(text, f"{spec.name}_numba").module, spec.name))


def into(spec: CompiledSpec, module: str) -> Any:
    """Return the njit twin that writes into arrays of the caller, checks sizes and returns a status."""
    names, lines, tests = _sizes(spec)
    parameters = [*names.parameters, *names.outputs]
    conditions = [t for t, _ in tests]
    for name, operand in zip(names.outputs, spec.outputs, strict=True):
        shape = [names.size(s) for s in operand.shape] or ["1"]
        conditions.append(
            f"{name}.shape != ({shape[0]},)" if len(shape) == 1 else f"{name}.shape != ({', '.join(shape)})"
        )
    body = [*lines, *(f"if {c}:\n{INDENT * 2}return {len(spec.faults) + 1}" for c in conditions)]
    arrays = [n for n, o in zip(names.arguments, spec.arguments, strict=True) if o.shape]
    for result in names.outputs:
        body += [f"if share({result}, {other}):\n{INDENT * 2}return {len(spec.faults) + 2}" for other in arrays]
        arrays.append(result)
    body += cleared(spec, names)
    body.append(f"return into({', '.join(parameters)})")
    statements = ["from numba import njit, types", "from matcalc.compiler.numba.njit_entry import share"]
    head = ["@njit(SIGNATURE, **OPTIONS)", f"def {spec.name}_into({', '.join(parameters)}):"]
    settings = f"{UNCACHED}\n{signature_text(spec)}"
    lines = [*head, *(INDENT + line for line in body)]
    text = _module(spec, module, names, statements, settings, lines)
    return guarded(getattr(load_text(text, f"{spec.name}_checked").module, f"{spec.name}_into"))


def c_entry(spec: CompiledSpec, module: str) -> Any:
    """Return Numba's handle of `int64 f(double **in, int64 *sizes, double **out)`; index arguments are `int64 *`."""
    names = Spelled(spec)
    has_indices = any(o.dtype != "float64" for o in spec.arguments)
    sizes = {n: f"sizes[{k}]" for k, n in enumerate(size_names(spec))}
    body = [f"{names.sizes[n]} = {text}" for n, text in sizes.items()]
    long = [f"{names.size(size)} > {LONGEST_AXIS}" for size in spec.blas_axes]
    body += [f"if {' or '.join(long)}:", f"{INDENT}return {len(spec.faults) + 1}"] if long else []
    call = []
    for k, operand in enumerate(spec.arguments):
        shape = names.shape(operand.shape)
        dtype = f", {operand.dtype}" if has_indices else ""
        array = f"carray(inputs[{k}], {shape}{dtype})"
        call.append(array if operand.shape else f"{array}[0]" if dtype else f"inputs[{k}][0]")
    call += [names.sizes[n] for n in spec.sizes]
    results = [f"carray(outputs[{k}], {names.shape(o.shape)})" for k, o in enumerate(spec.outputs)]
    zeroed = [k for k, operand in enumerate(spec.outputs) if operand.zero_filled]
    body += [f"{names.outputs[k]} = {results[k]}" for k in zeroed] + cleared(spec, names)
    call += [names.outputs[k] if k in zeroed else result for k, result in enumerate(results)]
    body.append(f"return into({', '.join(call)})")
    settings = "REALS = types.CPointer(types.CPointer(types.float64))\n"
    settings += "ANY = types.CPointer(types.voidptr)\n" if has_indices else ""
    settings += f"SIGNATURE = types.int64({'ANY' if has_indices else 'REALS'}, types.CPointer(types.int64), REALS)"
    head = ['@cfunc(SIGNATURE, error_model="numpy", cache=True)', "def c_entry(inputs, sizes, outputs):"]
    lines = [*head, *(INDENT + line for line in body)]
    statements = ["from matcalc.compiler.numba.jit import cfunc"]
    kinds = sorted({o.dtype for o in spec.arguments}) if has_indices else []
    statements.append(f"from numba import {', '.join(['carray', *kinds, 'types'])}")
    text = _module(spec, module, names, statements, settings, lines, True)
    return load_text(text, f"{spec.name}_c").module.c_entry


def cleared(spec: CompiledSpec, names: Spelled) -> list[str]:
    """Return the lines that fill results with zeros if machine code expects them zero-filled."""
    lines = []
    for name, operand in zip(names.outputs, spec.outputs, strict=True):
        if operand.zero_filled:
            at = [free(f"{name}_{k}", names.taken) for k in range(len(operand.shape))]
            lines += [f"{INDENT * k}for {axis} in range({name}.shape[{k}]):" for k, axis in enumerate(at)]
            lines.append(f"{INDENT * len(at)}{name}[{', '.join(at)}] = 0.0")
    return lines


def _sizes(spec: CompiledSpec) -> tuple[Spelled, list[str], list[tuple[str, str]]]:
    names = Spelled(spec)
    found = size_lines(spec, names)
    if spec.target != "numba" or found is None:
        reason = "the target has no njit form" if spec.target != "numba" else "its sizes need a system of equations"
        raise NotSupported(f"{spec.name} has no form for njit code: {reason}")
    return names, *found


def _module(
    spec: CompiledSpec,
    module: str,
    names: Spelled,
    statements: list[str],
    settings: str,
    lines: list[str],
    cached: bool = False,
) -> str:
    into = into_name(spec.source)
    call = f"linked(__name__)({into})" if cached else f"by_address({into})"
    statements = [
        *statements,
        f"from {module} import {into}",
        f"from matcalc.compiler.numba.jit import {call.partition('(')[0]}",
    ]
    parts = [f'"""{spec.name}, entered from elsewhere."""', import_block(statements), settings]
    parts.append(f"into = {call}")
    return "\n\n".join(parts) + "\n\n\n" + "\n".join(lines) + "\n"
