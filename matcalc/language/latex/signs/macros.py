r"""Expands the macros of a passage: those that it defines (`\newcommand`, `\def`), and those that papers share.

Each character of the expanded text keeps its position in the passage, so that errors and spans refer to what the user
wrote. A macro that is neither defined nor shared is left to the grammar, which knows it or rejects it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from matcalc.errors import ParseError
from matcalc.language.latex.signs.indicators import Text
from matcalc.language.latex.signs.signs import rewritten

_REMARK = re.compile(r"(?<!\\)%[^\n]*")
_MOST = 20_000
"""The most characters that macros add."""


class Macro(NamedTuple):
    """A macro: its number of arguments, its text with #1 to #9, and the default of the first one if it has one."""

    arguments: int
    body: str
    default: str | None = None


class Expanded(NamedTuple):
    """A text without macros; `origins` are the positions of its characters and its end in the passage."""

    text: str
    origins: tuple[int, ...]


_SHARED: Mapping[str, Macro] = {
    "norm": Macro(1, r"\left\|#1\right\|"),
    "abs": Macro(1, r"\left|#1\right|"),
    "mathop": Macro(1, "#1"),
    "underset": Macro(2, "#2_{#1}"),
    "ensuremath": Macro(1, "#1"),
}
"""Macros that packages or most papers define alike; they are expanded only before a brace or a bracket."""
_SIZED = re.compile(r"\s*\[\s*\\[bB]igg?[lrm]?\s*\]")
"""The size of bars in front of an argument, \\norm[\\big]{x}."""

_DEFINING = re.compile(
    r"\\(newcommand|renewcommand|providecommand|def|DeclareMathOperator|DeclarePairedDelimiter)\b\*?"
)
_NAME = re.compile(r"\s*(?:\{\s*\\([A-Za-z]+)\s*\}|\\([A-Za-z]+))")
_WORD = re.compile(r"\\([A-Za-z]+)\*?|\\.|%[^\n]*", re.DOTALL)
_EXTREMES = "|".join(("arg(?:\\\\[,;! ]|~|\\s)*", ""))
_EXTREME = re.compile(
    rf"\\(?:operatorname\*?|text|textrm|mathrm|mathop)\s*\{{\s*(?:\\(?:rm|text|mathrm|operatorname)\s*)?"
    rf"({_EXTREMES})(min|max)(?:imi[sz]e)?\s*\}}(?=\s*(?:\}}|_|\\limits|\\nolimits))"
)
r"""Upright words for a minimum or maximum, `\operatorname*{arg\,min}_w`."""

_ANY = "|".join((_DEFINING.pattern, rf"\\(?:{'|'.join(_SHARED)})(?![A-Za-z])", _EXTREME.pattern))


@lru_cache(maxsize=512)
def expanded(text: str, with_ranges: bool = False) -> Expanded:
    r"""Return a passage without definitions, with its macros replaced, `with_ranges` of indices at the ends of lines.

    Raises: ParseError with the position, for a definition or an argument that is cut off and for endless macros.

    Example:
        >>> expanded(r"\newcommand{\x}{\mathbf{x}} \x^\top \x").text.strip()
        '\\mathbf{x}^\\top \\mathbf{x}'
    """
    text = _REMARK.sub(lambda found: " " * len(found[0]), text)
    plain = rewritten([(c, i) for i, c in enumerate(text)], with_ranges)
    if not re.search(_ANY, text):
        return _with_origins(plain, text)
    macros: dict[str, Macro] = {}
    kept: list[tuple[str, int]] = []
    begin = 0
    for found in _DEFINING.finditer(text):
        if found.start() < begin:
            continue
        kept += [(c, i) for i, c in enumerate(text[begin : found.start()], begin)]
        name, macro, begin = _definition(text, found)
        macros[name] = macro
    kept += [(c, i) for i, c in enumerate(text[begin:], begin)]
    return _with_origins(rewritten(_replaced(kept, macros), with_ranges), text)


def _with_origins(made: Text, text: str) -> Expanded:
    return Expanded("".join(c for c, _ in made), (*(i for _, i in made), len(text)))


def _definition(text: str, found: re.Match[str]) -> tuple[str, Macro, int]:
    """Return the name of a macro, its meaning, and the position after its definition."""
    named = _NAME.match(text, found.end())
    if named is None:
        raise ParseError(f"\\{found[1]} without the name of a macro", text=text, at=found.start())
    name = named[1] or named[2]
    at = named.end()
    if found[1] == "DeclareMathOperator":
        body, at = _group(text, at, found)
        return name, Macro(0, rf"\operatorname{{{body}}}"), at
    if found[1] == "DeclarePairedDelimiter":
        opening, at = _group(text, at, found)
        closing, at = _group(text, at, found)
        return name, Macro(1, rf"\left{opening}#1\right{closing}"), at
    pattern = r"\s*(?:#\d)*" if found[1] == "def" else r"\s*(?:\[(\d)\])?\s*(?:\[([^\]]*)\])?"
    form = re.compile(pattern).match(text, at)
    assert form is not None
    count = form[0].count("#") if found[1] == "def" else int(form[1] or 0)
    body, at = _group(text, form.end(), found)
    return name, Macro(count, body, None if found[1] == "def" else form[2]), at


