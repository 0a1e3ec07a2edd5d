"""Writes subscripts in languages that count from 1 and include the last index of a range.

Data that are indices count from 1 there too, so they are subscripts as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from matcalc.errors import NotSupported
from matcalc.plain_source.counting import is_index
from matcalc.plain_source.language import Language, filled
from matcalc.plain_source.terms.ranges import Range, length_of, range_of
from matcalc.plain_source.terms.term import Term
from matcalc.tensor.sizes.size import Size

Written = tuple[str, str]
SizeText = Callable[[Size], str]


def part_text(language: Language, term: Term, operands: Sequence[Written], size_text: SizeText) -> Written:
    """Return the text of a part and its level.

    Raises: NotSupported for selections that the language has no subscript for.
    """
    words: Mapping[str, Any] = language.table["forms"]["part"]
    texts = [text for text, _ in operands]
    written = [
        _subscript(words, term, spec, size, texts, size_text)
        for spec, size in zip(term.data, term.args[0].shape, strict=True)
    ]
    form = _form(term.data, term.rank)
    if form not in words:
        raise NotSupported(f"a part with these indices has no plain source in {language.table['language']}")
    sizes = {f"size_{axis}": (size_text(size), "atom") for axis, size in enumerate(term.shape)}
    parts = {"0": operands[0], "subscripts": (", ".join(written), "atom")} | sizes
    return language.render(words[form], parts), words.get("levels", {}).get(form, "atom")


def _form(specs: Sequence[tuple[Any, ...]], rank: int) -> str:
    """Return the name of the template for a part: by how its axes are selected, and the rank of the result."""
    kinds = [spec[0] for spec in specs]
    if any(spec[0] == "gather" and len(spec[2]) > 1 for spec in specs):
        return ("array", "array_of_pairs")[len(kinds) > 1] if set(kinds) == {"gather"} and rank == 2 else "arrays"
    if kinds.count("gather") > 1:
        return "pairs" if set(kinds) == {"gather"} else "some_pairs"
    if not rank:
        return "entry"
    if "at" in kinds:
        if len(kinds) == 2:
            return "row" if kinds[0] == "at" else "column"
        return "fiber" if rank == 1 else "slab"
    return "vector" if rank == 1 else "matrix"


def _subscript(
    words: Mapping[str, Any],
    term: Term,
    spec: tuple[Any, ...],
    size: Size,
    texts: Sequence[str],
    size_text: SizeText,
) -> str:
    if spec[0] == "all":
        return str(words["all"])
    if spec[0] == "range":
        bounds = [term.args[position] if position else None for position in spec[1:]]
        return _range_text(words, range_of(bounds, size), size, size_text)
    return _index_text(words, term.args[spec[1]], texts[spec[1]], size, size_text)


def _index_text(words: Mapping[str, Any], index: Term, text: str, size: Size, size_text: SizeText) -> str:
    """Return an index, or an array of indices, counted from 1."""
    if is_index(index):
        return text
    if index.form == "index":
        return str(words["indices"]).replace("{length}", size_text(index.shape[0]))
    try:
        found = length_of(index)
    except NotSupported:
        return f"{text} + 1"
    is_from_end = found.is_integer and found.constant < 0
    return _position(words, size + found + 1 if is_from_end else found + 1, size, size_text)


def _position(words: Mapping[str, Any], index: Size, size: Size, size_text: SizeText) -> str:
    """Return an index counted from 1; relative to the end where the language has a word for it."""
    distance = size - index
    if "end" in words and distance.is_integer and not index.is_integer:
        return f"{words['end']} - {distance}" if distance != 0 else str(words["end"])
    return size_text(index)


def _range_text(words: Mapping[str, Any], found: Range, size: Size, size_text: SizeText) -> str:
    last = found.first - found.count + 1 if found.descends else found.first + found.count - 1
    parts = {
        "first": _position(words, found.first + 1, size, size_text),
        "last": _position(words, last + 1, size, size_text),
        "count": size_text(found.count),
        "before": size_text(found.first),
        "after": size_text(found.first + 2),
    }
    form = "descending" if found.descends else "range"
    if not found.descends and found.first == 0:
        form = "from_first"
    return filled(str(words[form]), parts)
