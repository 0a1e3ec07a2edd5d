r"""Resolves names in LaTeX: declared symbols and sizes, and the indices that sums bind.

A name in LaTeX is a letter with accents and subscripts: `\hat{\mathbf{w}}_{\text{out}}` has the key (w, hat, out), in
any font. A declared symbol is found by the key of its own LaTeX, so printed LaTeX reads back. Any other name is built
from its key, `w_hat_out`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, cast

from matcalc.errors import ParseError
from matcalc.language.identifiers import bounded
from matcalc.language.latex.layout.latex_layout import unbraced
from matcalc.language.latex.layout.latex_names import ALIKE, GREEK, NAME
from matcalc.language.latex.layout.latex_patterns import LatexNames
from matcalc.language.syntax import Ast, walk
from matcalc.language.write import ends

Key = tuple[str, ...]
NUMBER = "number of a function"
VECTOR = "vector of a function"
ARRAY = "array of a function"
"""The forms of a fence around the operand of a function that the passage defines."""
APPLIED = "function of a number"
"""The form of a fence around the formula of such a function; at a vector it is that of each entry."""


@dataclass(frozen=True, slots=True)
class Known:
    """The declarations: kinds of symbols, lengths of their axes as text, sizes; and the kinds of other names.

    indices: symbols whose data are indices. positive: symbols that are declared so. axes: of matrices, the axis of x_i,
    and whether it is a vector or a row, if nothing around it decides.
    """

    kinds: Mapping[str, str]
    shapes: Mapping[str, tuple[str, ...]]
    sizes: frozenset[str]
    default: Callable[[str], str]
    indices: frozenset[str] = frozenset()
    axes: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    positive: frozenset[str] = frozenset()


class Value(NamedTuple):
    """The meaning of a layout: a tree with its kind, or a fault if there is no tree.

    kind: scalar, vector, row, matrix, tensor; "" for unknown. unclear: a function without parentheses, whose operand
    may extend further. form: relation or function for an operand of a call that is not a formula itself.
    """

    tree: Ast | None
    kind: str = ""
    fault: ParseError | None = None
    unclear: str = ""
    form: str = ""


@dataclass(eq=False)
class Index:
    """A bound index, with its first and last values, which count from 1, if they are written.

    size: without bounds, the common length of the axes that it is an index of, if there is one. is_step: the index of a
    recurrence, whose steps count from `low`. conditions: those below its sum.
    """

    name: str
    low: Ast | None = None
    high: Ast | None = None
    measured: bool = False
    size: str = ""
    is_step: bool = False
    conditions: tuple[Ast, ...] = ()


@dataclass
class Steps:
    """The recurrences of a passage.

    begins: the first value of each step index. counts: the number of its steps as text, "" if it is not written.
    states: the names of the equations, with the kind of one step. firsts: the number of the first entry, by name and
    axis, of states and of what is read at steps; it is 1 elsewhere.
    """

    begins: dict[str, int] = field(default_factory=dict)
    counts: dict[str, str] = field(default_factory=dict)
    states: dict[str, str] = field(default_factory=dict)
    firsts: dict[tuple[str, int], int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Scope:
    """The names bound around a layout: indices by their letters, parameters of functions.

    entries: the indices of the entries of vectors, then of matrices, that functions of a number are applied to,
    innermost last.
    """

    indices: Mapping[str, Index] = field(default_factory=dict)
    parameters: frozenset[str] = frozenset()
    entries: tuple[tuple[str, str, str], ...] = ()


@dataclass
class Reading:
    """A formula being read: its declarations, the values of its layouts, and what it implies of undeclared names.

    keys: declared names by key. bare: letters that occur somewhere without subscript or following parenthesis.
    ranks: of names, if their font determines it. parts: kinds of the parts named in earlier lines. root: the line.
    below: the letters that are subscripts in each layout. steps: the recurrences. ranges: the sizes of indices whose
    range some line of the passage tells. conditions: those on the indices of a sum that its bounds contain. entries: by
    the formula of a function of a number, the indices of the entries that it is applied to. listed: the names with the
    index of a sum as their only subscript. zeros: the arrays and axes that count from 0. stated: the axes of rows, by
    matrix, that words of the passage tell. limits: the sizes below which data of indices are, as the passage tells.
    letters: those of the whole passage, which no new index may have.
    """

    names: LatexNames
    known: Known
    keys: Mapping[Key, tuple[str, ...]] = field(default_factory=dict)
    bare: frozenset[str] = frozenset()
    made: dict[Ast, Value] = field(default_factory=dict)
    sums: dict[Ast, Mapping[str, Index]] = field(default_factory=dict)
    ranks: dict[str, int] = field(default_factory=dict)
    parts: dict[str, str] = field(default_factory=dict)
    root: Ast = field(default_factory=lambda: Ast("empty"))
    below: Mapping[Ast, frozenset[str]] = field(default_factory=dict)
    steps: Steps = field(default_factory=Steps)
    ranges: Mapping[str, str] = field(default_factory=dict)
    conditions: dict[Ast, tuple[Ast, ...]] = field(default_factory=dict)
    entries: dict[Ast, tuple[str, str, str]] = field(default_factory=dict)
    listed: frozenset[Key] = frozenset()
    zeros: frozenset[tuple[str, int]] = frozenset()
    stated: dict[str, int] = field(default_factory=dict)
    limits: dict[str, str] = field(default_factory=dict)
    letters: frozenset[str] = frozenset()

    def kind_of(self, name: str) -> str:
        """Return the kind of a name: as declared, else by its font, else by its spelling."""
        if name in self.parts:
            return self.parts[name]
        if name in self.known.kinds:
            return self.known.kinds[name]
        if name in self.known.sizes:
            return "scalar"
        if name in self.ranks:
            return ("scalar", "vector", "matrix")[self.ranks[name]]
        return self.known.default(name)

    def is_known(self, name: str) -> bool:
        """Return whether a name is declared, or names a part."""
        return name in self.known.kinds or name in self.known.sizes or name in self.parts


def declared_keys(names: Mapping[str, object]) -> dict[Key, tuple[str, ...]]:
    """Return declared names by the keys of their LaTeX."""
    found: dict[Key, tuple[str, ...]] = {}
    for name in names:
        key = key_of_name(name, names)
        found[key] = (*found.get(key, ()), name)
    accented = {name: other for name in names if (other := _accented(name)) is not None and other not in found}
    return {**found, **{other: (name,) for name, other in accented.items()}}


def _accented(name: str) -> Key | None:
    r"""Return the key of \hat{y} for the name yhat, None for any other name."""
    for accent in ("hat", "tilde", "bar"):
        base = name.removesuffix(accent)
        if base != name and (len(base) == 1 or base in GREEK):
            return (ALIKE.get(base, base), accent)
    return None


def key_of_name(name: str, names: Mapping[str, object]) -> Key:
    """Return the key of the LaTeX of a name."""
    if name[0] == "d" and name[1:] in names:
        inner = key_of_name(name[1:], names)
        return (f"d {inner[0]}", *inner[1:])
    found = NAME.fullmatch(name)
    if found is None:
        return (name,)
    below = [part for part in (found["number"], *(found["below"] or "").split("_")) if part]
    return (ALIKE.get(found["word"], found["word"]), *(ALIKE.get(part, part) for part in below))


def name_of(key: Key, at: int) -> str:
    """Return the name built from an undeclared key.

    Raises: ParseError if it is not an identifier.
    """
    name = "_".join(part for part in (key[0].replace("d ", "d"), *key[1:]) if part)
    if not name.isidentifier():
        raise ParseError(f"{' '.join(key)!r} cannot be a name", at=at, hint="declare it under a name of your own")
    return bounded(name)


def key_of(layout: Ast) -> Key | None:
    """Return the key of a letter with accents; None if it is not a name."""
    layout = unbraced(layout)
    accents: list[str] = []
    while layout.head == "accent":
        accents.append(str(layout.value))
        layout = unbraced(layout.args[0])
    if layout.head not in ("letter", "word"):
        return None
    base, font = cast("tuple[str, str]", layout.value)
    if layout.head == "word" and font in ("\\", "operator", "text"):
        return None
    return (base, *(accent for accent in reversed(accents) if accent))


def font_of(layout: Ast) -> str:
    """Return the font of a name: vectors and matrices are bold, or have arrows."""
    layout = unbraced(layout)
    while layout.head == "accent":
        if layout.value == "":
            return "bold"
        layout = unbraced(layout.args[0])
    if layout.head == "script":
        return font_of(layout.args[0])
    return str(layout.value[1])  # type: ignore[index]


def subscript_of(script: Ast) -> Ast | None:
    """Return the subscript of a script, None if it has none."""
    marks = [mark for mark in cast("tuple[str, ...]", script.value) if mark != "'"]
    return script.args[1 + marks.index("_")] if "_" in marks else None


def is_named(reading: Reading, script: Ast) -> bool:
    """Return whether a letter with its subscript is a declared symbol or a part, I_1 for an invariant."""
    below = subscript_of(script) if script.head == "script" else None
    key = key_of(script.args[0]) if below is not None else None
    added = key_of_subscript(below) if below is not None else None
    return key is not None and added is not None and (*key, *added) in reading.keys


INNER_PRODUCTS = (("F",), ("HS",), ("2",))
r"""Subscripts of \langle A, B \rangle that name the inner product of all entries."""


def subscripts_in(root: Ast) -> dict[Ast, frozenset[str]]:
    """Return, for each layout inside `root`, the letters that are subscripts in it."""
    letters: dict[Ast, frozenset[str]] = {}
    below: dict[Ast, frozenset[str]] = {}
    for node in walk(root):
        own = [str(node.value[0])] if node.head == "letter" else []  # type: ignore[index]
        letters[node] = frozenset(own).union(*(letters[x] for x in node.args))
        subscript = subscript_of(node) if node.head == "script" else None
        found = letters[subscript] if subscript is not None else frozenset()
        below[node] = found.union(*(below[x] for x in node.args))
    return below


def key_of_subscript(layout: Ast) -> Key | None:
    """Return the part of a key that a subscript adds: x,y for `_{x,y}`, out for `_{out}`; None if there is none."""
    layout = (
        layout if layout.head == "fence" and layout.value in ("brace", "open") else Ast("fence", (layout,), "brace")
    )
    parts = []
    for element in layout.args:
        items = element.args if element.head == "row" else (element,)
        if element.head == "relation" and element.value in ((r"\to",), (r"\rightarrow",)):  # L_{u \to v}
            items = (element.args[0], Ast("operator", (), r"\to", element.span), element.args[1])
        words = ["half"] if _is_half(element) else [_word_of(item) for item in items]
        if any(word is None for word in words):
            return None
        parts.append("".join(word or "" for word in words))
    return tuple(parts)


def _is_half(element: Ast) -> bool:
    """Return whether a subscript is 1/2, the step between two others: p_{1/2} is p_half."""
    numbers = [x.value[0] for x in element.args if x.head == "number"]  # type: ignore[index]
    is_quotient = element.head == "frac" or element.head == "row" and [x.value for x in element.args[1:-1]] == ["/"]
    return is_quotient and numbers == [1, 2]


def _word_of(item: Ast) -> str | None:
    item = unbraced(item)
    if item.head == "letter":
        return str(item.value[0])  # type: ignore[index]
    if item.head == "number":
        return str(item.value[2])  # type: ignore[index]
    if item.head == "word":
        return "_".join(re.findall(r"\w+", str(item.value[0])))  # type: ignore[index]
    if item.head in ("lone", "operator", "mark"):
        return {
            "*": "star",
            "+": "plus",
            "-": "minus",
            "T": "T",
            "H": "H",
            r"\to": "to",
            r"\rightarrow": "to",
            r"\star": "star",
            r"\ast": "star",
            r"\circ": "circ",
            "infty": "inf",
        }.get(str(item.value))
    return None


_PRODUCTS = {
    ("row", "vector"): "scalar", ("vector", "row"): "matrix", ("matrix", "vector"): "vector",
    ("row", "matrix"): "row", ("matrix", "matrix"): "matrix",
}  # fmt: skip


def fault(message: str, layout: Ast, hint: str = "") -> ParseError:
    """Return the error of a layout, at its position."""
    return ParseError(message, at=layout.caret, hint=hint)


def value(reading: Reading, layout: Ast, found: Value | None = None) -> Value:
    """Return the value of a layout, or `found` if it is passed.

    Raises: ParseError if it has none.
    """
    found = found if found is not None else reading.made[layout]
    if found.fault is not None:
        raise found.fault
    if found.tree is None:
        raise fault("expected an operand here", layout)
    return found


def needed(reading: Reading, layout: Ast, forms: tuple[str, ...] = ()) -> Value:
    """Return the value of a layout that is a formula, or one of the other allowed forms of an operand.

    Raises: ParseError for any other layout.
    """
    found = value(reading, layout)
    if found.form and found.form not in forms:
        raise fault(f"a {found.form} is not a value", layout)
    return found


def is_plain_number(layout: Ast) -> bool:
    r"""Return whether a layout is a number, not \mathbf{1}."""
    return layout.head == "number" and not layout.value[1]  # type: ignore[index]


def kind_of_product(left: str, right: str) -> str:
    """Return the kind of a product, "" if it is not known."""
    if "scalar" in (left, right):
        return right if left == "scalar" else left
    return _PRODUCTS.get((left, right), "")


def kind_of_sum(kinds: Sequence[str]) -> str:
    """Return the kind of a sum; a scalar is added to every entry."""
    if "" in kinds:
        return next((kind for kind in kinds if kind not in ("", "scalar")), "")
    return next((kind for kind in kinds if kind != "scalar"), "scalar")


def readings(*trees: Ast) -> str:
    """Return trees as text of the matrix language, as alternatives."""
    return " or ".join(dict.fromkeys(ends(tree, 60, 11) for tree in trees))
