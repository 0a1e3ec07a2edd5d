"""Writes compiled functions as one Python file that needs NumPy, SciPy and, for speed, Numba, but not matcalc.

The mathematics comes first: the NumPy form and the loops for Numba. Below a line follow the checks of arguments, the
kernels, and the data and expected values of the self-test. The NumPy form is used without Numba. Numba is imported and
its kernels are defined at the first call, so that importing the file imports only NumPy and SciPy. Numba's cache
stores the compiled code. The file does not depend on when, where or in which order it was written: equal specs give
equal bytes.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterable, Sequence

from matcalc.compiler.code.code_text import ModuleText
from matcalc.compiler.files.array_text import array_text
from matcalc.compiler.files.c_text import c_text
from matcalc.compiler.files.save_entry import Part, entry_text
from matcalc.compiler.files.save_header import comment_at_end, header_text
from matcalc.compiler.files.save_solve import solve_text
from matcalc.compiler.files.save_test import TEST_NAMES, self_test_text
from matcalc.compiler.kernels import user_functions
from matcalc.compiler.kernels.library import Item, closure, free_names, import_block, load_library
from matcalc.compiler.spec.call_names import Spelled
from matcalc.compiler.spec.module_text import INDENT, into_name, signature_text
from matcalc.compiler.spec.reassociate import in_any_order
from matcalc.compiler.spec.size_steps import size_lines
from matcalc.compiler.spec.spec import CompiledSpec, Derivative, Reference
from matcalc.compiler.targets import ON_NUMPY, SAVED
from matcalc.errors import NotSupported
from matcalc.language.identifiers import literal

NUMBAS = ("import numba", "from numba", "import llvmlite", "from llvmlite", "from scipy.special import cython")
"""The prefixes of the imports that are delayed until the first call of the Numba form."""
WIDTH = 116
GIVEN = re.compile(rf"^from {re.escape(user_functions.__name__)} import (\w+)", re.MULTILINE)
"""The import of a user's function whose text depends on names outside of it."""

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
STORED = '''\
def stored_matrix(name, value):
    """Return a sparse matrix as CSR of float64, its columns ascending and each once; a dense one without its zeros."""
    if not sparse.issparse(value):
        value = sparse.csr_array(real_array(name, value, 2))
    if value.ndim != 2:
        raise ValueError(f"{name} takes an array of 2 axes")
    if value.dtype.kind not in "biuf":
        raise TypeError(f"{name} takes real numbers, not entries of type {value.dtype}")
    matrix = value if value.format == "csr" else value.tocsr()
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return matrix


def stored_arrays(matrix):
    """Return values, columns and row starts of a matrix."""
    count = int(matrix.indptr[-1])
    if any(length >= 2**31 for length in (count, *matrix.shape)):
        raise ValueError("a sparse matrix is larger than 32-bit places reach")
    columns, starts = (np.asarray(places, np.int32, order="C") for places in (matrix.indices[:count], matrix.indptr))
    return np.asarray(matrix.data[:count], np.float64, order="C"), columns, starts'''
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
HAS_NUMBA = """\
try:
    HAS_NUMBA = find_spec("numba") is not None
except ImportError:
    HAS_NUMBA = False"""
MACHINE_CODE = '''\
def typed(signature, **options):
    """Have Numba compile a kernel for these types alone, when it is reached: not at once, and not for each call."""

    def decorate(function):
        kernel = njit(**options)(function)
        compile_for = kernel.compile
        kernel.compile = lambda _: compile_for(signature)
        return kernel

    return decorate


@cache
def machine_code(function):
    """Return a function compiled by Numba, from its cache after the first time."""
    signature = kernels()[function.__name__]
    options = {"error_model": "numpy", "fastmath": False, "nogil": True}
    try:
        return njit(signature, cache=True, **options)(function)
    except RuntimeError:  # there is no folder that Numba can write to
        return njit(signature, **options)(function)'''
YODA = re.compile(r"(?<=[( ])(\d[\d.e+]*) (>|<) (\w+(?:\[[\w, ]+\])?)(?=[,):]| else| and| or)")
"""A comparison with the number on the left."""
LINE = "# ---- The mathematics ends here. What follows: checks of arguments, kernels, and the test of this file. ----"