def _group(text: str, at: int, found: re.Match[str]) -> tuple[str, int]:
    """Return the content of the braces at a position, and the position after them."""
    start = at + len(text[at:]) - len(text[at:].lstrip())
    end = _closing([(c, 0) for c in text], start) if text[start : start + 1] == "{" else -1
    if end < 0:
        hint = r"a macro is defined as \newcommand{\x}[1]{\mathbf{#1}} or \def\x#1{\mathbf{#1}}"
        raise ParseError(f"\\{found[1]} is cut off", text=text, at=found.start(), hint=hint)
    return text[start + 1 : end], end + 1


def _closing(text: Text, start: int) -> int:
    """Return the position of the brace that closes the one at `start`; -1 if none does."""
    depth = 0
    k = start
    while k < len(text):
        if text[k][0] == "\\":
            k += 2
            continue
        depth += {"{": 1, "}": -1}.get(text[k][0], 0)
        if not depth:
            return k
        k += 1
    return -1


def _replaced(text: Text, macros: Mapping[str, Macro]) -> Text:
    """Return a text with all macros replaced, also those inside replacements."""
    done: Text = []
    most = len(text) + _MOST
    grown = 0
    while text:
        plain = "".join(c for c, _ in text)
        found = next((m for m in _WORD.finditer(plain) if _is_macro(m, plain, macros)), None)
        extreme = _EXTREME.search(plain)
        if extreme and (found is None or extreme.start() < found.start()):
            word = r"\arg\min" if extreme[1] else r"\min"
            put = [(c, text[extreme.start()][1]) for c in word[:-3] + extreme[2]]
            text = [*text[: extreme.start()], *put, *text[extreme.end() :]]
            continue
        if found is None:
            return [*done, *text]
        done += text[: found.start()]
        macro = macros.get(found[1]) or _SHARED[found[1]]
        text = _applied(macro, text, found)
        grown += len(macro.body)
        if grown > _MOST or len(done) + len(text) > most:
            raise ParseError(f"the macro \\{found[1]} calls itself, or is too long", at=text[0][1] if text else 0)
    return done


def _is_macro(found: re.Match[str], text: str, macros: Mapping[str, Macro]) -> bool:
    if found[1] in macros:
        return True
    return found[1] in _SHARED and text[found.end() :].lstrip()[:1] in ("{", "[")


def _applied(macro: Macro, text: Text, found: re.Match[str]) -> Text:
    """Return the text from a macro's name on, with the name and its arguments replaced by its body."""
    origin = text[found.start()][1]
    # The name may end in a star: \norm*{x} sets larger bars.
    rest = text[found.end() :]
    arguments: list[Text] = []
    if macro.default is not None:
        written = re.match(r"\s*\[([^\]]*)\]", "".join(c for c, _ in rest))
        arguments.append(rest[written.start(1) : written.end(1)] if written else [(c, origin) for c in macro.default])
        rest = rest[written.end() :] if written else rest
    elif macro.arguments and (size := _SIZED.match("".join(c for c, _ in rest))):
        rest = rest[size.end() :]
    while len(arguments) < macro.arguments:
        argument, rest = _argument(rest, found, origin)
        arguments.append(argument)
    made: Text = []
    for piece in re.split(r"(#\d)", macro.body):
        if re.fullmatch(r"#\d", piece):
            if int(piece[1]) > len(arguments):
                raise ParseError(f"{piece} in \\{found[1]} is not one of its arguments", at=origin)
            made += arguments[int(piece[1]) - 1]
        else:
            made += [(c, origin) for c in piece]
    ends_in_word = re.search(r"\\[A-Za-z]+\Z", "".join(c for c, _ in made))
    if ends_in_word and rest and rest[0][0].isalpha():
        made.append((" ", origin))
    return made + rest


def _argument(text: Text, found: re.Match[str], origin: int) -> tuple[Text, Text]:
    """Return the argument at the beginning of a text, a group or one sign, and the rest."""
    start = next((k for k, (c, _) in enumerate(text) if not c.isspace()), len(text))
    if start == len(text):
        raise ParseError(f"\\{found[1]} without its argument", at=origin)
    if text[start][0] == "[":
        hint = rf"write \{found[1]}{{x}}, with the order of a norm as a subscript"
        raise ParseError(f"\\{found[1]} with an argument in brackets is not known", at=text[start][1], hint=hint)
    if text[start][0] == "{":
        end = _closing(text, start)
        if end < 0:
            raise ParseError("'{' is never closed", at=text[start][1])
        return text[start + 1 : end], text[end + 1 :]
    command = re.match(r"\\(?:[A-Za-z]+|.)|.", "".join(c for c, _ in text[start : start + 40]), re.DOTALL)
    assert command is not None
    return text[start : start + command.end()], text[start + command.end() :]
