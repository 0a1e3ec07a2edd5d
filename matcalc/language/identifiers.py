"""Validates names, spells them in generated code, and embeds other text in sources.

The decision: text becomes code in one of three forms, all defined here. A name (of a symbol, size, index or function)
is an identifier of bounded length, NFKC-normalised as Python compares it; other names are rejected. Generated code
spells it the same unless that is in use (a keyword, a builtin, a name of the surrounding text); then underscores are
added. All other text becomes a docstring, a comment or a literal, which it cannot terminate.
"""

from __future__ import annotations

import builtins
import keyword
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, count
from typing import Any
from unicodedata import normalize

from matcalc.errors import ParseError

MAX_BYTES = 150
"""The most bytes of a name in UTF-8: names of cache files contain those of functions, and file systems allow 255."""

MAX_FILE_BYTES = 255

WORDS = frozenset({*keyword.kwlist, *dir(builtins)}) - {"_"}  # an interactive session adds it to builtins
"""Names that variables of generated code must not have."""

DUNDER = re.compile(r"__\w+__\Z")


def identifier(text: Any, what: str) -> str:
    """Return a name in the form that Python compares; `what` is the user's argument for it, as errors show it.

    Raises: ParseError if it is not an identifier, or longer than MAX_BYTES.

    Example:
        >>> identifier("ﬁt", "name=")
        'fit'
    """
    name = normalised(text) if isinstance(text, str) and len(text) <= MAX_BYTES else text
    if not isinstance(text, str) or not text.isidentifier() or not str(name).isidentifier():
        hint = "a name consists of letters, digits and _, and does not begin with a digit"
        raise ParseError(f"{what} {shown(text)} is not a name", hint=hint)
    return bounded(str(name), what)


def bounded(name: str, what: str = "the name") -> str:
    """Return a name if it is short enough.

    Raises: ParseError.
    """
    if len(name.encode()) > MAX_BYTES:
        raise ParseError(f"{what} {shown(name)} is too long for a name: at most {MAX_BYTES} bytes")
    return name


def normalised(text: str) -> str:
    """Return a name in the form that Python compares, for looking it up."""
    return text if text.isascii() else normalize("NFKC", text)


def file_path(path: str | os.PathLike[str]) -> str:
    """Return the path of a file with printable characters; a folder's path is rejected.

    Raises: ParseError.
    """
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"a path is text, not {shown(path)}")
    text = os.fspath(path)
    name = text if isinstance(text, str) else ""
    last = re.split(r"[/\\]" if os.name == "nt" else "/", name)[-1]
    if last in ("", ".", "..") or "\0" in name or not last.isprintable() or len(last.encode()) > MAX_FILE_BYTES:
        raise ParseError(f"{shown(text)} is not the path of a file")
    return name


def is_one_of(word: Any, words: Iterable[str]) -> bool:
    """Return whether an option is one of a few words."""
    return isinstance(word, str) and word in words


def by_name(values: Any, what: str) -> Mapping[Any, Any]:
    """Return values that are passed by name.

    Raises: TypeError.
    """
    if not isinstance(values, Mapping):
        raise TypeError(f"{what} takes a dictionary by name, not {shown(values)}")
    return values


def shown(text: Any) -> str:
    """Return text in the form that messages show: escaped, and shortened if it is long."""
    quoted = repr(text)
    return quoted if len(quoted) <= 60 else f"{quoted[:40]}..."


def near(word: str, known: Iterable[str]) -> list[str]:
    """Return the known words at most one slip away: a letter more, less or different, two swapped, another case.

    Two slips are allowed from six letters on. Only the nearest words are returned, and none if there are more than 3.
    """
    most = 0 if len(word) < 2 else 1 if len(word) < 6 else 2
    far = {name: _slips(word.lower(), name.lower(), most) for name in known if abs(len(name) - len(word)) <= most}
    least = min(far.values(), default=most + 1)
    found = [name for name, slips in far.items() if slips == least <= most]
    return found if len(found) <= 3 else []


def nearest(word: str, known: Iterable[str]) -> str:
    """Return "; did you mean ...?" with the nearest known names, or ""."""
    found = near(word, known)
    return f"; did you mean {' or '.join(found)}?" if found else ""


def _slips(word: str, name: str, most: int) -> int:
    """Return the number of slips between two words; more than `most` if there are more."""
    before, last = [most + 1] * (len(name) + 1), list(range(len(name) + 1))
    for i, letter in enumerate(word, 1):
        row = [i]
        for j, other in enumerate(name, 1):
            row.append(min(last[j] + 1, row[-1] + 1, last[j - 1] + (letter != other)))
            if i > 1 and j > 1 and letter == name[j - 2] and word[i - 2] == other:
                row[j] = min(row[j], before[j - 2] + 1)
        if min(row) > most:
            return most + 1
        before, last = last, row
    return last[-1]


def free(name: str, taken: set[str]) -> str:
    """Return a name with enough underscores to differ from `taken`, and add it there."""
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def supply(letters: Sequence[str], taken: Collection[str]) -> Iterator[str]:
    """Yield names that are not taken: letters, then letters with a number."""
    for suffix in chain([""], map(str, count(1))):
        yield from (name for letter in letters if (name := letter + suffix) not in taken)


def docstring(lines: Iterable[str], indent: str = "") -> list[str]:
    """Return the lines of a docstring, one for each line of text, whatever the text contains."""
    body = [_plain(line).replace("\\", "\\\\").replace('"""', "'''") for line in lines]
    if len(body) == 1 and not body[0].endswith('"'):
        return [f'{indent}"""{body[0]}"""']
    return [f'{indent}"""{body[0]}', *(f"{indent}{line}" if line else "" for line in body[1:]), f'{indent}"""']


def comment(text: str) -> str:
    """Return text as one line that is safe in a comment."""
    return _plain(" ".join(text.split()))


def literal(text: str) -> str:
    """Return a string literal in double quotes, of printable characters."""
    return '"' + _plain(text.replace("\\", "\\\\").replace('"', '\\"')) + '"'


def _plain(text: str) -> str:
    """Return text with line ends, control characters and other unprintable characters escaped."""
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