def saved_text(
    *specs: CompiledSpec, given: str = "", derivatives: Sequence[Derivative] = (), with_solve: bool = False
) -> str:
    """Return the text of a file of functions; arguments of the same name are the same data.

    `given` is the input as the user wrote it. `derivatives` list which result is a derivative of which, in addition to
    the specs' own.

    Raises: NotSupported if there is no NumPy form, if the sizes need a system of equations, or if `with_solve` lacks a
    value with its gradient.
    """
    if specs[0].target not in ON_NUMPY:
        if with_solve:
            raise NotSupported(f"a file for the target {specs[0].target} cannot have a solve part")
        if specs[0].target in SAVED:
            return c_text(*specs, given=given, derivatives=derivatives)
        return array_text(*specs, given=given, derivatives=derivatives)
    if any(o.dtype != "float64" for spec in specs for o in spec.outputs):
        raise NotSupported("the functions of a file return float64: compile without dtype=")
    parts = [_part(spec) for spec in specs]
    specs = tuple(part.spec for part in parts)
    quick = [part for part in parts if part.quick]
    plain_items = closure(load_library("numpy"), {name for part in parts for name in free_names(part.plain)})
    quick_items = closure(load_library("numba"), {name for part in quick for name in free_names(part.quick)})
    spelling = _spelling(specs, plain_items, quick_items)
    known = [*derivatives, *(own for spec in specs for own in spec.derivatives)]
    oracle = next((spec.oracle for spec in specs if spec.oracle), None)
    reference = oracle(specs) if oracle else Reference(())
    head = [
        header_text(specs, given, "Arrays are float64 in C order, others are converted."),
        _imports(parts, (*plain_items, *quick_items)),
        _exported(specs),
    ]
    if quick:
        head.append(HAS_NUMBA)
    texts = [text for part in parts for text in _mathematics(part, spelling)]
    companions = _companions(part.plain for part in parts)
    rest = [
        REAL_ARRAY,
        *([STORED] if any(part.entered.sparse for part in parts) else []),
        *([WHOLE_ARRAY] if any(o.dtype != "float64" for spec in specs for o in spec.arguments) else []),
        *(_spelled(text, spelling) for text in [*(item.text for item in plain_items), *companions.values()]),
    ]
    rest += [_kernels(quick, quick_items), MACHINE_CODE] if quick else []
    rest += self_test_text(parts, reference, known)
    if with_solve:
        rest.insert(-1, solve_text(parts, known))
    text = "\n\n".join(head) + "\n\n\n" + "\n\n\n".join([*texts, f"{LINE}\n\n\n{rest[0]}", *rest[1:]]) + "\n"
    return text + comment_at_end(specs, given)


def _part(spec: CompiledSpec) -> Part:
    if not isinstance(spec.numpy_source, ModuleText):
        raise NotSupported(f"{spec.name} has no form for the target numpy, which a saved file needs")
    declared = spec.declared
    names = Spelled(declared)
    sizes = size_lines(declared, names)
    if sizes is None:
        raise NotSupported(f"{spec.name} cannot be saved: its sizes need a system of equations")
    given = GIVEN.search(spec.numpy_source)
    if given is not None:
        name = given[1].rpartition("_")[0]
        raise NotSupported(f"the function {name} cannot be saved: its text uses names from outside")
    quick = ModuleText(())
    if isinstance(spec.source, ModuleText):
        quick = _renamed(spec.source.changed(in_any_order), f"{spec.name}_numba")
    return Part(declared, spec, names, sizes, _renamed(spec.numpy_source, f"{spec.name}_numpy"), quick)


def _renamed(source: ModuleText, name: str) -> ModuleText:
    """Return the source with its function renamed to `<name>_into`, and its constants accordingly."""
    old = into_name(source).removesuffix("_into")
    defined = re.findall(rf"^{old}(_K\d+)(?= = )", source, re.MULTILINE)
    other = re.compile(rf"\b{old}(?=({'|'.join(['_into', *defined])})\b)")
    return source.changed(lambda part: other.sub(name, part))


def _spelling(specs: Sequence[CompiledSpec], plain: Sequence[Item], quick: Sequence[Item]) -> dict[str, str]:
    """Return new names for the NumPy helpers whose names collide with others of the file."""
    taken = {*(spec.name for spec in specs), *TEST_NAMES, *(item.name for item in quick)}
    return {item.name: f"{item.name}_numpy" for item in plain if item.name in taken}


def _spelled(text: str, spelling: dict[str, str]) -> str:
    """Return the text with functions renamed in definitions and calls; attributes are unchanged."""
    for old, new in spelling.items():
        text = re.sub(rf"(?<![\w.]){re.escape(old)}(?=\()", new, text)
    return text


# ---- head and mathematics


