"""Decides which nodes are finite for all finite data of their domain and its border.

A mask or a weight of 0 switches off infinite values, and multiplies finite values like any number. The decision is
conservative: a node that is not known to be finite counts as infinite somewhere. Overflow is ignored.
"""

from __future__ import annotations

from matcalc.rulebook.fields import stated_facts
from matcalc.rulebook.rule import Rule
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.nodes.signature import tensors_of

STRICT = ("<", ">")


def is_finite(node: Node) -> bool:
    """Return whether a node is finite for all finite data; its operands have the flag already."""
    if not all(arg.finite for arg in node.args):
        return False
    if node.kind == "recurrence":
        return all(body.finite for body in node.bodies)
    if node.kind == "map":
        return POWERS.get(node.rule.role or "", _is_finite_map)(node)
    return node.kind != "op" or node.rule.closed or not node.rule.domain or _is_inside(node)


def _is_inside(node: Node) -> bool:
    """Return whether matrices are known to be in the domain of an operation, as a declared spd one for inv."""
    stated = stated_facts(node.rule.domain or "")
    tensors = tensors_of(node.rule.signature)
    known = {p.name: arg.facts for p, arg in zip(tensors, node.args, strict=False)}
    whole = " and ".join(f"{fact}({name})" for fact, name in stated)
    return whole == node.rule.domain and all(fact in known.get(name, ()) for fact, name in stated)


def _is_finite_power(node: Node) -> bool:
    return node.params[0] >= 0 or node.args[0].range.nonzero


def _is_finite_free_power(node: Node) -> bool:
    base, exponent = node.args
    return base.range.positive or exponent.range.nonnegative


def _is_finite_ratio(node: Node) -> bool:
    return node.args[1].range.nonzero


def _is_finite_map(node: Node) -> bool:
    """Return whether an elementwise function has no pole at its arguments: its domain is closed, or they are inside."""
    if node.rule.closed:
        return True
    needed = [p.name for p in tensors_of(node.rule.signature) if "positive" in p.facts]
    known = {p.name: arg for p, arg in zip(tensors_of(node.rule.signature), node.args, strict=False)}
    return all(known[name].range.positive for name in needed) and not _is_open(node.rule)


def _is_open(rule: Rule) -> bool:
    """Return whether the domain is stated by a strict inequality, as that of `log1p` is."""
    return any(f" {sign} " in f" {rule.domain or ''} " for sign in STRICT)


POWERS = {
    "fixed_power": _is_finite_power,
    "free_power": _is_finite_free_power,
    "removable_ratio": _is_finite_ratio,
    "safe_ratio": _is_finite_ratio,
}
