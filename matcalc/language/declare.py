"""Reads and writes declarations such as `X: matrix(m, n); lam: scalar positive`, and the signatures of rule files.

A record holds kind, sizes as trees, and facts as written; unification later solves for the sizes. This file checks
everything that the text alone decides: that kinds and facts exist, and the number and form of sizes. It also rejects
facts that no such shape can have, names declared twice, and names of both a size and a symbol.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, TypeAlias

from matcalc.errors import MatcalcError, NotSupported, ParseError, ShapeError, UnknownName
from matcalc.language.containers import Form, Path, dotted, flat_name, form_of, forms_of_paths
from matcalc.language.identifiers import bounded, free, near, normalised, shown
from matcalc.language.kinds import INDEX, SIZE
from matcalc.language.read import parse
from matcalc.language.syntax import Ast, call_name, same, walk
from matcalc.language.token_names import identifier
from matcalc.language.write import text as write

_Kinds = Mapping[str, tuple[int, int]]
Declarations: TypeAlias = "str | Mapping[str, Any]"
"""Declarations as text, or by name: their texts, arrays of their shapes, and containers of both."""


MARK = ", undeclared"
"""The suffix in the declaration of a symbol whose kind was inferred: `mu: scalar, undeclared`."""
KINDS: _Kinds = {
    "scalar": (0, 0), "vector": (1, 1), "matrix": (2, 2), "tensor": (1, 32), SIZE: (0, 0), INDEX: (0, 32),
}  # fmt: skip
RULE_KINDS: _Kinds = {
    **{kind: sizes for kind, sizes in KINDS.items() if kind not in (SIZE, INDEX)},
    "entry": (0, 0), "array": (0, 1), "integer": (0, 0), "number": (0, 0), "function": (0, 0),
    "equation": (0, 0), "unknown": (0, 0),
}  # fmt: skip
"""Kind -> least and greatest number of its sizes; a few kinds are for rule files only."""

SPELLINGS = {"array": "tensor"}
"""Other spellings of kinds; not applied if the spelling is itself a kind."""

FACTS: Mapping[str, str] = {
    "symmetric": "square", "skew": "square", "spd": "square", "psd": "square", "orthogonal": "square",
    "lower": "matrix", "upper": "matrix", "diagonal": "square", "positive": "any", "nonnegative": "any",
    "nonsingular": "square", "integer": "any", "constant": "any", "sparse": "matrix",
}  # fmt: skip
"""Fact -> the shapes that can have it."""

_SIZE_HEADS = ("number", "name", "sum", "product", "negative", "call")
_SIZE_CALLS = ("min", "max")
_EXAMPLES = {
    "scalar": "write  a: scalar  or  w: vector(n)", SIZE: "a size is one integer: write  n: size",
    "vector": "write  w: vector(n)", "matrix": "write  X: matrix(m, n)", "tensor": "write  T: tensor(m, n, k)",
    INDEX: "write  y: index(n)  for n labels,  i: index  for one,  J: index(m, n)  for a matrix of them; "
    "below the size that they index, as in  A[:, y]",
}  # fmt: skip


_COUNTS = {(0, 0): "no sizes", (1, 1): "one size", (2, 2): "two sizes"}
_DOTTED = re.compile(r"(?<![\w.])[^\W\d]\w*(?:\.\w+)+")
_MARKED = re.compile(r",\s*undeclared\s*\Z")


@dataclass(frozen=True, slots=True)
class Declaration:
    """A declared name. `repeated` (E...) and `default` (k = 1) occur only in signatures.

    `span` is the position of the name in the text; an unnamed output has the name "". `undeclared`: with inferred kind.
    `path` is the path of an array in a container, `params.W1`, whose name is `params_W1`.
    """

    name: str
    kind: str
    sizes: tuple[Ast, ...] = ()
    facts: tuple[str, ...] = ()
    span: tuple[int, int] = (0, 0)
    repeated: bool = False
    default: Ast | None = None
    undeclared: bool = False
    path: Path = ()


class DeclaredText(str):
    """The text of declarations that were passed as a dictionary; `forms` are the containers by name."""

    forms: Mapping[str, Form] | None = None


class SharedDeclarations(DeclaredText):
    """Declarations of which a formula may use a part: written by an expression, or shared by several formulas."""


@dataclass(frozen=True, slots=True)
class Signature:
    """The first line of an operation: `qr(X: matrix(m, n)) -> Q: matrix(m, k), R: matrix(k, n) upper`."""

    name: str
    parameters: tuple[Declaration, ...]
    outputs: tuple[Declaration, ...]


def read_declarations(text: str, kinds: _Kinds = KINDS, facts: Mapping[str, str] = FACTS) -> tuple[Declaration, ...]:
    """Return the declarations in `text`, separated by `;` or new lines, in order.

    `kinds` may be RULE_KINDS, and `facts` those of a rulebook, each with the shapes that can have it.

    Raises: ParseError, UnknownName (kind or fact), ShapeError; each with `text` and a position.
    """
    if not isinstance(text, str):
        raise TypeError(f"declarations are text, not {shown(text)}")
    return _declarations(text, tuple(kinds.items()), tuple(facts.items()))


@lru_cache(maxsize=256)
def _declarations(text: str, *known: tuple[tuple[str, Any], ...]) -> tuple[Declaration, ...]:
    kinds, facts = map(dict, known)
    found: list[Declaration] = []
    plain, paths = _without_dots(text) if "." in text else (text, {})
    for begin, end in _pieces(text):
        mark = _MARKED.search(text, begin, end)
        names, type_ = parse(plain, "declaration", begin, mark.start() if mark else end)
        made = (_located(text, _declaration, token, type_, kinds, facts) for token in names)
        found.extend(replace(d, undeclared=mark is not None, path=paths.get(d.span[0], ())) for d in made)
    found = _with_free_names(found) if paths else found
    _located(text, _check_names, found)
    return tuple(found)


def as_text(declarations: Declarations) -> str:
    """Return declarations as text; of a dictionary by name, whose values are declarations, arrays or containers.

    Raises: NotSupported for a container that holds something else.

    Example:
        >>> as_text({"params": {"W": "matrix(m, n)", "b": [0.0, 0.0]}, "s": 1.0})
        'params_W: matrix(m, n); params_b_0: scalar; params_b_1: scalar; s: scalar'
    """
    if not isinstance(declarations, Mapping):
        return declarations
    taken = {str(name) for name in declarations}
    written: list[str] = []
    names: dict[Path, str] = {}

    def name_for(path: Path, value: Any) -> str:
        names[path] = str(path[0]) if len(path) == 1 else free(flat_name(path), taken)
        written.append(f"{names[path]}: {_kind_of(path, value)}")
        return names[path]

    forms = {str(name): form_of(value, (str(name),), name_for) for name, value in declarations.items()}
    text = DeclaredText("; ".join(written))
    text.forms = {name: form for name, form in forms.items() if isinstance(form, Form)}
    return text


def containers_in(declarations: str) -> Mapping[str, Form]:
    """Return the forms of the declared containers by name.

    Raises: ShapeError for paths that fit no container.
    """
    if isinstance(declarations, DeclaredText) and declarations.forms is not None:
        return declarations.forms
    if not isinstance(declarations, str) or "." not in declarations:
        return {}
    return forms_of_paths((d.path, d.name) for d in read_declarations(declarations) if d.path)


def _kind_of(path: Path, value: Any) -> str:
    """Return the declared kind of an array in a container: as text, or of an array or number by its shape."""
    if isinstance(value, str):
        try:
            read_declarations(f"x: {value}")
        except MatcalcError:
            hint = "write its kind, as in 'matrix(m, n)', or pass an array of its shape"
            raise NotSupported(f"{dotted(path)} is {shown(value)}, which is no array", hint=hint) from None
        return value
    shape = getattr(value, "shape", None)
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        shape, kind = (), "f"
    if not isinstance(shape, tuple) or kind not in ("f", "i", "u"):
        raise NotSupported(f"{dotted(path)} is {shown(value)}, which is no array of real numbers")
    if not shape:
        return "scalar"
    return f"{('vector', 'matrix', 'tensor')[min(len(shape), 3) - 1]}({', '.join(map(str, shape))})"


def _without_dots(text: str) -> tuple[str, dict[int, Path]]:
    """Return declarations with underscores for the dots in names, and the paths by the positions of the names."""
    paths: dict[int, Path] = {}
    plain = text
    for begin, end in _pieces(text):
        head = text[begin:end].partition(":")[0]
        for one in _DOTTED.finditer(head):
            at = begin + one.start()
            paths[at] = tuple(int(word) if word.isdecimal() else normalised(word) for word in one.group().split("."))
            plain = plain[:at] + one.group().replace(".", "_") + plain[at + len(one.group()) :]
    return plain, paths


def _with_free_names(declarations: list[Declaration]) -> list[Declaration]:
    """Return declarations in which the arrays of containers have names of their own.

    Raises: ShapeError for a path that is declared twice.
    """
    taken = {d.name for d in declarations if not d.path} | {name for d in declarations for name in size_names(d)}
    found: list[Declaration] = []
    for d in declarations:
        if d.path and any(d.path == other.path for other in found):
            raise ShapeError(f"{dotted(d.path)} is declared twice", at=d.span[0])
        if d.path and (d.path[0],) in {(other.name,) for other in declarations if not other.path}:
            raise ShapeError(f"{d.path[0]} is declared as an array and as a container", at=d.span[0])
        found.append(replace(d, name=free(d.name, taken)) if d.path else d)
    return found


def read_signature(text: str, facts: Mapping[str, str] = FACTS) -> Signature:
    """Return the signature of a rule, `inv(X: matrix(n, n)) -> matrix(n, n)`."""
    name, opening, rest = text.partition("(")
    if name.isascii() and name.isidentifier():
        try:
            return replace(_form(opening + rest, tuple(facts.items())), name=bounded(name))
        except MatcalcError:
            pass  # read again as a whole below, for the position of the fault
    signature: Signature = _located(text, _signature, parse(text, "signature"), facts)
    return signature


@lru_cache(maxsize=512)
def _form(text: str, facts: tuple[tuple[str, str], ...]) -> Signature:
    """Return the signature of an operation `f`, cached: half of a rulebook's signatures have one of few forms."""
    return _signature(parse(f"f{text}", "signature"), dict(facts))


