"""The derivation as it happened: rewrites before differentiating, rules used, and the result.

Steps are recorded while differentiating, since flattening hides them afterwards. A rule is shown once, with
its formula, source and address.
"""

from __future__ import annotations

from matcalc.calculus.differentiate import Step
from matcalc.calculus.rewrite import Applied
from matcalc.language.write import text
from matcalc.normal_form.node import Node
from matcalc.normal_form.signature_shapes import tensors_of
from matcalc.notation.raising import formula_of
from matcalc.rulebook.rule import Rule

LONGEST = 200


class Trace:
    """The steps of one derivation of `root`; `what` names the derivative."""

    def __init__(self, root: Node, what: str) -> None:
        self.root = root
        self.what = what
        self.rewrites: list[tuple[Node, Applied]] = []
        self.rules: dict[tuple[str, str], Step] = {}

    def rewrite(self, node: Node, applied: Applied) -> None:
        """Record a rewrite."""
        self.rewrites.append((node, applied))

    def step(self, step: Step) -> None:
        """Record a use of a rule; the first of each stands for all."""
        operands = tensors_of(step.node.rule.signature)
        parameter = operands[min(step.place, len(operands) - 1)].name
        self.rules.setdefault((step.node.rule.name, parameter), step)

    def text(self, result: Node) -> str:
        """Return the derivation, a line a step."""
        lines = [f"f = {written(self.root)}"]
        for node, applied in self.rewrites:
            lines.append(f"{written(node)} = {written(applied.node)}    [{applied.rewrite.address}]")
        for (_, parameter), step in self.rules.items():
            output = step.node.output if step.node.kind == "op" else ""
            lines.append(rule_line(step.node.rule, parameter, output))
        if result is not self.root:
            lines.append(f"{self.what or 'result'} = {written(result)}")
        width = len(str(len(lines)))
        return "\n".join(f"{k:>{width}}. {line}" for k, line in enumerate(lines, 1))


def rule_line(rule: Rule, parameter: str, output: str = "") -> str:
    """Return a rule as a line of mathematics with its source and address."""
    names = ", ".join(p.name for p in rule.parameters)
    if rule.kind == "map":
        formula = f"d {rule.spelling}({names}) / d{parameter} = {rule.derivative.get(parameter, '?')}"
    elif rule.implicit is not None:
        formula = f"{rule.spelling}({names}): {rule.implicit}"
    else:
        left = f"d {rule.name}_{output}({names})" if output else f"d {rule.spelling}({names})"
        formula = f"{left} = {rule.differential(output)}" + (
            ", Y the value" if "Y" in str(rule.differential(output)) else ""
        )
    source = f"; {rule.source}" if rule.source else ""
    return f"{formula}    [{rule.name}, {rule.address}{source}]"


def written(node: Node) -> str:
    """Return a node as text of bounded length."""
    shown = text(formula_of(node))
    return shown if len(shown) <= LONGEST else shown[: LONGEST - 3] + "..."
