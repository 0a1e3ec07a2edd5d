"""A compiled function as one Python file that needs NumPy, SciPy and, to be fast, Numba, but not matcalc.

The file holds the NumPy form and the Numba form, with the kernels that they reach. The first serves where
Numba is missing and is the oracle of the second in the self-test. Nothing in the file depends on when, where
or in which order it was made: equal specs give equal bytes.
"""

from __future__ import annotations

import re

from matcalc.compiler.runtime.library import Item, closure, free_names, import_block, load_library
from matcalc.compiler.runtime.save_test import sample_text, self_test_text
from matcalc.compiler.runtime.source import (
    INDENT,
    INTO,
    WORD,
    SizeLines,
    Spelled,
    into_name,
    nested_text,
    signature_text,
    size_lines,
)
from matcalc.compiler.runtime.spec import CompiledSpec, Nesting, Operand
from matcalc.errors import NotSupported
from matcalc.language.identifiers import docstring, free, literal
from matcalc.tensor.size import Size
from matcalc.tensor.sizes_from_shapes import described

NOTICE = """\
Written by matcalc{version}. This file is yours: use, change and redistribute it under any terms.
It is provided as is, without warranty of any kind."""
OWN = ("has_mask", "real_array", "sample", "self_test", "flat", "relative_error", "problems", "whole_array", "outside")
# Compiled where it stands: Numba's disk cache is not asked for, so that no folder needs to be writable.
OPTIONS = 'OPTIONS = {"error_model": "numpy", "fastmath": {"contract", "reassoc", "nsz", "arcp"}, "nogil": True}'

REAL_ARRAY = '''\
def has_mask(value):
    """Whether a value is masked, or a list that holds masked ones."""
    is_list = isinstance(value, (list, tuple))
    return isinstance(value, np.ma.MaskedArray) or (is_list and any(map(has_mask, value)))


def real_array(name, value, rank):
    """Return an aligned array of native float64 in C order, a copy only where one is needed."""
    array = value
    if hasattr(value, "__dlpack__") and not isinstance(value, (np.ndarray, np.generic)):
        array = np.from_dlpack(value)
    elif not has_mask(value):
        array = np.asanyarray(value)
    if has_mask(array):
        raise TypeError(f"{name} takes an array without a mask")
    if array.ndim != rank:
        raise ValueError(f"{name} takes {f'an array of {rank} axes' if rank else 'a number'}")
    kind, entries = array.dtype.kind, array.flat if array.dtype.kind == "O" else ()
    if kind not in "biufO" or any(np.iscomplexobj(e) or not hasattr(e, "__float__") for e in entries):
        raise TypeError(f"{name} takes real numbers, not entries of type {array.dtype}")
    array = np.asarray(array, dtype=np.float64, order="C")
    return array if array.flags.aligned else array.copy()'''


WHOLE_ARRAY = '''\
def whole_array(name, value, rank):
    """Return an array of int64 in C order, which are places of an axis."""
    if has_mask(value):
        raise TypeError(f"{name} takes an array without a mask")
    array = np.asarray(value)
    if array.ndim != rank:
        raise ValueError(f"{name} takes {f'an array of {rank} axes' if rank else 'a number'}")
    if array.size and array.dtype.kind not in "iu":
        raise TypeError(f"{name} takes integers, not entries of type {array.dtype}")
    return np.asarray(array, dtype=np.int64, order="C")


def outside(name, places, length, axis):
    """Say which place is outside an axis."""
    at = np.argwhere((places < 0) | (places >= length))[0]
    entry = f"{name}[{', '.join(map(str, at))}]" if len(at) else name
    return f"{entry} is {places[tuple(at)]}, outside {axis} {length}"'''


def saved_text(spec: CompiledSpec) -> str:
    """Return the text of the file.

    Raises: NotSupported without the NumPy form, or where the sizes need a system of equations.
    """
    if not spec.numpy_source:
        raise NotSupported(f"{spec.name} has no form for the target numpy, which a saved file needs")
    names = Spelled(spec)
    sizes = size_lines(spec, names)
    if sizes is None:
        raise NotSupported(f"{spec.name} cannot be saved: its sizes need a system of equations")
    plain = _renamed(spec.numpy_source, f"{spec.name}_numpy")
    quick = _renamed(spec.source, f"{spec.name}_numba") if spec.source else ""
    plain_items = closure(load_library("numpy"), free_names(plain))
    quick_items = closure(load_library("numba"), free_names(quick))
    spelling = _spelling(spec, plain_items, quick_items)
    head = [_docstring(spec), _imports(plain, quick, plain_items, quick_items), f'__all__ = ["{spec.name}"]']
    if spec.faults:
        head.append("\n".join(["FAULTS = (", *(f"{INDENT}{literal(fault)}," for fault in spec.faults), ")"]))
    parts = [_spelled(text, spelling) for text in (*(item.text for item in plain_items), plain)]
    if quick:
        parts.append(_numba_part(spec, quick, quick_items))
    parts += [
        REAL_ARRAY,
        *([WHOLE_ARRAY] if _has_indices(spec) else []),
        _entry(spec, names, sizes, bool(quick)),
        sample_text(spec, names),
    ]
    parts += self_test_text(spec, bool(quick))
    return "\n\n".join(head) + "\n\n\n" + "\n\n\n".join(parts) + "\n"


