"""Lays out a function by the table of its language: its head, its result, the order of it and its helper functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matcalc.errors import NotSupported
from matcalc.plain_source.language import Language, filled
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.sizes.size import Size


def head(words: Language, name: str, arguments: str, results: Sequence[str]) -> str:
    """Return the first line of a function; it lists the results in a language whose results have names."""
    listed = results[0] if len(results) == 1 else f"[{', '.join(results)}]"
    return filled(words.table["function"]["head"], {"name": name, "arguments": arguments, "results": listed})


def result(words: Language, labels: Sequence[str], results: Sequence[str]) -> list[str]:
    """Return the statement that returns the results, if the language has one."""
    key = "result_of_one" if len(results) == 1 and "result_of_one" in words.table else "result"
    pairs = ", ".join(f"{label} = {text}" for label, text in zip(labels, results, strict=True))
    line = words.word(key, values=", ".join(results), pairs=pairs)
    if len(words.indent + line) <= words.width or "result_parts" not in words.table:
        return [line] if line else []
    opening, closing = words.table["result_parts"]
    parts = [f"{label} = {text}" for label, text in zip(labels, results, strict=True)]
    ends = [","] * (len(parts) - 1) + [""]
    return [opening, *(f"{words.indent}{part}{end}" for part, end in zip(parts, ends, strict=True)), closing]


def axis_of(name: str, symbols: Sequence[Node]) -> tuple[Node, int] | None:
    """Return the first axis whose length is a named size."""
    target = Size.of(name)
    return next(((s, axis) for s in symbols for axis, length in enumerate(s.shape) if length == target), None)


def size_value(words: Language, name: str, symbols: Sequence[Node], renamed: Mapping[str, str]) -> str:
    """Return the text of a named size that follows from a length such as `2*n + 1`.

    Raises: NotSupported if no axis alone gives it.
    """
    target = Size.of(name)
    for symbol in symbols:
        for axis, length in enumerate(symbol.shape):
            factor = length.substitute({name: Size.of(1)}) - length.substitute({name: Size.of(0)})
            rest = length - target * factor
            if length.names != (name,) or not factor.is_integer or not rest.is_integer:
                continue
            text = axis_text(words, renamed[symbol.name], symbol.rank, axis)
            if rest != 0:
                text += f" - {rest}" if rest.constant > 0 else f" + {-rest}"
            return text if factor == 1 else words.table["sizes"]["//"].replace("{0}", text).replace("{1}", str(factor))
    raise NotSupported(f"the size {name} follows from several arrays alone, so that it has no plain source")


def axis_text(words: Language, array: str, rank: int, axis: int) -> str:
    """Return the text of an array's size along an axis."""
    forms = words.table["sizes"]
    form = forms.get("vector" if rank == 1 else f"axis_{axis}" if rank == 2 else "one", forms["one"])
    return filled(form, {"array": array, "axis": str(axis + int(words.table["first"]))})


def joined(words: Language, functions: Sequence[Sequence[str]], helpers: Sequence[str]) -> list[str]:
    """Return the lines of functions and helper functions, in the language's order."""
    own: list[Sequence[str]] = [text.strip("\n").splitlines() for text in helpers]
    parts = [*functions, *own] if words.table["function"].get("helpers") == "after" else [*own, *functions]
    lines = list(parts[0])
    for part in parts[1:]:
        lines = [*lines, *[""] * int(words.table["function"]["gap"]), *part]
    return lines
