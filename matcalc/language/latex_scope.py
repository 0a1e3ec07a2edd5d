r"""What names mean where a formula in LaTeX is read: symbols and sizes that are declared, indices that sums bind.

A name in LaTeX is a letter with what stands round it: `\hat{\mathbf{w}}_{\text{out}}` has the key (w, hat, out), in any
font. A declared symbol is found by the key that its own LaTeX has, so that what is written is read back; another name
is made of its key, `w_hat_out`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, cast

from matcalc.errors import ParseError
from matcalc.language.identifiers import bounded
from matcalc.language.latex_layout import unbraced
from matcalc.language.latex_looks import LatexNames
from matcalc.language.latex_names import ALIKE, NAME
from matcalc.language.syntax import Ast, walk
from matcalc.language.write import ends

Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Known:
    """What is declared: the kinds of symbols, the lengths of their axes as text, sizes; the kinds of other names.

    indices: symbols whose data are indices.
    """

    kinds: Mapping[str, str]
    shapes: Mapping[str, tuple[str, ...]]
    sizes: frozenset[str]
    default: Callable[[str], str]
    indices: frozenset[str] = frozenset()


class Value(NamedTuple):
    """What a layout means: a tree with its kind, or why it is no value.

    kind: scalar, vector, row, matrix, tensor; "" for unknown. unclear: how else a function without parentheses at its
    end could be read. is_list, is_relation, is_function: what is no value and may be an operand of a call.
    """

    tree: Ast | None
    kind: str = ""
    fault: ParseError | None = None
    unclear: str = ""
    form: str = ""


@dataclass(eq=False)
class Index:
    """An index in force, with the first and last of its values, which count from 1, as far as they are written."""

    name: str
    low: Ast | None = None
    high: Ast | None = None
    measured: bool = False


@dataclass(frozen=True, slots=True)
class Scope:
    """What is bound at a place: indices by their letters, parameters of functions."""

    indices: Mapping[str, Index] = field(default_factory=dict)
    parameters: frozenset[str] = frozenset()


@dataclass
class Reading:
    """A formula under way: what is known, what its layouts mean so far, and what it tells of undeclared names.

    keys: declared names by key. bare: letters that stand somewhere without subscript and no parenthesis behind.
    ranks: of names whose font tells it. parts: kinds of the parts that are named in lines before. root: the line.
    below: the letters that are subscripts in each layout.
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

    def kind_of(self, name: str) -> str:
        """Return the kind of a name: as declared, as its font says, as its spelling says."""
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
        """Whether a name is declared, or that of a part."""
        return name in self.known.kinds or name in self.known.sizes or name in self.parts


def declared_keys(names: Mapping[str, object]) -> dict[Key, tuple[str, ...]]:
    """Return declared names by the keys of their LaTeX."""
    found: dict[Key, tuple[str, ...]] = {}
    for name in names:
        key = key_of_name(name, names)
        found[key] = (*found.get(key, ()), name)
    return found


def key_of_name(name: str, names: Mapping[str, object]) -> Key:
    """Return the key of a name as it is written in LaTeX."""
    if name[0] == "d" and name[1:] in names:
        inner = key_of_name(name[1:], names)
        return (f"d {inner[0]}", *inner[1:])
    found = NAME.fullmatch(name)
    if found is None:
        return (name,)
    below = [part for part in (found["number"], *(found["below"] or "").split("_")) if part]
    return (ALIKE.get(found["word"], found["word"]), *(ALIKE.get(part, part) for part in below))


def name_of(key: Key, at: int) -> str:
    """Return the name that an undeclared key makes.

    Raises: ParseError for what is no identifier.
    """
    name = "_".join(part for part in (key[0].replace("d ", "d"), *key[1:]) if part)
    if not name.isidentifier():
        raise ParseError(f"no name can be made of {' '.join(key)!r}", at=at, hint="declare it under a name of your own")
    return bounded(name)


def key_of(layout: Ast) -> Key | None:
    """Return the key of a letter with accents; None of what is no name."""
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
    return str(layout.value[1])  # type: ignore[index]


def subscript_of(script: Ast) -> Ast | None:
    """Return what stands below in a script."""
    places = [place for place in cast("tuple[str, ...]", script.value) if place != "'"]
    return script.args[1 + places.index("_")] if "_" in places else None


def subscripts_in(root: Ast) -> dict[Ast, frozenset[str]]:
    """Return the letters that are subscripts in each layout inside one."""
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
    """Return what a subscript adds to a key: x,y of `_{x,y}`, out of `_{out}`; None of what is no part of a name."""
    layout = (
        layout if layout.head == "fence" and layout.value in ("brace", "open") else Ast("fence", (layout,), "brace")
    )
    parts = []
    for element in layout.args:
        items = element.args if element.head == "row" else (element,)
        words = [_word_of(item) for item in items]
        if any(word is None for word in words):
            return None
        parts.append("".join(word or "" for word in words))
    return tuple(parts)


def _word_of(item: Ast) -> str | None:
    item = unbraced(item)
    if item.head == "letter":
        return str(item.value[0])  # type: ignore[index]
    if item.head == "number":
        return str(item.value[2])  # type: ignore[index]
    if item.head == "word":
        return "_".join(re.findall(r"\w+", str(item.value[0])))  # type: ignore[index]
    if item.head in ("lone", "operator", "mark"):
        return {"*": "star", "+": "plus", "-": "minus", "T": "T", "H": "H", r"\star": "star", r"\ast": "star"}.get(
            str(item.value)
        )
    return None


_PRODUCTS = {
    ("row", "vector"): "scalar", ("vector", "row"): "matrix", ("matrix", "vector"): "vector",
    ("row", "matrix"): "row", ("matrix", "matrix"): "matrix",
}  # fmt: skip


def fault(message: str, layout: Ast, hint: str = "") -> ParseError:
    """Return the error of a layout, at its place."""
    return ParseError(message, at=layout.caret, hint=hint)


def value(reading: Reading, layout: Ast, found: Value | None = None) -> Value:
    """Return the value of a layout, which may be given.

    Raises: ParseError where it has none.
    """
    found = found if found is not None else reading.made[layout]
    if found.fault is not None:
        raise found.fault
    if found.tree is None:
        raise fault("expected an operand here", layout)
    return found


def needed(reading: Reading, layout: Ast, forms: tuple[str, ...] = ()) -> Value:
    """Return the value of a layout that is a formula, or of one of the other forms that an operand may have.

    Raises: ParseError where it is none.
    """
    found = value(reading, layout)
    if found.form and found.form not in forms:
        raise fault(f"a {found.form} is no value", layout)
    return found


def is_plain_number(layout: Ast) -> bool:
    r"""Whether a layout is a number, and no \mathbf{1}."""
    return layout.head == "number" and not layout.value[1]  # type: ignore[index]


def kind_of_product(left: str, right: str) -> str:
    """Return the kind of a product, "" where it is not known."""
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
