"""Writes the public function of a saved file: documented, typed, with checks of its arguments."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from matcalc.compiler.code.code_text import ModuleText
from matcalc.compiler.code.print_python import along
from matcalc.compiler.spec.call_names import Spelled
from matcalc.compiler.spec.module_text import INDENT, WORD, nested_text
from matcalc.compiler.spec.size_steps import SizeLines
from matcalc.compiler.spec.spec import CompiledSpec, Nesting, Operand
from matcalc.language.identifiers import docstring, free, literal
from matcalc.tensor.sizes.size import Size

STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
JIT = "jit: bool = HAS_NUMBA"
WIDTH = 100
RAISES = ("Raises", "------", "numpy.linalg.LinAlgError")


@dataclass(frozen=True, slots=True)
class Part:
    """A function of a file: its spec, its names, the lines that read its sizes, its NumPy and Numba forms.

    `spec` has the arguments that callers pass; `entered` has those of the two forms, with sparse matrices as arrays.
    """

    spec: CompiledSpec
    entered: CompiledSpec
    names: Spelled
    sizes: SizeLines
    plain: ModuleText
    quick: ModuleText


def entry_text(part: Part) -> str:
    """Return the text of the public function."""
    spec, names = part.spec, part.names
    lines, tests = part.sizes
    body = []
    sparse = {s.declared.name for s in part.entered.sparse}
    for name, operand in zip(names.arguments, spec.arguments, strict=True):
        if operand.name in sparse:
            body.append(f"{name} = stored_matrix({literal(operand.declared)}, {name})")
            continue
        reader = "real_array" if operand.dtype == "float64" else "whole_array"
        what = literal(operand.declared)
        body.append(f"{name} = {reader}({what}, {name}, {len(operand.shape)}){'' if operand.shape else '[()]'}")
    head = len(body)
    for fault in dict.fromkeys(fault for _, fault in tests):
        test = " or ".join(test for test, of in tests if of == fault)
        body += [f"if {test}:", f"{INDENT}raise ValueError({literal(fault)})"]
    for name, operand in zip(names.outputs, spec.outputs, strict=True):
        body.append(f"{name} = {operand.maker}({names.shape(operand.shape)})")
    arrays = [
        f"*stored_arrays({n})" if o.name in sparse else n for n, o in zip(names.arguments, spec.arguments, strict=True)
    ]
    call = ", ".join([*arrays, *(names.sizes[n] for n in part.entered.sizes), *names.outputs])
    plain = ['with np.errstate(all="ignore"):', f"{INDENT}status = {spec.name}_numpy_into({call})"]
    if part.quick:
        quick = ["if jit:", f"{INDENT}status = machine_code({spec.name}_numba_into)({call})", "else:"]
        body += [*quick, *(INDENT + line for line in plain)]
    else:
        body += plain
    body += _faults(spec, names)
    values = [n if o.shape else f"{n}.item()" for n, o in zip(names.outputs, spec.outputs, strict=True)]
    body.append(f"return {returned(spec.nesting, values)}")
    body[head:head] = needed_sizes(lines, body)
    hints_of = ["object" if o.name in sparse else _hint(o) for o in spec.arguments]
    parameters = [f"{n}: {hint}" for n, hint in zip(names.arguments, hints_of, strict=True)]
    parameters += [f"{names.sizes[n]}: int" for n in spec.sizes] + ([JIT] if part.quick else [])
    hints = _hints(spec.nesting, spec.outputs)
    opening = [f"def {spec.name}({', '.join(parameters)}) -> {hints}:"]
    if len(opening[0]) > WIDTH:
        opening = [f"def {spec.name}(", *(f"{INDENT}{p}," for p in parameters), f") -> {hints}:"]
    jit = ["jit : bool", f"{INDENT}Use the Numba form, else the NumPy form."] if part.quick else []
    rest = [*documented(spec, RAISES, jit), *body]
    return "\n".join([*opening, *(INDENT + line if line else "" for line in rest)])


def returned(nesting: Nesting, values: list[str]) -> str:
    text = nested_text(nesting, values)
    is_tuple = not isinstance(nesting, int) and len(nesting) > 1
    return text[1:-1] if is_tuple else text


def _faults(spec: CompiledSpec, names: Spelled) -> list[str]:
    """Return the lines that raise for a nonzero status: first out-of-range indices, then faults of linear algebra."""
    renamed = {o.name: Size.of(n) for n, o in zip(names.arguments, spec.arguments, strict=True)}
    renamed |= {n: Size.of(text) for n, text in names.sizes.items()}
    lines = []
    for status, checked in enumerate(spec.data, spec.numeric_faults + 1):
        axes = {axis: free(axis, names.taken) for axis, _ in checked.axes}
        index = str(checked.index.substitute({**renamed, **{a: Size.of(n) for a, n in axes.items()}}))
        lines.append(f"if status == {status}:")
        lines += [INDENT + line for line in along((axes[axis], names.size(size)) for axis, size in checked.axes)]
        axis = literal("an axis of length" if checked.length.is_integer else f"an axis of length {checked.length} =")
        places = f"np.asarray({index})"
        call = f"outside({literal(checked.text)}, {places}, {names.size(checked.length)}, {axis})"
        lines.append(f"{INDENT}raise ValueError({call})")
    for status, fault in enumerate(spec.faults[: spec.numeric_faults], 1):
        lines += [f"if status == {status}:", f"{INDENT}raise np.linalg.LinAlgError({literal(fault)})"]
    return lines if spec.faults else ["if status:", f"{INDENT}raise RuntimeError"]


def needed_sizes(lines: list[str], rest: list[str]) -> list[str]:
    """Return the statements that read sizes, without unused statements and names."""
    used = {word for text in rest for word in WORD.findall(STRING.sub("", text))}
    kept: list[str] = []
    for line in reversed(lines):
        left, _, right = line.partition(" = ")
        if used.isdisjoint(WORD.findall(left)):
            continue
        left = WORD.sub(lambda found: found.group() if found.group() in used else "_", left)
        kept.append(f"{left} = {right}")
        used.update(WORD.findall(right))
    return kept[::-1]


def _hint(operand: Operand) -> str:
    is_real = operand.dtype == "float64"
    return f"NDArray[np.{operand.dtype}]" if operand.shape else "float" if is_real else "int"


def _hints(nesting: Nesting, outputs: tuple[Operand, ...]) -> str:
    if isinstance(nesting, int):
        return _hint(outputs[nesting])
    return f"tuple[{', '.join(_hints(part, outputs) for part in nesting) or '()'}]"


def documented(spec: CompiledSpec, faults: Sequence[str], further: Sequence[str] = ()) -> list[str]:
    """Return the docstring of a function with `further` parameters; `faults` is the heading of its faults."""
    formulas = {f.name: f.text for f in spec.formulas}

    def rows(operands: tuple[Operand, ...]) -> list[str]:
        found = []
        for operand in operands:
            found.append(operand.declared.replace(":", " :", 1))
            found += [f"{INDENT}{operand.about}"] if operand.about else []
            text = formulas.get(operand.name, "")
            wrapped = textwrap.wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False)
            found += [INDENT + line for line in wrapped]
        return found

    lines = [f"Compute {', '.join(o.name for o in spec.outputs)}.", "", "Parameters", "----------"]
    lines += [*rows(spec.arguments), *(f"{name} : int" for name in spec.sizes)]
    lines += [*further, "", "Returns", "-------", *rows(spec.outputs)]
    if spec.numeric_faults:
        lines += ["", *faults, *(f"{INDENT}{f}" for f in spec.faults)]
    return docstring(lines)