def write_signature(signature: Signature) -> str:
    """Return text that `read_signature` reads as `signature`."""
    inputs = ", ".join(map(write_declaration, signature.parameters))
    outputs = ", ".join(map(write_declaration, signature.outputs))
    return f"{signature.name}({inputs}) -> {outputs}"


def write_declaration(declaration: Declaration) -> str:
    """Return the text of one declaration, or only the type for an unnamed output."""
    d = declaration
    sizes = f"({', '.join(map(write, d.sizes))})" if d.sizes else ""
    default = "" if d.default is None else f" = {write(d.default)}"
    name = f"{d.name}{'...' if d.repeated else ''}: " if d.name else ""
    return " ".join([f"{name}{d.kind}{sizes}", *d.facts]) + default + (MARK if d.undeclared else "")


def size_names(declaration: Declaration) -> tuple[str, ...]:
    """Return the names in the sizes of a declaration, in order of first appearance."""
    nodes = (node for size in declaration.sizes for node in walk(size))
    return tuple(dict.fromkeys(str(node.value) for node in nodes if node.head == "name"))


def _pieces(text: str) -> list[tuple[int, int]]:
    """Return the ranges between `;` and new lines outside brackets, without empty ones."""
    cuts, depth = [-1], 0
    for mark in re.finditer(r"[()\[\];\n]", text):
        if mark.group() in "([":
            depth += 1
        elif mark.group() in ")]":
            depth = max(depth - 1, 0)
        elif depth == 0:
            cuts.append(mark.start())
    ranges = zip(cuts, [*cuts[1:], len(text)], strict=True)
    return [(begin + 1, end) for begin, end in ranges if text[begin + 1 : end].strip()]


