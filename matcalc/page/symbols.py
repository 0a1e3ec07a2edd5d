"""Lists symbols for the page: kind, sizes, facts, declared or inferred; also if the kinds do not fit."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from matcalc.errors import MatcalcError
from matcalc.expressions.expression import Expression
from matcalc.formula.notation.choose_parts import names_in
from matcalc.language.declare import FACTS, read_declarations
from matcalc.language.kinds import INDEX
from matcalc.language.read import read
from matcalc.language.write import text
from matcalc.page.questions import Question
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.symbols import declaration, marks

Record = dict[str, Any]


def symbols_of(e: Expression) -> list[Record]:
    """Return the symbols of an expression."""
    return [_record(node, node.name in e.names.undeclared) for node in e.names.ordered()]


def _record(node: Node, is_inferred: bool) -> Record:
    kind, _, sizes = declaration(node).partition(": ")[2].partition(" ")[0].partition("(")
    is_square = len(node.shape) == 2 and node.shape[0] == node.shape[1]
    return {
        "name": node.name,
        "kind": kind,
        "sizes": ", ".join(map(str, node.shape)) or sizes.rstrip(")"),
        "facts": marks(node.data[1]),
        "known": sorted(node.facts - node.data[1]),
        "may": [] if INDEX in node.data[1] else _facts(len(node.shape), is_square),
        "inferred": is_inferred,
    }


def symbols_in(request: Question, functions: Collection[str]) -> list[Record]:
    """Return the symbols of a formula that parses but does not type-check, with their declarations."""
    try:
        names = names_in(read(request.formula)) - set(functions) if request.dialect == "matrix" else set()
        declared = {d.name: d for d in read_declarations(request.declarations)}
    except MatcalcError:
        return []
    found = []
    for name in sorted(names, key=lambda name: (request.formula.find(name), name)):
        record = {"name": name, "kind": "?", "sizes": "", "facts": [], "known": [], "may": [], "inferred": True}
        if name in declared:
            d = declared[name]
            sizes = [text(size) for size in d.sizes]
            may = _facts(len(sizes), len(sizes) == 2 and sizes[0] == sizes[1])
            record |= {"kind": d.kind, "sizes": ", ".join(sizes), "facts": list(d.facts), "may": may, "inferred": False}
        found.append(record)
    return found


def _facts(rank: int, is_square: bool) -> list[str]:
    """Return the facts that can be declared for a shape."""
    fitting = {"any", *(["matrix"] if rank == 2 else []), *(["square"] if is_square else [])}
    return [fact for fact, of in FACTS.items() if of in fitting]