def _imports(parts: Sequence[Part], items: Sequence[Item]) -> str:
    known = load_library("numpy").imports
    names = dict.fromkeys(name for part in parts for name in free_names(part.plain))
    statements = ["import sys", "import numpy as np", *(known[n] for n in names if n in known)]
    statements += [s for item in items for s in item.imports if not s.startswith(NUMBAS)]
    if any(part.entered.sparse for part in parts):
        statements.append("from scipy import sparse")
    if any(o.shape for part in parts for o in (*part.spec.arguments, *part.spec.outputs)):
        statements.append("from numpy.typing import NDArray")
    if any(part.quick for part in parts):
        statements += ["from functools import cache", "from importlib.util import find_spec"]
    if any("math" in free_names(part.quick) for part in parts if part.quick):
        statements.append("import math")
    return import_block(statements)


def _exported(specs: Sequence[CompiledSpec]) -> str:
    return f"__all__ = [{', '.join(sorted(literal(spec.name) for spec in specs))}]"


def _mathematics(part: Part, spelling: dict[str, str]) -> list[str]:
    """Return the texts of a function's forms and of the public function."""
    plain = _spelled(_main(part.plain), spelling)
    return [plain, *([_main(part.quick)] if part.quick else []), entry_text(part)]


def _main(text: ModuleText) -> str:
    """Return the function of a form with its constants, without its helper functions."""
    function = _docstring_wrapped(text.parts[-1])
    function = YODA.sub(lambda found: f"{found[3]} {'<' if found[2] == '>' else '>'} {found[1]}", function)
    return "\n\n\n".join([*(["\n".join(text.constants)] if text.constants else []), function])


def _docstring_wrapped(function: str) -> str:
    """Return a function with a docstring that is too long for its line wrapped to several lines."""
    lines = function.splitlines()
    if len(lines[1]) <= WIDTH or not (lines[1].startswith(f'{INDENT}"""') and lines[1].endswith('"""')):
        return function
    sentence = lines[1].strip()[3:-3]
    wrapped = textwrap.wrap(sentence, WIDTH - 8, break_long_words=False, break_on_hyphens=False)
    text = [f'{INDENT}"""{wrapped[0]}', *(f"{INDENT}{line}" for line in wrapped[1:]), f'{INDENT}"""']
    return "\n".join([lines[0], *text, *lines[2:]])


def _companions(texts: Iterable[ModuleText]) -> dict[str, str]:
    """Return the helper functions of the forms, each once, by name."""
    return {name: part for text in texts for name, part in text.companions.items()}


# ---- kernels


def _kernels(parts: Sequence[Part], items: Sequence[Item]) -> str:
    """Return the text of `kernels`, which imports Numba, defines the kernels as globals, and returns signatures."""
    simple, rest = ([i for i in items if i.is_function == made] for made in (False, True))
    own = _companions(part.quick for part in parts)
    statements = ["from numba import njit", "from numba import types", *(s for i in items for s in i.imports)]
    block = import_block(s for s in statements if s.startswith(NUMBAS))
    defined = {*(i.name for i in items), *own, *_bound(block)}
    pieces = [block, "\n".join(i.text for i in simple), *(_lazy(i.text) for i in rest), *own.values()]
    signatures = [f'"{part.spec.name}_numba_into": {_dedented(signature_text(part.entered))},' for part in parts]
    pieces.append("\n".join(["return {", textwrap.indent("\n".join(signatures), INDENT), "}"]))
    body = "\n\n".join(piece for piece in pieces if piece).replace(', "cache": True}', "}")
    sentence = "Import Numba, define the kernels of this file as globals, return the types of what is compiled."
    names = textwrap.wrap(", ".join(sorted(defined)), WIDTH - 16)
    lines = [
        "@cache",
        "def kernels():",
        f'{INDENT}"""{sentence}"""',
        *(f"{INDENT}global {n.rstrip(',')}" for n in names),
    ]
    return "\n".join([*lines, *(INDENT + line if line else "" for line in body.splitlines())])


def _dedented(signature: str) -> str:
    return signature.removeprefix("SIGNATURE = ")


def _bound(block: str) -> set[str]:
    """Return the names that import statements bind."""
    aliases = [a for s in ast.parse(block).body if isinstance(s, ast.Import | ast.ImportFrom) for a in s.names]
    return {alias.asname or alias.name.partition(".")[0] for alias in aliases}


def _lazy(text: str) -> str:
    """Return a kernel's text with its decorator changed, so that it is compiled when first called."""
    tree = ast.parse(text).body[0]
    if not isinstance(tree, ast.FunctionDef):
        return text
    lines = text.splitlines()
    for decorator in tree.decorator_list:
        if isinstance(decorator, ast.Call) and decorator.args and ast.unparse(decorator.func) == "njit":
            first = decorator.lineno - 1
            lines[first] = lines[first].replace("@njit(", "@typed(", 1)
    return "\n".join(lines)
