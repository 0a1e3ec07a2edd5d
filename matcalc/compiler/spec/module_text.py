"""Writes the text of a generated module: imported kernels, and the `_into` function.

`fn.source` shows it under a header. It is printed as machine code, or run and compiled by Numba.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import islice, takewhile

from matcalc.compiler.kernels.library import free_names, global_names, import_block, load_library
from matcalc.compiler.kernels.modules import OURS, generated_imports, modules_of
from matcalc.compiler.spec.call_names import TAKEN, row
from matcalc.compiler.spec.reassociate import in_any_order
from matcalc.compiler.spec.spec import CompiledSpec, Nesting
from matcalc.language.identifiers import DUNDER, WORDS, docstring, literal

OPTIONS = """\
OPTIONS = {
    "error_model": "numpy",
    "fastmath": False,
    "nogil": True,
    "cache": True,
}"""
INTO = re.compile(r"^def (\w+)_into\(", re.MULTILINE)
WORD = re.compile(r"[^\W\d]\w*")
INDENT = "    "
FORMS = re.compile(r"(_numpy|_numba)?(_into|_shapes|_K\d+)?")
"""The suffixes of the functions and constants of a module, after the name of its function."""


def function_name(name: str, texts: Iterable[str], others: Iterable[str] = ()) -> str:
    """Return a function's name, extended by underscores until it collides with no name of `texts` or `others`."""
    used = {word for text in texts if text for word in global_names(text)}
    if DUNDER.match(name):  # reserved by modules, such as __name__
        name = name.strip("_") or "f"
    reserved = _reserved()
    similar = [*_from(name, reserved), *(word for taken in (used, others) for word in taken if word.startswith(name))]
    while any(word.startswith(name) and FORMS.fullmatch(word, len(name)) for word in similar):
        name += "_"
    return name


@cache
def _reserved() -> tuple[str, ...]:
    """Return the names that no function may have, in order: those of modules, saved files and `codegen/`."""
    items = {item for target in ("numba", "numpy") for item in load_library(target).items}
    return tuple(sorted({*WORDS, *TAKEN, *items, *(f"{item}_numpy" for item in items)}))


def _from(name: str, words: Sequence[str]) -> Iterator[str]:
    """Return the words, of words in order, that begin with a name."""
    return takewhile(lambda word: word.startswith(name), islice(words, bisect_left(words, name), None))


def into_name(text: str) -> str:
    """Return the name of the function that a source defines."""
    found = INTO.search(text)
    if found is None:
        raise ValueError("the source defines no function `<name>_into`")
    return f"{found.group(1)}_into"


def numba_text(spec: CompiledSpec) -> str:
    """Return the module of a function for the target numba."""
    source = in_any_order(spec.source)
    names = free_names(source)
    modules = modules_of("numba", names)
    statements = [
        "import numpy as np",
        OURS,
        "from numba import types",
    ]
    statements += [load_library("numba").imports[n] for n in names if n in ("math",)]
    statements += generated_imports(modules, names)
    head = INTO.search(source)
    assert head is not None
    body = f"{source[: head.start()]}@njit(SIGNATURE, **OPTIONS)\n{source[head.start() :]}".strip("\n")
    parts = [import_block(statements), f"{OPTIONS}\n{signature_text(spec)}", f"\n{body}"]
    return "\n\n".join(parts) + "\n"


def numpy_text(spec: CompiledSpec) -> str:
    """Return the module of a function for the target numpy."""
    names = free_names(spec.numpy_source)
    modules = modules_of("numpy", names)
    imports = load_library("numpy").imports
    statements = [imports[n] for n in names if n in imports] + generated_imports(modules, names)
    parts = [import_block(statements), f"\n{spec.numpy_source.strip()}"]
    return "\n\n".join(part for part in parts if part) + "\n"


def header(spec: CompiledSpec) -> str:
    """Return the docstring of the module: the formula of each result."""
    lines = docstring([f"{f.name} = {f.text}" for f in spec.formulas] or [spec.name])
    return "\n".join(lines)


def signature_text(spec: CompiledSpec) -> str:
    """Return the text of the signature; arguments are read-only, which accepts writable arrays too."""
    lines = [f"{INDENT}{_type(len(a.shape), True, a.dtype)},  # {a.name}" for a in spec.arguments]
    lines += [f"{INDENT}types.int64,  # {name}" for name in spec.sizes]
    lines += [f"{INDENT}{_type(max(1, len(o.shape)), False, o.memory)},  # {o.name}" for o in spec.outputs]
    return "\n".join(["SIGNATURE = types.int64(", *lines, ")"])


def _type(rank: int, readonly: bool, dtype: str = "float64") -> str:
    if rank == 0:
        return f"types.{dtype}"
    return f'types.Array(types.{dtype}, {rank}, "C"{", readonly=True" if readonly else ""})'


def literals(words: Sequence[str]) -> str:
    """Return a tuple of strings as text."""
    return row(list(map(literal, words))) if words else "()"


def nested_text(nesting: Nesting, values: list[str]) -> str:
    """Return the values in the nesting of the results, as the text of a tuple."""
    if isinstance(nesting, int):
        return values[nesting]
    parts = [nested_text(part, values) for part in nesting]
    return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"
