"""Lists the typed forms that build expressions from others: operations of a rulebook, and forms of the language.

A form is a text with a slot for each operand. Its types come from signatures: those of the rulebook, with one form
for each overload, rank and `axis=`, and those of `language.toml`, for operators, parts, blocks and index form. The
formula that maps an operand into the domain is data too: the sampler of a fact, or the entry's `inside`.
"""

from __future__ import annotations

import itertools
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from matcalc.language.declare import Declaration, Signature, read_signature, size_names
from matcalc.language.read import read
from matcalc.rulebook.load import Rulebook
from matcalc.rulebook.notations import spelled
from matcalc.rulebook.rule import Rule
from matcalc.tensor.nodes.signature import size_of
from matcalc.tensor.sizes.size import Size

Shape = tuple[Size, ...]

LANGUAGE = Path(__file__).resolve().parent / "language.toml"
PLAIN_TEXTS = {"integer": "1", "number": "5/2"}
"""The arguments for parameters that are neither tensors nor functions."""
NUMBERS = {"p": 2, "q": 3, "n": 3}
"""Values of integer parameters that occur in a shape: `repmat(A, 2, 3)`."""
UNWRITTEN = ("equation", "unknown")
"""Kinds of parameters that bind names; operations with them have no form from their signature."""
RANKS = (0, 1, 2)
AXES = ("s_0", "s_1")


@dataclass(frozen=True)
class Slot:
    """A slot for an operand: its shape in the form's sizes, its required facts, and the formula into the domain."""

    name: str
    shape: Shape
    facts: tuple[str, ...] = ()
    inside: str | None = None

    @property
    def rank(self) -> int:
        return len(self.shape)


@dataclass(frozen=True)
class Form:
    """A text with `{x}` for the slot x and `<n>` for the size n; equal names are equal sizes.

    `operation` is the name for readers, for forms of the language a description; `key` identifies the form.
    """

    key: str
    operation: str
    text: str
    slots: tuple[Slot, ...]
    shape: Shape
    is_entrywise: bool = False
    axis: int | None = None

    @property
    def use(self) -> str:
        """The operation with its axis, independent of the ranks of its operands."""
        return self.operation if self.axis is None else f"{self.operation}, axis={self.axis}"

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def sizes(self) -> tuple[str, ...]:
        """The size names, by first appearance."""
        shapes = [*(slot.shape for slot in self.slots), self.shape]
        found = [n for shape in shapes for size in shape for n in size.names]
        return tuple(dict.fromkeys([*found, *re.findall(r"<(\w+)>", self.text)]))


@lru_cache(maxsize=8)
def forms(book: Rulebook) -> tuple[Form, ...]:
    """Return all forms: those of the rulebook's operations in order, then those of the language."""
    return (*(form for rule in book.rules.values() for form in forms_of(rule)), *own_forms())


@lru_cache(maxsize=1)
def _language() -> dict[str, Any]:
    return tomllib.loads(LANGUAGE.read_text(encoding="utf-8"))


def _fitted() -> list[str]:
    """Return the operations whose plain arguments must fit a shape; their forms are in `language.toml`."""
    return list(_language()["fitted"])


def _is_plain(p: Declaration) -> bool:
    return p.kind == "function" or p.kind in PLAIN_TEXTS


@lru_cache(maxsize=1)
def own_forms() -> tuple[Form, ...]:
    """Return the forms of the language that are no calls, and the calls with fitted plain arguments."""
    found = []
    for entry in _language()["form"]:
        signature = read_signature(entry["signature"])
        slots = [_slot(p, _shape(p, {}), entry.get("inside", {})) for p in signature.parameters]
        text = entry["text"]
        for size in dict.fromkeys(n for given in entry.get("sizes", ()) for n in re.findall(r"\w+", given)):
            text = re.sub(rf"(?<![\w{{]){size}(?![\w}}])", f"<{size}>", text)
        shape = _shape(signature.outputs[0], {})
        key = f"{signature.name}({', '.join(KINDS[slot.rank] for slot in slots)})"
        found.append(Form(key, signature.name, text, tuple(slots), shape))
    return tuple(found)


KINDS = ("scalar", "vector", "matrix", "tensor", "tensor of 4")


