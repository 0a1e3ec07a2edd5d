r"""Reads entries of names in parentheses on left sides: (K_y)_{ij} = ..., and [K_{nm}]_{ij} = k(x_i, z_j).

The name inside is a label as a whole, also where its subscript has the letters of sizes. So is Q_{nn} on a left side
if its formula has these letters only in such labels: Q_{nn} = K_{nm} K_{mm}^{-1} K_{mn}.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from matcalc.language.latex.definitions.whole_names import with_letter
from matcalc.language.latex.latex_axes import elements, letters_in
from matcalc.language.latex.latex_scope import Reading, subscript_of
from matcalc.language.latex.layout.latex_layout import unbraced
from matcalc.language.latex.layout.latex_patterns import same_layout, without_top
from matcalc.language.latex.names_in_lines import whole_key
from matcalc.language.syntax import Ast, walk


def with_fenced_names(reading: Reading, lines: Sequence[Ast], signs: Collection[str]) -> list[Ast]:
    """Return lines in which names whose entries a line defines in parentheses are single letters."""
    equations = [x for x in lines if x.head == "relation" and x.value in [(sign,) for sign in signs]]
    names = [name for line in equations if len(line.args) == 2 and (name := _inside(reading, line.args[0])) is not None]
    if not names:
        return list(lines)
    labels = [*names, *_further(reading, equations, names)]
    done = [_without_fence(line, names) for line in lines]
    for name in labels:
        if name.head == "script":
            word = "_".join(str(x.value[0]) for x in walk(name) if x.head in ("letter", "word", "number"))  # type: ignore[index]
            done = [with_letter(line, name, Ast("letter", (), (f"whole_{word}", ""), name.span)) for line in done]
    return done


def _inside(reading: Reading, side: Ast) -> Ast | None:
    """Return the name in parentheses of which a left side is an entry; None for any other."""
    fence = unbraced(side.args[0]) if side.head == "script" and side.value == ("_",) else side
    below = subscript_of(side) if fence is not side else None
    if fence.head != "fence" or fence.value not in ("open", "bracket") or len(fence.args) != 1 or below is None:
        return None
    if any(x.head not in ("letter", "row") for x in elements(below)):
        return None  # [t]_+
    name = fence.args[0]
    key = whole_key(name)
    return name if key is not None and key not in reading.keys and not without_top(name)[1] else None


def _further(reading: Reading, equations: Sequence[Ast], names: Sequence[Ast]) -> list[Ast]:
    """Return further left sides with sizes as subscripts whose formulas have these only in labels."""
    found: list[Ast] = []
    waiting = [line.args[0] for line in equations if _has_sizes(reading, line.args[0])]
    formulas = {line.args[0]: line.args[1] for line in equations}
    while more := [x for x in waiting if x not in found and _is_label(formulas[x], x, [*names, *waiting])]:
        found += more
    return found


def _has_sizes(reading: Reading, side: Ast) -> bool:
    below = subscript_of(side) if side.head == "script" and side.value == ("_",) else None
    letters = letters_in(below) if below is not None else []
    return bool(letters) and {*letters} <= reading.known.sizes and whole_key(side) not in (None, *reading.keys)


def _is_label(formula: Ast, side: Ast, labels: Sequence[Ast]) -> bool:
    """Return whether the letters of a left side's subscript are in a formula only those of labels."""
    letters = {*letters_in(side.args[1])}
    scripts = [x for x in walk(formula) if x.head == "script" and subscript_of(x) is not None]
    own = [x for x in scripts if {*letters_in(x.args[1])} & letters]
    return all(any(same_layout(without_top(x)[0], label) for label in labels) for x in own)


def _without_fence(line: Ast, names: Sequence[Ast]) -> Ast:
    if line.head != "relation" or line.args[0].head != "script":
        return line
    side = line.args[0]
    inner = unbraced(side.args[0])
    if inner.head != "fence" or not any(inner.args == (name,) for name in names):
        return line
    left = Ast("script", (inner.args[0], *side.args[1:]), side.value, side.span, side.at)
    return Ast("relation", (left, *line.args[1:]), line.value, line.span, line.at)
