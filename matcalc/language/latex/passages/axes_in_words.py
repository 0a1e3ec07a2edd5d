r"""Reads what a passage tells of axes: rows $x_i$ of $X$, x_1, \dots, x_N, and a softmax that is applied row-wise."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from matcalc.errors import ParseError
from matcalc.language.latex.latex_scope import Reading
from matcalc.language.latex.layout.latex_patterns import without_top
from matcalc.language.syntax import Ast, rebuild, walk

_LETTER = r"(?:\\(?:mathbf|boldsymbol|bm)\s*\{?\s*)?([a-z])\s*\}?\s*_\s*\{?\s*"
_LIST = re.compile(rf"(?<![A-Za-z\\]){_LETTER}1\s*\}}?\s*,\s*(?:\\[,;! ]\s*)?\\[lc]?dots\s*,\s*{_LETTER}([A-Za-z])")


_DATUM = r"([A-Za-z])\s*_\s*(?:[A-Za-z0-9]|\{[^{}$]*\})"
_TO = r"\s*,\s*\\[lc]?dots\s*,\s*"
_NUMBERS = (
    rf"\\\{{\s*1(?:\s*,\s*2)?{_TO}(?P<one>[A-Za-z])\s*\\\}}|\\\{{\s*0(?:\s*,\s*1)?{_TO}(?P<zero>[A-Za-z])\s*-\s*1\s*\\\}}"
    r"|\[\s*(?P<whole>[A-Za-z])\s*\]"
)
_MEMBERS = re.compile(rf"((?:(?<![A-Za-z\\]){_DATUM}\s*(?:,\s*(?:\\[,;! ]\s*)?)?)+)\\in\s*(?:{_NUMBERS})")
r"""Data in a set of numbers: c_i, o_i \in \{1, \dots, J\}."""
_SIZE = re.compile(
    r"\bind(?:ices|exes)\s+in(?:to)?\s+(?:an?|the|our)\s+(?:[a-z-]+\s+){1,3}of\s+(?:size|length)\s+\$([A-Za-z])\$"
)
r"""Words of the range of data: indices into a vocabulary of size $J$."""
_SENTENCE = re.compile(r"[^.!?]+(?:[.!?](?!\s|\Z)[^.!?]*)*")


def note_limits(reading: Reading, text: str) -> None:
    """Enter the sizes below which data of indices are into the reading, from a set or from words of their sentence.

    Raises: ParseError for two sizes of the same data.
    """
    found = [(x[1], x["one"] or x["zero"] or x["whole"], x.start()) for x in _MEMBERS.finditer(text)]
    for sentence in _SENTENCE.finditer(text):
        if size := _SIZE.search(sentence[0]):
            found.append((sentence[0][: size.start()], size[1], sentence.start() + size.start()))
    for data, size_, at in found:
        for letter in dict.fromkeys(re.findall(rf"(?<![A-Za-z\\]){_DATUM}", data)):
            for name in {*reading.keys.get((letter,), ())} & reading.known.indices:
                if reading.limits.setdefault(name, size_) != size_:
                    raise ParseError(f"{name} is in two different ranges", text=text, at=at)


def note_rows(reading: Reading, text: str, rows: Mapping[str, int]) -> None:
    r"""Enter the axes of rows x_i of a matrix X that words or a list x_1, \dots, x_N state into the reading."""
    for first, last, size in _LIST.findall(text):
        letters = (first.upper(), first) if first == last else ()
        names = [x for one in letters for x in reading.keys.get((one,), ()) if x not in reading.known.sizes]
        shape = reading.known.shapes.get(names[0], ()) if len(names) == 1 else ()
        if len(shape) == 2 and shape.count(size) == 1:
            reading.stated[names[0]] = shape.index(size)
    for letter, axis in rows.items():
        large = letter[:1].upper() + letter[1:]
        every = [x for one in dict.fromkeys((letter, large)) for x in reading.keys.get((one,), ())]
        matrices = [x for x in every if len(reading.known.shapes.get(x, ())) == 2]
        name = matrices[0] if len(matrices) == 1 else letter
        if reading.stated.setdefault(name, axis) != axis:
            raise ParseError(f"{name} has both rows and columns of one letter", text=text, at=0)


def with_axes(reading: Reading, lines: Sequence[Ast], along: Mapping[str, int]) -> list[Ast]:
    """Return lines in which calls of a function have the axis that words state.

    Raises: ParseError if no line calls such a function.
    """
    words = {word: axis for word, axis in along.items() if word in reading.names.words}
    called = {x.value[0] for line in lines for x in walk(line) if x.head == "word"}  # type: ignore[index]
    if along and not called & {*words}:
        hint = "write axis=1 as a further argument of the function of each row"
        raise ParseError("these words of rows or columns name no function of the formula", at=0, hint=hint)
    return [_with_axes(line, words) for line in lines]


def _with_axes(line: Ast, words: Mapping[str, int]) -> Ast:
    """Return a line in which each call of these functions has an axis."""

    def change(row: Ast) -> Ast:
        if row.head != "row":
            return row
        items = list(row.args)
        for k in range(1, len(items)):
            name = str(items[k - 1].value[0]) if items[k - 1].head == "word" else ""  # type: ignore[index]
            fence, above = without_top(items[k])
            if name not in words or fence.head != "fence" or len(fence.args) != 1:
                continue
            word = Ast("word", (), ("axis", "roman"), fence.span)
            number = Ast("number", (), (Fraction(words[name]), "", str(words[name])), fence.span)
            keyword = Ast("relation", (word, number), ("==",), fence.span, fence.at)
            fence = replace(fence, args=(*fence.args, keyword))
            items[k] = fence if not above else replace(items[k], args=(fence, *items[k].args[1:]))
        return replace(row, args=tuple(items))

    return rebuild(line, change)
