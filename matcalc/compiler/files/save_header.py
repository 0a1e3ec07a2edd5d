"""Writes the docstring of a saved file: the input, every formula in text and LaTeX, the symbols, the licence."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from matcalc.compiler.spec.module_text import INDENT
from matcalc.compiler.spec.spec import CompiledSpec, size_names
from matcalc.language.identifiers import docstring
from matcalc.tensor.sizes.sizes_from_shapes import described

WIDTH = 116
NOTICE = """\
Written by matcalc{version}. This file is yours: use, change and redistribute it under any terms.
It is provided as is, without warranty of any kind."""


def header_text(specs: Sequence[CompiledSpec], given: str, arrays: str) -> str:
    """Return the docstring of a file; `arrays` is the sentence about the arrays that its functions take."""
    names = ", ".join(spec.name for spec in specs)
    formulas = {f.name: f for spec in specs for f in spec.formulas}.values()
    lines = [f"{names}: compiled matrix formulas.", ""]
    lines += ["Input", *_wrapped(given), ""] if given else []
    if formulas:
        lines += ["Formulas", *(line for f in formulas for line in _wrapped(f"{f.name} = {f.text}")), ""]
        lines += ["In LaTeX", *(line for f in formulas if f.latex for line in _wrapped(f"{f.name} = {f.latex}")), ""]
    rows = {a.name: (a.declared, a.about) for spec in specs for a in spec.arguments}
    rows |= {n: (f"{n}: size", "") for spec in specs for n in size_names(spec) if n not in rows}
    for spec in specs:
        rows |= {o.name: (described(o.name, o.shape), o.about or f"result of {spec.name}") for o in spec.outputs}
    width = max(len(left) for left, _ in rows.values())
    lines += ["Symbols", *(f"{INDENT}{left:<{width}}  {about}".rstrip() for left, about in rows.values()), ""]
    declared = "; ".join(dict.fromkeys(word for spec in specs for word in spec.declarations.split("; ") if word))
    lines += ["Declared", *_wrapped(declared), ""] if declared else []
    work = [line for spec in specs if spec.work for line in _wrapped(f"{spec.name}: {spec.work}")]
    lines += ["Work", *work, ""] if work else []
    lines += [f"{arrays} Run the file to test it.", ""]
    version = next((spec.version for spec in specs if spec.version), "")
    lines += NOTICE.format(version=f" {version}" if version else "").splitlines()
    return "\n".join(docstring(lines))


def _wrapped(text: str) -> list[str]:
    """Return text as indented lines, broken only at spaces."""
    if not text.isprintable() or len(text) < WIDTH - 24:
        return [INDENT + line for line in text.splitlines()]
    room = WIDTH - 24  # a docstring doubles the backslashes of LaTeX
    wrapped = textwrap.wrap(text, room, break_long_words=False, break_on_hyphens=False)
    return [INDENT + line for line in [wrapped[0], *(INDENT + line for line in wrapped[1:])]]
