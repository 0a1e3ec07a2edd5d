"""Writes one term with the texts of its operands: by the table of a language, and for a few forms by their data."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from matcalc.errors import NotSupported
from matcalc.plain_source.helpers import value_entry
from matcalc.plain_source.language import SLOT, Entry, Language, fitted, is_simple
from matcalc.plain_source.lengths import size_text
from matcalc.plain_source.subscripts import part_text
from matcalc.plain_source.terms.term import UNKNOWN, Call, Term, is_constant, ranks_of
from matcalc.tensor.sizes.size import Size

Written = tuple[str, str]
"""A text and its level."""
WORD = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
"""A name in a program that is no attribute."""
LETTERS = "ijklpqrstuvwabcdefghmnoxyz"


class Speller:
    """Writes terms in a language; `names` are those of symbols and sizes, `lengths` those of indices by label.

    `helpers` collects the functions of the rulebook that the text needs, `words` the words of its templates.
    """

    def __init__(self, language: Language, names: Mapping[str, str], lengths: Mapping[int, Size]) -> None:
        self.language, self.names, self.lengths = language, names, lengths
        self.helpers: dict[str, None] = {}
        self.words: set[str] = set()

    def spell(self, term: Term, operands: Sequence[Written]) -> Written:
        """Return the text of a term and its level.

        Raises: NotSupported for a form or operation that the language lacks.
        """
        special = SPECIAL.get(term.form)
        if special is not None:
            return special(self, term, operands)
        entry, extra = self._entry(term, operands)
        if entry.through:
            return operands[0]
        parts = {**{str(k): operand for k, operand in enumerate(operands)}, **extra}
        parts, entry = self._turned(term, entry, parts)
        if entry.constant and all(map(is_constant, term.args)):
            entry = replace(entry, text=entry.constant, tight="")
        is_tight = entry.tight and all(is_simple(text) for text, _ in operands)
        return self.render(entry.tight if is_tight else entry.text, parts), entry.level

    def render(self, template: str, parts: Mapping[str, Written]) -> str:
        """Return a template with its operands, and remember the template's own words."""
        self.words.update(WORD.findall(SLOT.sub("", template)))
        return self.language.render(template, parts)

    def _entry(self, term: Term, operands: Sequence[Written]) -> tuple[Entry, Mapping[str, Written]]:
        """Return the table's entry of a term, and further parts of its template."""
        if term.form in ("call", "joint"):
            entry, helpers = entry_of(self.language, term)
            self.helpers.update(dict.fromkeys(helpers))
            axis = {} if term.data.axis is None else {"axis": atom(self.number(term.data.axis))}
            return entry, self._lengths(term, entry) | axis
        family, _, use = term.form.partition(".")
        if use:
            found = self.language.factorisations[family]
            matrix = term.args[0] if use == "make" else term.args[0].args[0]
            return Entry(found[use], found.get(f"{use}_level", "atom")), {"n": atom(self.size(matrix.shape[0]))}
        if term.form == "sum_of_squares" and term.data == 1 and is_simple(operands[0][0]):
            return self.language.forms.get("sum_of_squares_1", self.language.entry(term.form)), {}
        if term.form == "neg" and operands[0][1] == "power" and "neg_power" in self.language.forms:
            return self.language.entry("neg_power"), {}
        is_least = (
            term.form == "solution" and len(set(term.args[0].shape)) > 1 and "least_squares" in self.language.forms
        )
        entry = fitted(self.language.entry("least_squares" if is_least else term.form), ranks_of(term))
        return entry, self._lengths(term, entry)

    def _lengths(self, term: Term, entry: Entry) -> dict[str, Written]:
        """Return the sizes of a term as parts of its template, if that has such parts."""
        if not any(f"{{{part}" in entry.text for part in ("rows", "columns", "sizes", "others")):
            return {}
        sizes = [self.size(size) for size in term.shape]
        parts = {part: atom(size) for part, size in zip(("rows", "columns"), sizes, strict=False)}
        if term.form != "call" or term.data.axis is None:
            return parts
        others = [self.number(axis) for axis in range(term.args[0].rank) if axis != term.data.axis]
        return parts | {"sizes": atom(", ".join(sizes)), "others": atom(", ".join(others))}

    def _turned(self, term: Term, entry: Entry, parts: dict[str, Written]) -> tuple[dict[str, Written], Entry]:
        """Return the template for a first operand that is transposed, with that operand untransposed."""
        if not entry.turned or term.args[0].form != "transpose":
            return parts, entry
        before, _, after = self.language.forms["transpose"].text.partition("{0}")
        text = parts["0"][0]
        if not (text.startswith(before) and text.endswith(after)):
            return parts, entry
        inner = text[len(before) : len(text) - len(after)]
        if not is_simple(inner):
            return parts, entry
        return parts | {"0": atom(inner)}, replace(entry, text=entry.turned, tight="")

    def number(self, index: int) -> str:
        """Return an index counted as the language counts."""
        return str(index + int(self.language.table["first"]))

    def size(self, size: Size) -> str:
        """Return a size as an expression of the names of sizes here."""
        known = size.substitute({f"{UNKNOWN}{label}": length for label, length in self.lengths.items()})
        if any(name.startswith(UNKNOWN) for name in known.names):
            raise NotSupported("an index whose length follows only from its context has no plain source")
        return size_text(self.language, known, self.names)


