"""Operations that depend on a choice (eigenvectors, singular vectors, signs), and the derivatives that contain them.

An operation without a gauge must stay without one in derivatives of any order. Otherwise its derivative at a tie would
be that of a choice. The operations in a derivative form a graph over the rulebook. Constants in it (operations with the
differential 0) are leaves.
"""

from matcalc.calculus.derive.differentiate import pullback
from matcalc.calculus.simplify.simplify import simplify_all
from matcalc.errors import NotDifferentiable
from matcalc.evidence.numeric.sampling import MODES
from matcalc.rulelab.rewrite_check import is_gauge_part
from matcalc.rulelab.rule_point import points
from matcalc.tensor.constructors import symbol


def varied_parts(roots):
    """Return the operations in `roots` that a further derivative would differentiate, each with a node of it."""
    found, seen = {}, set()
    stack = list(reversed(roots))
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if node.kind in ("map", "op"):
            found.setdefault((node.rule.name, node.output if node.kind == "op" else ""), node)
            if node.kind == "op" and node.rule.differential(node.output) == "0":
                continue
        stack.extend(reversed(node.args))
    return found


def derivative_graph(book, draws):
    """Return for each (rule, output) the operations in its simplified derivatives.

    `draws` are integer arguments by rule, where sizes have to fit together.
    """
    rules = book.rules.values()
    return {part: held for rule in rules for part, held in derivatives_of(book, rule, draws.get(rule.name, {}))}


def derivatives_of(book, rule, draws):
    if rule.opaque is not None or rule.implicit is not None or not rule.values:
        return []  # all operations of an equation's derivative are in the equation
    for mode in range(len(MODES)):
        at = next(points(book, rule, mode, draws), None)
        if at is not None and at.is_defined():
            break
    else:
        return []
    found = []
    for output, node in at.nodes().items():
        (value,) = simplify_all([node])
        pulled = []
        for x in at.symbols.values():
            try:
                pulled += pullback(value, symbol("G_", value.shape), [x])
            except NotDifferentiable:
                continue  # in this argument
        found.append(((rule.name, output), varied_parts(simplify_all(pulled))))
    return found


def path_to_gauge(graph, start):
    """Return the shortest path from an operation to a gauge part through derivatives, empty where there is none."""
    before, waiting = {start: start}, [start]
    while waiting:
        part = waiting.pop(0)
        for following, node in graph.get(part, {}).items():
            if following in before:
                continue
            before[following] = part
            if is_gauge_part(node):
                way = [following]
                while way[-1] != start:
                    way.append(before[way[-1]])
                return way[::-1]
            waiting.append(following)
    return []