def forms_of(rule: Rule) -> Iterator[Form]:
    """Yield the forms of an operation: each signature, arrays of rank 0 (maps), 1 and 2, each axis, each output."""
    if rule.opaque is not None or rule.value is None:
        return
    for whole in rule.signatures:
        if any(p.kind in UNWRITTEN for p in whole.parameters) or rule.spelling in _fitted():
            continue
        given = tuple(_as_plain(p) if p.name in rule.opaque_in else p for p in whole.parameters)
        without = tuple(p for p in given if not (p.repeated and rule.kind == "op"))
        uses = [replace(whole, parameters=parameters) for parameters in dict.fromkeys((without, given))]
        for use, (index, name) in itertools.product(uses, enumerate(rule.names)):
            called = name if len(rule.names) > 1 else (rule.overload or name)
            output = use.outputs[index]
            for rank, axis in _ranks_and_axes(use, output):
                yield _form(rule, called, use, output, rank, axis)


def _as_plain(parameter: Declaration) -> Declaration:
    """Return a parameter that cannot be differentiated by, declared as an integer."""
    return replace(parameter, kind="integer", sizes=(), facts=())


def _ranks_and_axes(signature: Signature, output: Declaration) -> Iterator[tuple[int, int | None]]:
    """Yield the ranks of arrays and entries, each with an axis: None, or an axis of a matrix."""
    tensors = [p for p in signature.parameters if not _is_plain(p)]
    if not tensors:
        return
    kinds = [p.kind for p in signature.parameters]
    if "entry" in kinds:
        yield from ((rank, None) for rank in RANKS)
        return
    if "array" in kinds:
        yield from ((1, None), (2, None))
    else:
        yield 0, None
    one = tensors[0]
    along = one.kind == "array" or (one.kind == "vector" and output.kind == "scalar")
    along = along or (one.kind == output.kind == "vector" and size_names(one) == size_names(output))
    if len(tensors) == 1 and along and not any(p.name in size_names(one) for p in signature.parameters):
        yield from ((2, 0), (2, 1))


def _form(rule: Rule, called: str, signature: Signature, output: Declaration, rank: int, axis: int | None) -> Form:
    known = {p.name: Size.of(NUMBERS.get(p.name, 1)) for p in signature.parameters if p.kind == "integer"}
    written, slots = [], []
    for p in signature.parameters:
        if _is_plain(p):
            in_shape = any(p.name in size_names(d) for d in (*signature.parameters, output))
            text = str(known[p.name]) if in_shape else PLAIN_TEXTS.get(p.kind) or spelled("exponential")
            written.append(f"{p.name}={text}" if p.name == "ddof" else text)
            continue
        if p.kind in ("entry", "array"):
            shape: Shape = tuple(map(Size.of, AXES[:rank]))
        elif axis is not None:
            shape = tuple(map(Size.of, AXES))
        else:
            shape = _shape(p, known)
        slots.append(_slot(p, shape, rule.inside))
        written.append(f"{{{p.name}}}")
    text = _comparison(called, written) if called[-1] in "<>=" else f"{called}({', '.join(written)})"
    if axis is not None or (rule.per_axis and rank > 1):
        text = f"{text[:-1]}, axis={list(range(rank)) if axis is None else axis})"
    for name, formula in rule.sizes.items():
        names = {n: Size.of(n) for slot in slots for size in slot.shape for n in size.names}
        known[name] = size_of(read(formula), {**names, **known})
    if output.kind == "entry" or (output.kind == "array" and axis is None):
        result: Shape = tuple(map(Size.of, AXES[:rank]))
    elif axis is not None:
        result = tuple(map(Size.of, AXES))
        result = result if output.kind in ("array", "vector") else (result[1 - axis],)
    else:
        result = _shape(output, known)
    kinds = ", ".join(KINDS[slot.rank] for slot in slots)
    marks = "".join(f", axis={axis}" for _ in (axis,) if axis is not None)
    plain = ", ".join(text for p, text in zip(signature.parameters, written, strict=True) if _is_plain(p))
    key = f"{called}({', '.join(filter(None, (kinds, plain)))}{marks})"
    return Form(key, called, text, tuple(slots), result, rule.kind == "map" or output.kind == "entry", axis)


def _comparison(called: str, written: Sequence[str]) -> str:
    """Return `where(x > y, a, b)` for the rulebook's spelling `where>`."""
    match = re.fullmatch(r"(\w+)(\W+)", called)
    assert match is not None
    return f"{match[1]}({', '.join([f'{written[0]} {match[2]} {written[1]}', *written[2:]])})"


def _slot(parameter: Declaration, shape: Shape, inside: Mapping[str, str]) -> Slot:
    return Slot(parameter.name, shape, parameter.facts, inside.get(parameter.name))


def _shape(declaration: Declaration, known: Mapping[str, Size]) -> Shape:
    names = {n: Size.of(n) for n in size_names(declaration)}
    return tuple(size_of(size, {**names, **known}) for size in declaration.sizes)
