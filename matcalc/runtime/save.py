"""A compiled function as one Python file that needs NumPy, SciPy and, to be fast, Numba, but not matcalc.

The file holds the NumPy form and the Numba form with the kernels that they reach. The first serves where
Numba is missing and is the oracle of the second in the self-test. Nothing in the file depends on when, where
or in which order it was made.
"""

from __future__ import annotations

import re

from matcalc.errors import NotSupported
from matcalc.runtime.library import Item, closure, free_names, import_block, load_library
from matcalc.runtime.shapes import described
from matcalc.runtime.source import (
    INDENT,
    INTO,
    Spelled,
    into_name,
    nested_text,
    signature_text,
    size_lines,
)
from matcalc.runtime.spec import CompiledSpec, Operand, size_names

NOTICE = """\
Written by matcalc{version}. This file is yours: use, change and redistribute it under any terms. It is provided as is,
without warranty of any kind."""
CHECKS = '''\
def relative_error(got, want):
    """Largest difference of two results, relative to the larger one."""
    got, want = np.asarray(got), np.asarray(want)
    if got.shape != want.shape:
        return np.inf
    scale = 1.0 + np.max(np.abs(want), initial=0.0)
    return float(np.max(np.abs(got - want), initial=0.0) / scale)


def flat(values):
    """The arrays of a nested result, in order."""
    if not isinstance(values, tuple):
        return [values]
    return [entry for value in values for entry in flat(value)]'''


def saved_text(spec: CompiledSpec) -> str:
    """Return the text of the file.

    Raises: NotSupported where the function lacks the NumPy form or sizes given by single axes.
    """
    if not spec.numpy_source:
        raise NotSupported(f"{spec.name} has no form for the target numpy, which a saved file needs")
    names = Spelled(spec)
    sizes = size_lines(spec, names)
    if sizes is None:
        raise NotSupported(f"{spec.name} cannot be saved: its sizes need a system of equations")
    plain = _renamed(spec.numpy_source, f"{spec.name}_numpy")
    quick = _renamed(spec.source, f"{spec.name}_numba") if spec.source else ""
    numpy_items = closure(load_library("numpy"), free_names(plain))
    numba_items = closure(load_library("numba"), free_names(quick)) if quick else ()
    parts = [_docstring(spec), _imports(plain, quick, numpy_items, numba_items), f'__all__ = ["{spec.name}"]']
    if spec.faults:
        parts.append("\n".join(["FAULTS = (", *(f"{INDENT}{fault!r}," for fault in spec.faults), ")"]))
    parts += ["", *(f"{item.text}\n" for item in numpy_items), f"{plain}\n"]
    if quick:
        parts.append(_numba_part(spec, quick, numba_items) + "\n")
    parts += [_entry(spec, names, sizes, bool(quick)) + "\n", _sample(spec, names) + "\n", CHECKS + "\n"]
    parts += [_self_test(spec, bool(quick)) + "\n", _main()]
    return re.sub(r"\n{4,}", "\n\n\n", "\n\n".join(parts)) + "\n"


def _renamed(source: str, name: str) -> str:
    """Return the source with its function, and the constants that bear its name, called `<name>_into`."""
    old = into_name(source).removesuffix("_into")
    return re.sub(rf"\b{re.escape(old)}(?=_into\b|_\w*\s*=|_K\d)", name, source).strip("\n")


def _docstring(spec: CompiledSpec) -> str:
    lines = [f"{spec.name}: compiled matrix formulas.", ""]
    for formula in spec.formulas:
        lines += [f"{INDENT}{formula.name} = {formula.text}"]
    for formula in spec.formulas:
        lines += [f"{INDENT}LaTeX of {formula.name}: {formula.latex}"] if formula.latex else []
    lines += [""] if spec.formulas else []
    rows = [(described(a), a.about) for a in spec.arguments] + [(f"{n}: size", "") for n in spec.sizes]
    width = max((len(left) for left, _ in rows), default=0)
    lines += ["Arguments:", "", *(f"{INDENT}{left:<{width}}  {about}".rstrip() for left, about in rows), ""]
    lines += ["Results:", "", *(f"{INDENT}{described(o)}  {o.about}".rstrip() for o in spec.outputs), ""]
    lines += [
        "Arrays are float64 in C order; others are converted. Run the file to test it on random data.",
        "",
    ]
    lines += NOTICE.format(version=f" {spec.version}" if spec.version else "").splitlines()
    text = "\n".join(lines).replace("\\", "\\\\").replace('"""', "'''")
    return f'"""{text}\n"""'


