"""Draws the DAG in layers: operands below their users, each node once, edges curved around the nodes between.

`drawn` returns the drawing as data, which the local page uses too; `Graph` makes it SVG. The SVG takes the colour of
the surrounding text and has no style sheet, so it suits light and dark pages and files alike.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import NamedTuple

from matcalc.errors import NotSupported
from matcalc.formula.graph.draw import operand_edges, tree, words
from matcalc.pictures.layers import HEIGHT, Box, placed
from matcalc.pictures.picture import Picture
from matcalc.tensor.nodes.node import Node, label, toposort

MOST = 150
"""Most nodes of a drawing."""

CUT = 22
LETTER, PAD, LEAST = 8, 20, 44
LEAVES = ("symbol", "number", "size", "constant")
SHARED = "#c2410c"


class DrawnNode(NamedTuple):
    """A box: the node, its text, its middle and width, and how often it is used."""

    node: Node
    name: str
    x: float
    y: float
    width: float
    uses: int


class DrawnEdge(NamedTuple):
    """A line from a user to an operand, by their indices in the drawing, with a note on the use."""

    user: int
    operand: int
    note: str
    points: Sequence[tuple[float, float]]


class Drawn(NamedTuple):
    """A graph with its layout."""

    nodes: Sequence[DrawnNode]
    edges: Sequence[DrawnEdge]
    width: float
    height: float


def drawn(root: Node) -> Drawn:
    """Return the layout of nodes, the root first, and of edges.

    Raises: NotSupported for too many nodes.
    """
    nodes = toposort([root])[::-1]
    if len(nodes) > MOST:
        raise NotSupported(f"the graph has {len(nodes)} nodes: at most {MOST} are drawn")
    number = {node: k for k, node in enumerate(nodes)}
    edges = [(number[user], k, note) for user, k, note in operand_edges(number)]
    names = [short_name(node) for node in nodes]
    layout = placed([Box(max(len(name) * LETTER + PAD, LEAST)) for name in names], [(a, b) for a, b, _ in edges])
    boxes = [
        DrawnNode(node, name, *layout.centres[k], layout.boxes[k].width, sum(b == k for _, b, _ in edges))
        for k, (node, name) in enumerate(zip(nodes, names, strict=True))
    ]
    lines = [DrawnEdge(*edge, points) for edge, points in zip(edges, layout.lines, strict=True)]
    return Drawn(boxes, lines, layout.width, layout.height)


def short_name(node: Node) -> str:
    """Return the text in the box."""
    name = {"product": "×", "sum": "+"}.get(node.kind, label(node))
    return name if len(name) <= CUT else f"{name[: CUT - 1]}…"


class Graph(Picture):
    """The DAG of a formula. A node that is used more than once is highlighted; the pointer shows its formula."""

    def __init__(self, root: Node, formula: Callable[[Node], str]) -> None:
        self.root = root
        self._formula = formula

    @property
    def svg(self) -> str:
        """The graph as the text of an SVG file.

        Raises: NotSupported for too many nodes.
        """
        made = drawn(self.root)
        shape = f'width="{made.width:g}" height="{made.height:g}" viewBox="0 0 {made.width:g} {made.height:g}"'
        lines = [
            f'<svg xmlns="http://www.w3.org/2000/svg" {shape} role="img" fill="none" stroke="currentColor"'
            ' font-family="ui-monospace, monospace" font-size="13" style="max-width: 100%; height: auto">',
            f"<title>{escape(self._formula(self.root))}</title>",
            *map(_line, made.edges),
            *(line for edge in made.edges for line in _note(edge)),
            *(self._box(node) for node in made.nodes),
            "</svg>",
        ]
        return "\n".join(lines)

    def _box(self, box: DrawnNode) -> str:
        shape = f"({', '.join(map(str, box.node.shape))})" if box.node.shape else "a number"
        uses = f", used {box.uses} times, computed once" if box.uses > 1 else ""
        colour = f' stroke="{SHARED}" stroke-width="2.5"' if box.uses > 1 else ""
        fill = "0" if box.node.kind in LEAVES else "0.08"
        title = escape(f"{self._formula(box.node) or words(box.node)}: {shape}{uses}")
        return (
            f"<g><title>{title}</title>"
            f'<rect x="{box.x - box.width / 2:g}" y="{box.y - HEIGHT / 2:g}" width="{box.width:g}" height="{HEIGHT:g}"'
            f' rx="7" fill="currentColor" fill-opacity="{fill}"{colour}/>'
            f'<text x="{box.x:g}" y="{box.y + 4.5:g}" text-anchor="middle" fill="currentColor" stroke="none">'
            f"{escape(box.name)}</text></g>"
        )

    def __str__(self) -> str:
        return tree(self.root)


def _line(edge: DrawnEdge) -> str:
    """Return an edge, from the lower side of a box to the upper side of another."""
    (x, y), *rest = edge.points
    path, y = f"M{x:g},{y + HEIGHT / 2:g}", y + HEIGHT / 2
    for k, (to, below) in enumerate(rest, 1):
        end = below - HEIGHT / 2 if k == len(rest) else below
        middle = (y + end) / 2
        path += f" C{x:g},{middle:g} {to:g},{middle:g} {to:g},{end:g}"
        x, y = to, end
    return f'<path d="{path}" stroke-opacity="0.55"/>'


def _note(edge: DrawnEdge) -> Sequence[str]:
    """Return the indices or the coefficient beside the beginning of an edge, if they are informative."""
    if edge.note in ("", "1"):
        return ()
    (xa, ya), (xb, yb) = edge.points[:2]
    at = f'x="{0.45 * xa + 0.55 * xb:g}" y="{0.45 * ya + 0.55 * yb:g}"'
    return (
        f'<text {at} text-anchor="middle" font-size="11" fill="currentColor" stroke="none">{escape(edge.note)}</text>',
    )
