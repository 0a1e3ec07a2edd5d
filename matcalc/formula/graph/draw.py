"""Draws the DAG as indented text, in Graphviz' dot and in Mermaid. Shared nodes are drawn once.

The drawings show the nodes of the engine, index tuples included, not matrix notation. Names are numbers in the order of
the walk, so that the same node always gives the same drawing.
"""

from __future__ import annotations

from collections.abc import Iterator

from matcalc.tensor.nodes.node import Node, label, toposort

DEEPEST = 12
"""Most levels of indentation, for chains of a thousand nodes."""


def tree(root: Node) -> str:
    """Return the DAG as an indented outline; a repeated node is a reference to its line."""
    numbers = {node: k for k, node in enumerate(_from_root(root))}
    shown: set[Node] = set()
    lines: list[str] = []
    stack = [(root, 0)]
    while stack:
        node, depth = stack.pop()
        again = node in shown and bool(node.args)
        indent = "  " * min(depth, DEEPEST)
        lines.append(indent + (f"-> {numbers[node]}" if again else f"{numbers[node]}: {words(node)}"))
        if not again:
            shown.add(node)
            stack.extend((arg, depth + 1) for arg in reversed(node.args))
    return "\n".join(lines)


def dot(root: Node) -> str:
    """Return the DAG in Graphviz' language."""
    lines = ["digraph {", "  node [shape=box, fontname=monospace]"]
    numbers = {node: k for k, node in enumerate(_from_root(root))}
    for node, k in numbers.items():
        lines.append(f'  n{k} [label="{_escaped(words(node))}"]')
    for node, k, position in operand_edges(numbers):
        lines.append(f'  n{numbers[node]} -> n{k} [label="{position}"]')
    return "\n".join([*lines, "}"])


def mermaid(root: Node) -> str:
    """Return the DAG as a Mermaid flowchart."""
    lines = ["flowchart TD"]
    numbers = {node: k for k, node in enumerate(_from_root(root))}
    for node, k in numbers.items():
        lines.append(f'  n{k}["{_entities(words(node))}"]')
    for node, k, position in operand_edges(numbers):
        link = f'-- "{position}" -->' if position else "-->"
        lines.append(f"  n{numbers[node]} {link} n{k}")
    return "\n".join(lines)


def _from_root(root: Node) -> list[Node]:
    return toposort(root)[::-1]


def operand_edges(numbers: dict[Node, int]) -> Iterator[tuple[Node, int, str]]:
    """Yield the user, the number of the operand, and a note on its use, for each operand of each node."""
    for node in numbers:
        for position, arg in enumerate(node.args):
            yield node, numbers[arg], _note(node, position)


def _note(node: Node, position: int) -> str:
    """Return the indices at which a product uses an operand, or the coefficient of a sum's term."""
    if node.kind == "product":
        return _letters(node.indices[position])
    if node.kind == "sum":
        return str(node.coefs[position])
    return ""


def words(node: Node) -> str:
    """Return a node in a few words: label, use of its operands, shape."""
    shape = f" ({', '.join(map(str, node.shape))})" if node.shape else ""
    if node.kind == "product":
        operands = ", ".join(map(_letters, node.indices))
        coef = "" if node.coef == 1 else f"{node.coef} "
        return f"product {coef}{operands} -> {_letters(node.out) or 'scalar'}{shape}"
    if node.kind == "sum":
        return f"sum {', '.join(map(str, node.coefs))}{shape}"
    if node.kind in ("map", "op") and node.params:
        return f"{label(node)}[{', '.join(map(_parameter, node.params))}]{shape}"
    return f"{_constant(node)}{shape}"


def _constant(node: Node) -> str:
    if node.kind != "constant":
        return label(node)
    entries = node.array.ravel().tolist()
    more = ", ..." if len(entries) > 6 else ""
    return f"constant {', '.join(f'{v:g}' for v in entries[:6])}{more}"


def _parameter(value: object) -> str:
    return label(value) if isinstance(value, Node) else str(value)


def _letters(indices: tuple[int, ...]) -> str:
    return "".join(chr(ord("i") + k) if k < 16 else f"<{k}>" for k in indices)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _entities(text: str) -> str:
    return text.replace('"', "#quot;").replace("<", "#lt;").replace(">", "#gt;")