def _imports(plain: str, quick: str, numpy_items: tuple[Item, ...], numba_items: tuple[Item, ...]) -> str:
    known = load_library("numpy").imports
    statements = ["import sys", "import numpy as np"]
    statements += [known[n] for n in free_names(plain) if n in known]
    statements += [s for item in numpy_items for s in item.imports]
    text = import_block(statements)
    if not quick:
        return text
    fast = ["from numba import njit, types".replace(", types", ""), "from numba import types"]
    fast += [s for item in numba_items for s in item.imports]
    plain_imports = {s for s in fast if s in statements or s == "import math"}
    if "import math" in plain_imports or "math" in free_names(quick):
        text = import_block([*statements, "import math"])
    block = import_block([s for s in fast if s not in plain_imports])
    lines = "\n".join(INDENT + line if line else "" for line in block.splitlines())
    return f"{text}\n\ntry:\n{lines}\n\n    HAS_NUMBA = True\nexcept ImportError:\n    HAS_NUMBA = False"


def _numba_part(spec: CompiledSpec, quick: str, items: tuple[Item, ...]) -> str:
    """Return what only exists where Numba does, in one block."""
    head = INTO.search(quick)
    assert head is not None
    function = f"{quick[: head.start()]}@njit(SIGNATURE, **OPTIONS)\n{quick[head.start() :]}"
    options = 'OPTIONS = {"error_model": "numpy", "fastmath": {"contract", "reassoc", "nsz", "arcp"}, "nogil": True}'
    constants = [item.text for item in items if not item.is_function and not _uses_function(item, items)]
    rest = [item for item in items if item.text not in constants]
    pieces = [
        "\n".join(constants),
        *(item.text for item in rest),
        f"{options}\n{signature_text(spec)}",
        function,
    ]
    text = "\n\n".join(piece for piece in pieces if piece)
    # A file is compiled where it stands: the cache of Numba is not asked for, so that no folder needs to be writable
    text = text.replace(', "cache": True}', "}")
    return "if HAS_NUMBA:\n" + "\n".join(INDENT + line if line else "" for line in text.splitlines())


def _uses_function(item: Item, items: tuple[Item, ...]) -> bool:
    return any(i.is_function and i.name in item.uses for i in items)


def _entry(
    spec: CompiledSpec, names: Spelled, sizes: tuple[list[str], list[tuple[str, str]]], has_quick: bool
) -> str:
    """Return the public function: documented, typed, checked."""
    parameters = [f"{n}: {_hint(o)}" for n, o in zip(names.arguments, spec.arguments, strict=True)]
    parameters += [f"{names.sizes[n]}: int" for n in spec.sizes]
    fallback = "HAS_NUMBA" if has_quick else "False"
    hints = nested_text(spec.nesting, ["float" if not o.shape else "np.ndarray" for o in spec.outputs])
    returns = (
        hints
        if isinstance(spec.nesting, int)
        else f"tuple{hints.replace('(', '[').replace(')', ']').replace(',]', ']')}"
    )
    returns = returns.replace(", [", ", tuple[").replace("[[", "[tuple[")
    lines = [f"def {spec.name}({', '.join([*parameters, f'jit: bool = {fallback}'])}) -> {returns}:"]
    lines += [INDENT + line if line else "" for line in _entry_docstring(spec)]
    body = [
        f'{n} = np.asarray({n}, dtype=np.float64, order="C")' if o.shape else f"{n} = float({n})"
        for n, o in zip(names.arguments, spec.arguments, strict=True)
    ]
    for n, o in zip(names.arguments, spec.arguments, strict=True):
        if o.shape:
            body += [
                f"if {n}.ndim != {len(o.shape)}:",
                f'{INDENT}raise ValueError("{described(o)}: wrong number of axes")',
            ]
    body += sizes[0]
    for test, argument in sizes[1]:
        body += [f"if {test}:", f'{INDENT}raise ValueError("{argument} has a shape that does not fit")']
    for n, o in zip(names.outputs, spec.outputs, strict=True):
        body.append(f"{n} = np.empty({names.shape(o.shape)})")
    call = ", ".join([*names.arguments, *(names.sizes[n] for n in spec.sizes), *names.outputs])
    into = [f"{spec.name}_numpy_into({call})"]
    if has_quick:
        into = [
            f"if jit:\n{INDENT * 2}status = {spec.name}_numba_into({call})",
            f'else:\n{INDENT * 2}with np.errstate(all="ignore"):\n{INDENT * 3}status = {spec.name}_numpy_into({call})',
        ]
    else:
        into = [f'with np.errstate(all="ignore"):\n{INDENT * 2}status = {spec.name}_numpy_into({call})']
    body += into
    if spec.faults:
        body += ["if status:", f"{INDENT}raise np.linalg.LinAlgError(FAULTS[status - 1])"]
    values = [n if o.shape else f"float({n}[0])" for n, o in zip(names.outputs, spec.outputs, strict=True)]
    body.append(f"return {nested_text(spec.nesting, values)}")
    return "\n".join([*lines, *(INDENT + line for line in body)])