def atom(text: str) -> Written:
    return text, "atom"


def entry_of(language: Language, term: Term) -> tuple[Entry, Sequence[str]]:
    """Return how an operation is written, and the names of the helper functions that it needs.

    Raises: NotSupported for an operation that neither the table nor the rulebook's values write.
    """
    call: Call = term.data
    helpers: Sequence[str] = ()
    entries = (
        _of_number(language, term) or _of_fact(language, term) or language.calls.get(f"{call.name}/{len(term.args)}")
    )
    if entries is None and len(term.args) <= _fixed(call):
        entries = language.calls.get(call.name)
    if entries is not None:
        entry = entries[min(call.index, len(entries) - 1)]
    elif language.table.get("values"):
        entry, helpers = value_entry(call.rule, call.index, len(term.args))
    else:
        raise NotSupported(f"plain {language.table['language']} has no {call.name}")
    if call.axis is not None and not entry.along:
        raise NotSupported(f"plain {language.table['language']} has no {call.name} along an axis")
    entry = fitted(entry, ranks_of(term), call.axis)
    if not entry.text:
        raise NotSupported(f"plain {language.table['language']} has no {call.name} along an axis of a tensor")
    if _of_number(language, term) is None:
        _check_operands(language, term, entry)
    return entry, helpers


def _of_number(language: Language, term: Term) -> tuple[Entry, ...] | None:
    """Return the entry of an operation whose first operand is a certain number."""
    first = term.args[0] if term.args else term
    return language.calls.get(f"{term.data.name}({first.data})") if first.form == "number" else None


def _of_fact(language: Language, term: Term) -> tuple[Entry, ...] | None:
    """Return the entry of an operation for a matrix with a fact."""
    facts = sorted(term.args[0].facts) if len(term.args) == 1 else []
    return next((found for fact in facts if (found := language.calls.get(f"{term.data.name} {fact}"))), None)


def _check_operands(language: Language, term: Term, entry: Entry) -> None:
    """Raise NotSupported for a template that leaves out an operand."""
    slots = {found[1] for found in SLOT.finditer(entry.text) if found[1].isdigit()}
    if slots and any(str(k) not in slots for k in range(len(term.args))):
        raise NotSupported(f"plain {language.table['language']} has no {term.data.name} with {len(term.args)} operands")


def _fixed(call: Call) -> int:
    """Return the number of operands without repeated ones, the tangents of a function of matrices."""
    parameters = call.rule.signatures[min(call.index, len(call.rule.signatures) - 1)].parameters
    return sum(not p.repeated for p in parameters)


def repeats(language: Language, term: Term) -> Mapping[int, int]:
    """Return how often the text of a term writes each operand, where that is more than once."""
    if term.form in ("call", "joint"):
        text = entry_of(language, term)[0].text
    elif term.form == "sum_of_squares" and term.data == 1 and "sum_of_squares_1" in language.forms:
        text = language.forms["sum_of_squares_1"].text
    else:
        return {}
    counts: dict[int, int] = {}
    for found in SLOT.finditer(text):
        if found[1].isdigit():
            counts[int(found[1])] = counts.get(int(found[1]), 0) + 1
    return counts


def number_text(value: Fraction) -> Written:
    """Return a number as text: an integer, a decimal or a quotient."""
    if value.denominator == 1:
        text = str(value.numerator)
    else:
        text = repr(float(value))
        if Fraction(text) != value:
            return f"{value.numerator} / {value.denominator}", "product"
    return text, "product" if value < 0 else "atom"


