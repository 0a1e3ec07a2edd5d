"""Shows an expression in full: formula, declarations, derivation and graph.

A notebook typesets the formula from its LaTeX, with KaTeX or MathJax. The rest is HTML without mathematics, the same in
every front end. A terminal gets text.
"""

from __future__ import annotations

from html import escape
from typing import NamedTuple

from matcalc.errors import NotSupported
from matcalc.formula.graph.graph import Graph

FOLDED = "<details{open}><summary>{title}</summary>{body}</details>"


class Overview(NamedTuple):
    """Formula, declarations, derivation as text, and the graph."""

    formula: str
    declarations: str
    derivation: str
    graph: Graph

    def __str__(self) -> str:
        parts = {"": self.formula, "where": self.declarations, "derivation": self.derivation, "graph": str(self.graph)}
        return "\n\n".join(f"{title}\n{_indented(body)}" if title else body for title, body in parts.items() if body)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        """Return the formula as code, its declarations, the derivation folded, and the graph."""
        folded = FOLDED.format(open="", title="derivation", body=f"<pre>{escape(self.derivation)}</pre>")
        try:
            drawing = self.graph.svg
        except NotSupported as error:
            drawing = escape(str(error))
        graph = FOLDED.format(open=" open", title="graph", body=drawing)
        head = "<br>".join(f"<code>{escape(line)}</code>" for line in (self.formula, self.declarations) if line)
        return f"<div><p>{head}</p>{folded}{graph}</div>"


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())
