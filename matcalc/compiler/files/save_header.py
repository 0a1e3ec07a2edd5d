"""Writes the docstring of a saved file: the input, every formula in text and LaTeX, the symbols, the licence."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from matcalc.compiler.spec.module_text import INDENT
from matcalc.compiler.spec.spec import CompiledSpec, Formula, size_names
from matcalc.language.identifiers import docstring
from matcalc.tensor.sizes.sizes_from_shapes import described

WIDTH = 116
NOTICE = """\
Written by matcalc{version}. This file is yours: use, change and redistribute it under any terms.
It is provided as is, without warranty of any kind."""


SCREEN = 50
"""The most lines of a docstring with all formulas; a longer one has their beginnings, and the file ends with them."""


def header_text(specs: Sequence[CompiledSpec], given: str, arrays: str) -> str:
    """Return the docstring of a file; `arrays` is the sentence about the arrays that its functions take."""
    lines = _header(specs, given, arrays, _in_full(specs), with_results=True)
    if len(lines) > SCREEN:
        begun = [INDENT + shorten(f"{f.name} = {f.text}", WIDTH - 24) for f in _formulas(specs)]
        begun = ["Formulas, in full and in LaTeX at the end of the file", *begun, ""]
        lines = _header(specs, shorten(given, 4 * WIDTH), arrays, begun, with_results=False)
    return "\n".join(docstring(lines))


def formulas_at_end(specs: Sequence[CompiledSpec], given: str) -> list[str]:
    """Return the lines of the formulas that the docstring abbreviates; none if it has them."""
    whole = _in_full(specs)
    return whole[:-1] if len(_header(specs, given, "", whole, with_results=True)) > SCREEN else []


def comment_at_end(specs: Sequence[CompiledSpec], given: str) -> str:
    """Return the Python comment with the formulas that the docstring abbreviates; "" if it has them."""
    lines = formulas_at_end(specs, given)
    return "".join(f"# {line}".rstrip() + "\n" for line in ["", *lines]).replace("#\n", "\n\n", 1) if lines else ""


def shorten(text: str, room: int) -> str:
    """Return a text with its end cut off if it is longer than `room`."""
    return text if len(text) <= room else f"{text[: room - 4]} ..."


def _formulas(specs: Sequence[CompiledSpec]) -> list[Formula]:
    return list({f.name: f for spec in specs for f in spec.formulas}.values())


def _in_full(specs: Sequence[CompiledSpec]) -> list[str]:
    formulas = _formulas(specs)
    if not formulas:
        return []
    texts = [line for f in formulas for line in _wrapped(f"{f.name} = {f.text}")]
    latex = [line for f in formulas if f.latex for line in _wrapped(f"{f.name} = {f.latex}")]
    return ["Formulas", *texts, "", "In LaTeX", *latex, ""]


def _header(
    specs: Sequence[CompiledSpec], given: str, arrays: str, formulas: Sequence[str], with_results: bool
) -> list[str]:
    """Return the lines of a docstring with these lines about formulas, with a row for each result or without."""
    names = ", ".join(spec.name for spec in specs)
    lines = [f"{names}: compiled matrix formulas.", ""]
    lines += ["Input", *_wrapped(given), ""] if given else []
    lines += formulas
    rows = {a.name: (a.declared, a.about) for spec in specs for a in spec.arguments}
    rows |= {n: (f"{n}: size", "") for spec in specs for n in size_names(spec) if n not in rows}
    for spec in specs if with_results else ():
        rows |= {o.name: (described(o.name, o.shape), o.about or f"result of {spec.name}") for o in spec.outputs}
    width = max((len(left) for left, _ in rows.values()), default=0)
    lines += ["Symbols", *(f"{INDENT}{left:<{width}}  {about}".rstrip() for left, about in rows.values()), ""]
    declared = "; ".join(dict.fromkeys(word for spec in specs for word in spec.declarations.split("; ") if word))
    lines += ["Declared", *_wrapped(declared), ""] if declared else []
    work = [line for spec in specs if spec.work for line in _wrapped(f"{spec.name}: {spec.work}")]
    lines += ["Work", *work, ""] if work else []
    lines += [f"{arrays} Run the file to test it.", ""]
    version = next((spec.version for spec in specs if spec.version), "")
    return [*lines, *NOTICE.format(version=f" {version}" if version else "").splitlines()]


def _wrapped(text: str) -> list[str]:
    """Return text as indented lines, broken only at spaces."""
    if not text.isprintable() or len(text) < WIDTH - 24:
        return [INDENT + line for line in text.splitlines()]
    room = WIDTH - 24  # a docstring doubles the backslashes of LaTeX
    wrapped = textwrap.wrap(text, room, break_long_words=False, break_on_hyphens=False)
    return [INDENT + line for line in [wrapped[0], *(INDENT + line for line in wrapped[1:])]]
