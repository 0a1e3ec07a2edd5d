r"""Finds prose and names of functions in plain letters, `loss` and `log x`, products of letters in LaTeX."""

from __future__ import annotations

import re

from matcalc.errors import ParseError
from matcalc.language.latex.definitions.statements import EQUAL
from matcalc.language.latex.latex_scope import Reading, key_of
from matcalc.language.latex.layout.latex_patterns import without_top
from matcalc.language.latex.names_in_lines import used
from matcalc.language.latex.passages.passage import Passage

_WORD = re.compile(r"(?<![\\A-Za-z])[A-Za-z][a-z]{2,}(?![A-Za-z])")
_HIDDEN = re.compile(
    r"\\(begin|end|text\w*|mbox|operatorname\*?|math\w+|label|tag|bm|boldsymbol|pmb)\*?\s*\{[^{}]*\}|%[^\n]*|_\{[^{}]*\}"
)
"""LaTeX that may contain words, and subscripts."""
_ABOVE = re.compile(r"\^\s*\{\s*[A-Za-z]+\s*\}")
_PLAIN = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{2,}(?![A-Za-z])")


def check_plain_words(reading: Reading, passage: Passage) -> None:
    """Raise ParseError for words in plain letters, names of functions or prose."""
    hidden = _HIDDEN.sub(lambda found: " " * len(found[0]), _without_labels_above(reading, passage))
    for found in _PLAIN.finditer(hidden):
        word = found[0]
        letters = [(letter,) in reading.keys for letter in word]
        if all(letters):
            continue
        pattern = re.compile(
            rf"({'|'.join(sorted(map(re.escape, reading.names.words), key=len, reverse=True))})(?![a-z])"
        )
        function = pattern.match(word)
        if function:
            name = function[1]
            command = rf"\{name}" if name in reading.names.commands else rf"\operatorname{{{name}}}"
            hint = f"write {command} for the function"
            raise ParseError(f"'{name}' is set as a product of letters", at=found.start(), hint=hint)
        if (word,) in reading.keys or reading.is_known(word):
            hint = rf"write \mathit{{{word}}} for the symbol"
            raise ParseError(f"'{word}' is set as a product of letters", at=found.start(), hint=hint)
        if _WORD.fullmatch(word) and (len(word) > 3 or not any(letters)):
            hint = "a formula contains no words; letters side by side are a product: declare or space them"
            raise ParseError(f"'{word}' is a word", at=found.start(), hint=hint)


def _without_labels_above(reading: Reading, passage: Passage) -> str:
    r"""Return the text of a passage without the words above names that only name a formula, L^{sup} = ..."""
    text = passage.shown
    every = [one for line in (*passage.lines, *passage.aside, *passage.constraints) for one in line]
    for line in (one for one in every if one.head == "relation" and one.value[0] in EQUAL):  # type: ignore[index]
        side = line.args[0].args[0] if line.args[0].head == "row" else line.args[0]
        shown, above = without_top(side)
        key = key_of(shown.args[0] if shown.head == "script" else shown)
        others = [x for one in every for x in (one.args[1:] if one is line else (one,))]
        if above and key is not None and key not in reading.keys and not any(key in used(x) for x in others):
            begin, end = side.span
            text = text[:begin] + _ABOVE.sub(lambda found: " " * len(found[0]), text[begin:end]) + text[end:]
    return text