def _has_indices(spec: CompiledSpec) -> bool:
    return any(operand.dtype != "float64" for operand in spec.arguments)


def _renamed(source: str, name: str) -> str:
    """Return the source with its function called `<name>_into` and its constants alike."""
    old = into_name(source).removesuffix("_into")
    defined = re.findall(rf"^{old}(_K\d+)(?= = )", source, re.MULTILINE)
    return re.sub(rf"\b{old}(?=({'|'.join(['_into', *defined])})\b)", name, source).strip("\n")


def _spelling(spec: CompiledSpec, plain: tuple[Item, ...], quick: tuple[Item, ...]) -> dict[str, str]:
    """Return new names for the NumPy helpers whose names the file needs otherwise."""
    taken = {spec.name, *OWN, *(item.name for item in quick)}
    return {item.name: f"{item.name}_numpy" for item in plain if item.name in taken}


def _spelled(text: str, spelling: dict[str, str]) -> str:
    """Return the text with functions renamed where they are defined or called; attributes stay."""
    for old, new in spelling.items():
        text = re.sub(rf"(?<![\w.]){re.escape(old)}(?=\()", new, text)
    return text


def _docstring(spec: CompiledSpec) -> str:
    lines = [f"{spec.name}: compiled matrix formulas.", ""]
    lines += [f"{INDENT}{formula.name} = {formula.text}" for formula in spec.formulas]
    lines += [f"{INDENT}LaTeX of {f.name}: {f.latex}" for f in spec.formulas if f.latex]
    lines += [""] if spec.formulas else []
    rows = [(a.declared, a.about) for a in spec.arguments] + [(f"{n}: size", "") for n in spec.sizes]
    rows += [(described(o.name, o.shape), o.about or "result") for o in spec.outputs]
    width = max(len(left) for left, _ in rows)
    lines += [*(f"{INDENT}{left:<{width}}  {about}".rstrip() for left, about in rows), ""]
    lines += [f"Declared: {spec.declarations}", ""] if spec.declarations else []
    lines += [
        "Arrays are float64 in C order, others are converted. Run the file to test it on random data.",
        "",
    ]
    lines += NOTICE.format(version=f" {spec.version}" if spec.version else "").splitlines()
    return "\n".join(docstring([*lines]))


def _imports(plain: str, quick: str, plain_items: tuple[Item, ...], quick_items: tuple[Item, ...]) -> str:
    known = load_library("numpy").imports
    always = ["import sys", "import numpy as np", *(known[n] for n in free_names(plain) if n in known)]
    always += [s for item in plain_items for s in item.imports]
    if not quick:
        return import_block(always)
    fast = ["from numba import njit", "from numba import types", *(s for i in quick_items for s in i.imports)]
    always += ["import math"] if "import math" in fast or "math" in free_names(quick) else []
    block = import_block([s for s in fast if s not in always])
    tried = "\n".join(INDENT + line if line else "" for line in block.splitlines())
    outcome = f"{INDENT}HAS_NUMBA = True\nexcept ImportError:\n{INDENT}HAS_NUMBA = False"
    return f"{import_block(always)}\n\ntry:\n{tried}\n\n{outcome}"


def _numba_part(spec: CompiledSpec, quick: str, items: tuple[Item, ...]) -> str:
    """Return what only exists where Numba does, in one block."""
    head = INTO.search(quick)
    assert head is not None
    function = f"{quick[: head.start()]}@njit(SIGNATURE, **OPTIONS)\n{quick[head.start() :]}"
    functions = {item.name for item in items if item.is_function}
    simple = [i for i in items if not i.is_function and functions.isdisjoint(i.uses)]
    rest = [i for i in items if i not in simple]
    pieces = ["\n".join(i.text for i in simple), *(i.text for i in rest)]
    text = "\n\n".join(p for p in [*pieces, f"{OPTIONS}\n{signature_text(spec)}", function] if p)
    text = text.replace(', "cache": True}', "}")
    return "if HAS_NUMBA:\n" + "\n".join(INDENT + line if line else "" for line in text.splitlines())