def _located(text: str, action: Any, *args: Any) -> Any:
    """Call `action`, adding the text to its errors."""
    try:
        return action(*args)
    except MatcalcError as fault:
        fault.text = text
        raise


def _signature(parts: list[Any], facts: Mapping[str, str]) -> Signature:
    token, parameters, outputs = parts
    inputs: list[Declaration] = []
    for name, dots, type_, default in parameters:
        d = _declaration(name, type_, RULE_KINDS, facts)
        inputs.append(Declaration(d.name, d.kind, d.sizes, d.facts, d.span, dots is not None, default))
    results = [_declaration(name, type_, RULE_KINDS, facts) for name, type_ in outputs]
    _check_names([*inputs, *(d for d in results if d.name)])
    return Signature(identifier(token), tuple(inputs), tuple(results))


def _declaration(token: Any, type_: list[Any], kinds: _Kinds, facts: Mapping[str, str]) -> Declaration:
    word, written, marks = type_
    kind = str(word) if word in kinds else SPELLINGS.get(word, str(word))
    name = "" if token is None else identifier(token)
    sizes = tuple(written or ())
    _check_kind(kind, word, sizes, kinds, facts)
    for size in sizes:
        _check_size(size)
    for k, mark in enumerate(marks):
        if mark not in facts:
            raise UnknownName(f"unknown fact '{mark}'", at=mark.start_pos, hint=_nearest(mark, facts))
        if mark in marks[:k]:
            raise ParseError(f"fact '{mark}' is given twice", at=mark.start_pos)
        _check_fact(kind, sizes, mark, facts[mark])
    first = word if token is None else token
    span = (first.start_pos, first.end_pos)
    return Declaration(name, kind, sizes, tuple(map(str, marks)), span)