def sum_pieces(speller: Speller, term: Term, operands: Sequence[Written]) -> list[str]:
    """Return the terms of a sum, each with its sign; the first without a plus."""
    language = speller.language
    made: list[str] = []
    for sign, (text, level) in zip(term.data, operands, strict=True):
        inner = text if language.fits(level, language.table["term"] if made else "sum") else f"({text})"
        if not made:
            made.append(inner if sign > 0 else speller.render(language.entry("neg").text, {"0": (text, level)}))
        elif inner.startswith("-") and level != "atom" and re.match(r"-[\w.]", inner):
            made.append(f"{'-' if sign > 0 else '+'} {inner[1:]}")
        else:
            inner = f"({inner})" if inner.startswith("-") else inner
            made.append(f"{'+' if sign > 0 else '-'} {inner}")
    return made


def _sum(speller: Speller, term: Term, operands: Sequence[Written]) -> Written:
    return " ".join(sum_pieces(speller, term, operands)), "sum"


def _name(speller: Speller, term: Term, operands: Sequence[Written]) -> Written:
    return atom(speller.names[term.data])


def _number(speller: Speller, term: Term, operands: Sequence[Written]) -> Written:
    return number_text(term.data)


def _item(speller: Speller, term: Term, operands: Sequence[Written]) -> Written:
    return speller.render(
        speller.language.entry("item").text, {"0": operands[0], "k": atom(speller.number(term.data))}
    ), "atom"


def _expand(speller: Speller, term: Term, operands: Sequence[Written]) -> Written:
    """Write a term with new axes of length 1; leading ones are left out, since NumPy adds them."""
    words = speller.language.table["forms"]["expand"]
    if "new" not in words:
        return _with_sizes(speller, term, operands)
    axes = ", ".join(words["kept"] if kept else words["new"] for kept in term.data)
    return speller.render(words["text"], {"0": operands[0], "axes": atom(axes)}), "atom"


def _with_sizes(speller: Speller, term: Term, operands: Sequence[Written]) -> Written:
    """Write a term with new axes by all its sizes: 1 for a new axis."""
    own = iter(term.shape)
    sizes = ", ".join(speller.size(next(own)) if kept else "1" for kept in term.data)
    return speller.render(speller.language.entry("expand").text, {"0": operands[0], "sizes": atom(sizes)}), "atom"


def _spread(speller: Speller, term: Term, operands: Sequence[Written]) -> Written:
    """Write a term that is repeated along the axes that it lacks: `data` tells which ones it has."""
    has = [axis for axis, kept in enumerate(term.data) if kept]
    order = has + [axis for axis, kept in enumerate(term.data) if not kept]
    sizes = ", ".join(speller.size(term.shape[axis]) for axis in order)
    axes = ", ".join(speller.number(order.index(axis)) for axis in range(len(order)))
    parts = {"0": operands[0], "sizes": atom(sizes), "axes": atom(axes)}
    return speller.render(speller.language.entry("spread").text, parts), "atom"


def _permute(speller: Speller, term: Term, operands: Sequence[Written]) -> Written:
    axes = ", ".join(speller.number(axis) for axis in term.data)
    return speller.render(speller.language.entry("permute").text, {"0": operands[0], "axes": atom(axes)}), "atom"


def _part(speller: Speller, term: Term, operands: Sequence[Written]) -> Written:
    words = speller.language.table["forms"]["part"]
    if "matrix" in words:
        return part_text(speller.language, term, operands, speller.size)

    def bound(position: int, end: bool = False) -> str:
        return operands[position][0] if position else ""

    written: list[str] = []
    for spec in term.data:
        if spec[0] == "all":
            written.append(words["all"])
        elif spec[0] == "range":
            start, stop, step = spec[1:]
            if step and "stepped" not in words:
                raise NotSupported(f"plain {speller.language.table['language']} has no part with a step")
            template = words["stepped"] if step else words["range"]
            parts = {"low": atom(bound(start)), "high": atom(bound(stop)), "by": atom(bound(step))}
            written.append(speller.render(template, parts))
        elif "index" in words and term.args[spec[1]].form == "index":
            written.append(str(words["index"]).replace("{length}", speller.size(term.args[spec[1]].shape[0])))
        else:
            written.append(bound(spec[1]))
    while len(written) > 1 and written[-1] == words["all"] and words.get("trailing", True) is True:
        written.pop()
    return speller.render(words["text"], {"0": operands[0], "subscripts": atom(", ".join(written))}), "atom"


