"""Drawings of the DAG: golden texts, each node once."""

from matcalc.formula.elaborate.texts import elaborate
from matcalc.formula.graph import draw

LET = "X: matrix(m, n); w: vector(n); y: vector(m)"


def node(formula):
    return elaborate([formula], LET).nodes[0]


GRADIENT = """
0: product -2 j, ji -> i (n)
  1: sum 1, -1 (m)
    5: y (m)
    2: product ij, j -> i (m)
      4: X (m, n)
      3: w (n)
  4: X (m, n)
"""


def test_tree():
    assert draw.tree(node("2*X'*(X*w - y)")) == GRADIENT.strip()


def test_tree_refers_to_what_it_has_shown():
    lines = draw.tree(node("tanh(X*w) + exp(X*w)")).splitlines()
    assert sum("product" in line for line in lines) == 1
    assert sum("->" in line and "product" not in line for line in lines) == 1


def test_tree_of_a_power():
    assert draw.tree(node("1./y.^2")).splitlines() == ["0: pow[-2] (m)", "  1: y (m)"]


def test_dot_names_every_node_once():
    shown = draw.dot(node("exp(X)*w + tanh(y)"))
    assert shown.startswith("digraph {") and shown.endswith("}")
    assert shown.count('[label="X (m, n)"]') == 1


def test_mermaid_escapes_what_it_must():
    shown = draw.mermaid(node("sum(X.*X)"))
    assert shown.splitlines()[0] == "flowchart TD"
    assert '"product' in shown and "-#gt;" in shown


def test_drawings_are_deterministic():
    assert draw.dot(node("X*w - y")) == draw.dot(node("-y + X*w"))