def _check_kind(kind: str, word: Any, sizes: tuple[Ast, ...], kinds: _Kinds, facts: Mapping[str, str]) -> None:
    if kind not in kinds:
        hint = _nearest(kind, kinds)
        if kind in facts:
            example = "k: scalar" if facts[kind] == "any" else "X: matrix(n, n)"
            hint = f"'{kind}' is a fact: write the kind first, as in  {example} {kind}"
        raise UnknownName(f"unknown kind '{kind}'", at=word.start_pos, hint=hint)
    least, greatest = kinds[kind]
    if least <= len(sizes) <= greatest:
        return
    takes = f"takes {_COUNTS.get((least, greatest), 'sizes')}, found {len(sizes) or 'none'}"
    raise ShapeError(f"'{word}' {takes}", at=word.start_pos, hint=_EXAMPLES.get(kind, ""))


def _check_size(size: Ast) -> None:
    """Raise ShapeError unless a size consists of integers, names, + - * //, min and max."""
    for node in walk(size):
        if node.head == "number" and node.value.denominator != 1:  # type: ignore[attr-defined]
            raise ShapeError("a size must be an integer", at=node.caret)
        wrong_operator = node.head == "product" and not set(node.value) <= {"*", "//"}  # type: ignore[call-overload]
        wrong_call = node.head == "call" and call_name(node) not in _SIZE_CALLS
        if node.head not in _SIZE_HEADS or wrong_operator or wrong_call:
            raise ShapeError("a size consists of integers, names, + - * //, min and max", at=node.caret)
    if size.head == "negative" and size.args[0].head == "number":
        raise ShapeError("a size cannot be negative", at=size.caret)


def _check_fact(kind: str, sizes: tuple[Ast, ...], mark: Any, shapes: str) -> None:
    """Raise ShapeError for a fact that no value of this kind and these sizes can have."""
    if kind in (SIZE, INDEX):
        noun = "a size" if kind == SIZE else "an index"
        raise ShapeError(f"'{mark}' is a fact about tensors, this is {noun}", at=mark.start_pos)
    if shapes == "any":
        return
    if kind != "matrix":
        raise ShapeError(f"'{mark}' is a fact about matrices, this is a {kind}", at=mark.start_pos)
    plain = all(size.head in ("name", "number") for size in sizes)
    if shapes == "square" and plain and not same(*sizes):
        rows, columns = map(write, sizes)
        hint = f"write  matrix({rows}, {rows}) {mark}"
        message = f"'{mark}' is a fact about square matrices, this one is {rows} x {columns}"
        raise ShapeError(message, at=mark.start_pos, hint=hint)


def _check_names(declarations: list[Declaration]) -> None:
    """Raise ShapeError for a name that is declared twice, or is both a size and a symbol that is no integer."""
    names: set[str] = set()
    for d in declarations:
        if d.name in names:
            raise ShapeError(f"'{d.name}' is declared twice", at=d.span[0])
        names.add(d.name)
    names -= {d.name for d in declarations if d.kind in ("integer", SIZE)}
    for d in declarations:
        for node in (node for size in d.sizes for node in walk(size)):
            if node.head == "name" and node.value in names:
                message = f"'{node.value}' is both a size and a symbol"
                raise ShapeError(message, at=node.caret, hint="give one of them another name")


def _nearest(word: str, known: Iterable[str]) -> str:
    """Return a hint that names the known words nearest to `word`, or all of them."""
    found = near(word, known)
    if found:
        return f"did you mean {' or '.join(found)}?"
    return f"known: {' '.join(known)}"