def _einsum(speller: Speller, term: Term, operands: Sequence[Written]) -> Written:
    inner, out = term.data
    spec = ",".join("".join(LETTERS[label] for label in at) for at in inner)
    spec += "->" + "".join(LETTERS[label] for label in out)
    is_sum = {label for at in inner for label in at} != set(out) and max(map(len, inner)) > 2
    entry = speller.language.entry("einsum_path" if len(operands) > 2 or (len(operands) == 2 and is_sum) else "einsum")
    parts = {"spec": atom(spec), "operands": atom(", ".join(text for text, _ in operands))}
    return speller.render(entry.text, parts), entry.level


def _indicator(speller: Speller, term: Term, operands: Sequence[Written]) -> Written:
    entry = speller.language.entry(term.form)
    relation = speller.language.table.get("relations", {}).get(term.data, term.data)
    parts = {str(k): operand for k, operand in enumerate(operands)} | {"relation": atom(relation)}
    return speller.render(entry.text, parts), entry.level


def _index(speller: Speller, term: Term, operands: Sequence[Written]) -> Written:
    if term.data not in speller.lengths:
        raise NotSupported("an index whose length follows only from its context has no plain source")
    length = speller.lengths[term.data]
    parts = {"length": atom(speller.size(length)), "last": atom(speller.size(length - 1))}
    return speller.render(speller.language.entry("index").text, parts), "atom"


def _parameter(speller: Speller, term: Term, operands: Sequence[Written]) -> Written:
    return atom(str(term.data))


def _function(speller: Speller, term: Term, operands: Sequence[Written]) -> Written:
    """Write a function argument: by its name alone if the body is a call of it."""
    body, parameter = operands[0][0], str(term.data)
    if body.endswith(f"({parameter})") and is_simple(name := body[: -len(parameter) - 2]):
        return atom(entry.tight.replace("{0}", name) if (entry := speller.language.entry("function")).tight else name)
    parts = {"parameter": atom(parameter), "body": atom(body)}
    entry = speller.language.entry("function")
    return speller.render(entry.text, parts), entry.level


def _vectorized(speller: Speller, term: Term, operands: Sequence[Written]) -> Written:
    entry = speller.language.entry("vectorized")
    return speller.render(entry.text, _vectorized_parts(term, operands)), entry.level


def _vectorized_parts(term: Term, operands: Sequence[Written]) -> Mapping[str, Written]:
    inside = ", ".join(text for text, _ in operands[1:])
    return {"0": operands[0], "signature": atom(term.data), "operands": atom(inside)}


def long_lines(speller: Speller, term: Term, operands: Sequence[Written]) -> list[str] | None:
    """Return the text of a term on several lines, if the table has that for it."""
    lines = speller.language.table["forms"].get(term.form, {})
    if term.form != "vectorized" or "long" not in lines:
        return None
    return [speller.render(line, _vectorized_parts(term, operands)) for line in lines["long"]]


def _length(speller: Speller, term: Term, operands: Sequence[Written]) -> Written:
    text = speller.size(term.data)
    return text, "atom" if is_simple(text) else "sum"


def _listed(speller: Speller, term: Term, operands: Sequence[Written]) -> Written:
    words = speller.language.table["forms"][term.form]
    between = ", " if isinstance(words, str) else words.get("separator", ", ")
    inner = between.join(text for text, _ in operands)
    return speller.render(speller.language.entry(term.form).text, {"operands": atom(inner)}), "atom"


def _rows(speller: Speller, term: Term, operands: Sequence[Written]) -> Written:
    words: Mapping[str, Any] = speller.language.table["forms"][term.form]
    rest = iter(operands)
    rows = [words["opening"] + ", ".join(next(rest)[0] for _ in range(width)) + words["closing"] for width in term.data]
    inner = words.get("separator", ", ").join(rows)
    return speller.render(words["text"], {"rows": atom(inner)}), "atom"


SPECIAL: Mapping[str, Callable[[Speller, Term, Sequence[Written]], Written]] = {
    "add": _sum,
    "name": _name,
    "size": _name,
    "number": _number,
    "item": _item,
    "expand": _expand,
    "permute": _permute,
    "part": _part,
    "einsum": _einsum,
    "indicator": _indicator,
    "compare": _indicator,
    "spread": _spread,
    "index": _index,
    "length": _length,
    "parameter": _parameter,
    "function": _function,
    "vectorized": _vectorized,
    "vector": _listed,
    "concatenate": _listed,
    "array": _rows,
    "block": _rows,
}