def _hint(operand: Operand) -> str:
    return "np.ndarray" if operand.shape else "float"


def _entry_docstring(spec: CompiledSpec) -> list[str]:
    lines = [f'"""Compute {", ".join(o.name for o in spec.outputs)}.', "", "Parameters", "----------"]
    for operand in spec.arguments:
        lines += [
            described(operand).replace(":", " :", 1),
            *([f"{INDENT}{operand.about}"] if operand.about else []),
        ]
    lines += [f"{name} : int" for name in spec.sizes]
    lines += ["jit : bool", f"{INDENT}Use the Numba form, else the NumPy form.", "", "Returns", "-------"]
    for operand in spec.outputs:
        lines += [
            described(operand).replace(":", " :", 1),
            *([f"{INDENT}{operand.about}"] if operand.about else []),
        ]
    return [line.replace("\\", "\\\\") for line in lines] + ['"""']


def _sample(spec: CompiledSpec, names: Spelled) -> str:
    """Return the function that draws arguments of the declared structure."""
    lines = ["def sample(rng):", f'{INDENT}"""Random arguments of the declared structure."""']
    all_sizes = size_names(spec)
    for k, name in enumerate(all_sizes):
        lines.append(f"{INDENT}{names.sizes[name]} = {4 + (len(all_sizes) - 1 - k) % 5}")
    for identifier, operand in zip(names.arguments, spec.arguments, strict=True):
        shape = ", ".join(names.size(s) for s in operand.shape) + ("," if len(operand.shape) == 1 else "")
        text = operand.sample or (
            f"rng.standard_normal(({shape}))" if operand.shape else "rng.standard_normal()"
        )
        lines.append(f"{INDENT}{identifier} = {text}")
    values = [*names.arguments, *(names.sizes[n] for n in spec.sizes)]
    lines.append(f"{INDENT}return [{', '.join(values)}]")
    return "\n".join(lines)


def _self_test(spec: CompiledSpec, has_quick: bool) -> str:
    """Return the function that lists what is wrong: Numba against NumPy, gradients against differences."""
    lines = ["def self_test(seed=0):", f'{INDENT}"""Return what is wrong, one line each."""']
    lines += [
        f"{INDENT}rng = np.random.default_rng(seed)",
        f"{INDENT}faults = []",
        f"{INDENT}args = sample(rng)",
    ]
    lines.append(f"{INDENT}results = flat({spec.name}(*args))")
    if has_quick:
        lines += [
            f"{INDENT}if HAS_NUMBA:",
            f"{INDENT * 2}plain = flat({spec.name}(*args, jit=False))",
            f"{INDENT * 2}for name, got, want in zip(NAMES, results, plain, strict=True):",
            f"{INDENT * 3}if not relative_error(got, want) < 1e-8:",
            f'{INDENT * 4}faults.append(f"{{name}}: the Numba and the NumPy form differ")',
        ]
    order = _order(spec)
    for slope in spec.slopes:
        value, gradient = order.index(slope.value), order.index(slope.gradient)
        name, operand = spec.outputs[slope.gradient].name, spec.arguments[slope.argument]
        lines += [
            f"{INDENT}direction = np.asarray(sample(rng)[{slope.argument}]) - np.asarray(args[{slope.argument}])",
            f"{INDENT}slope = float(np.sum(results[{gradient}] * direction))",
            f"{INDENT}errors = []",
            f"{INDENT}for step in (1e-3, 1e-4, 1e-5, 1e-6):",
            f"{INDENT * 2}ends = []",
            f"{INDENT * 2}for sign in (1.0, -1.0):",
            f"{INDENT * 3}moved = list(args)",
            f"{INDENT * 3}moved[{slope.argument}] = args[{slope.argument}] + sign * step * direction",
            f"{INDENT * 3}ends.append(flat({spec.name}(*moved))[{value}])",
            f"{INDENT * 2}errors.append(abs((ends[0] - ends[1]) / (2.0 * step) - slope) / (1.0 + abs(slope)))",
            f"{INDENT}if not min(errors) < 1e-5:",
            f'{INDENT * 2}faults.append("{name} is not the derivative in {operand.name}")',
        ]
    lines.append(f"{INDENT}return faults")
    shown = ", ".join(repr(spec.outputs[k].name) for k in order)
    names = f"NAMES = [{shown}]\n\n\n".replace("'", '"') if has_quick else ""
    return names + "\n".join(lines)


def _order(spec: CompiledSpec) -> list[int]:
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


def _main() -> str:
    return """\
if __name__ == "__main__":
    problems = [problem for seed in range(3) for problem in self_test(seed)]
    print("\\n".join(problems) or "all right")
    sys.exit(1 if problems else 0)"""