def _entry(spec: CompiledSpec, names: Spelled, sizes: SizeLines, has_quick: bool) -> str:
    """Return the public function: documented, typed, checked."""
    lines, tests = sizes
    body = []
    for name, operand in zip(names.arguments, spec.arguments, strict=True):
        reader = "real_array" if operand.dtype == "float64" else "whole_array"
        what = literal(operand.declared)
        body.append(f"{name} = {reader}({what}, {name}, {len(operand.shape)}){'' if operand.shape else '[()]'}")
    head = len(body)
    for argument in dict.fromkeys(argument for _, argument in tests):
        test = " or ".join(test for test, of in tests if of == argument)
        fault = literal(f"{argument} has a shape that does not fit")
        body += [f"if {test}:", f"{INDENT}raise ValueError({fault})"]
    body += [f"{n} = np.empty({names.shape(o.shape)})" for n, o in zip(names.outputs, spec.outputs, strict=True)]
    call = ", ".join([*names.arguments, *(names.sizes[n] for n in spec.sizes), *names.outputs])
    plain = ['with np.errstate(all="ignore"):', f"{INDENT}status = {spec.name}_numpy_into({call})"]
    if has_quick:
        quick = ["if jit:", f"{INDENT}status = {spec.name}_numba_into({call})", "else:"]
        body += [*quick, *(INDENT + line for line in plain)]
    else:
        body += plain
    body += _outside(spec, names)
    fault = "np.linalg.LinAlgError(FAULTS[status - 1])" if spec.numeric_faults else "RuntimeError"
    body += ["if status:", f"{INDENT}raise {fault}"] if spec.numeric_faults or not spec.data else []
    values = [n if o.shape else f"{n}.item()" for n, o in zip(names.outputs, spec.outputs, strict=True)]
    body.append(f"return {nested_text(spec.nesting, values)}")
    body[head:head] = _needed(lines, body)
    parameters = [f"{n}: {_hint(o)}" for n, o in zip(names.arguments, spec.arguments, strict=True)]
    parameters += [f"{names.sizes[n]}: int" for n in spec.sizes] + ([_JIT] if has_quick else [])
    opening = f"def {spec.name}({', '.join(parameters)}) -> {_hints(spec.nesting, spec.outputs)}:"
    return "\n".join(
        [opening, *(INDENT + line if line else "" for line in [*_entry_docstring(spec, has_quick), *body])]
    )


def _outside(spec: CompiledSpec, names: Spelled) -> list[str]:
    """Return the lines that raise for data which are no places of an axis."""
    renamed = {o.name: Size.of(n) for n, o in zip(names.arguments, spec.arguments, strict=True)}
    renamed |= {n: Size.of(text) for n, text in names.sizes.items()}
    lines = []
    for status, checked in enumerate(spec.data, spec.numeric_faults + 1):
        axes = {axis: free(axis, names.taken) for axis, _ in checked.axes}
        index = str(checked.index.substitute({**renamed, **{a: Size.of(n) for a, n in axes.items()}}))
        lines.append(f"if status == {status}:")
        lines += [f"{INDENT}{axes[axis]} = np.arange({names.size(size)})" for axis, size in checked.axes]
        axis = literal("an axis of length" if checked.length.is_integer else f"an axis of length {checked.length} =")
        places = f"np.asarray({index})"
        call = f"outside({literal(checked.text)}, {places}, {names.size(checked.length)}, {axis})"
        lines.append(f"{INDENT}raise ValueError({call})")
    return lines


def _needed(lines: list[str], rest: list[str]) -> list[str]:
    """Return the statements that read sizes without those, and without names, that nothing uses."""
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


STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_JIT = "jit: bool = HAS_NUMBA"


def _hint(operand: Operand) -> str:
    return "np.ndarray" if operand.shape else "float" if operand.dtype == "float64" else "int"


def _hints(nesting: Nesting, outputs: tuple[Operand, ...]) -> str:
    if isinstance(nesting, int):
        return _hint(outputs[nesting])
    return f"tuple[{', '.join(_hints(part, outputs) for part in nesting) or '()'}]"


def _entry_docstring(spec: CompiledSpec, has_quick: bool) -> list[str]:
    def rows(operands: tuple[Operand, ...]) -> list[str]:
        found = []
        for operand in operands:
            found.append(operand.declared.replace(":", " :", 1))
            found += [f"{INDENT}{operand.about}"] if operand.about else []
        return found

    lines = [f"Compute {', '.join(o.name for o in spec.outputs)}.", "", "Parameters", "----------"]
    lines += [*rows(spec.arguments), *(f"{name} : int" for name in spec.sizes)]
    lines += ["jit : bool", f"{INDENT}Use the Numba form, else the NumPy form."] if has_quick else []
    lines += ["", "Returns", "-------", *rows(spec.outputs)]
    return docstring(lines)
