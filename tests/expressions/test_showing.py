"""Displays of an expression in a notebook and a terminal: the graph as SVG, LaTeX, everything at once."""

import re
import sys
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest

import matcalc as mc

NAMESPACE = {"svg": "http://www.w3.org/2000/svg"}
LET = "X: matrix(m, n); S: matrix(n, n) spd; w: vector(n); y: vector(m); C: matrix(n, n)"
FORMULAS = ["norm2(X*w - y)^2", "logdet(S) + tr(inv(S)*C)", "x[0]", "3", "{i,j: a[i]*b[j]*c[i]}", "where(s < 1, s, 2)"]


@pytest.mark.parametrize("formula", FORMULAS)
def test_the_graph_is_svg_with_a_box_for_each_node_and_a_line_for_each_use(formula):
    e = mc.expression(formula, LET if "X" in formula or "S" in formula else "")
    drawing = ElementTree.fromstring(e.graph().svg)
    outline = e.tree().splitlines()
    boxes = drawing.findall(".//svg:rect", NAMESPACE)
    assert len(boxes) == len({line.split(":")[0].removeprefix("-> ").strip() for line in map(str.strip, outline)})
    assert len(drawing.findall(".//svg:path", NAMESPACE)) == len(outline) - 1
    assert drawing.find("svg:title", NAMESPACE).text == str(e)
    assert str(e.graph()) == e.tree()


def test_what_is_shared_is_told_apart_and_shapes_are_titles():
    svg = mc.gradient("norm2(X*w - y)^2", "w", LET).graph().svg
    titles = re.findall(r"<g><title>([^<]*)</title>", svg)
    assert "X: (m, n), used 2 times, computed once" in titles and "w: (n)" in titles
    assert svg.count('stroke-width="2.5"') == sum("used" in title for title in titles) == 1
    assert "<style" not in svg and "<script" not in svg


def test_names_are_escaped():
    e = mc.expression("where(s < 1, s, 2)", "s: scalar")
    ElementTree.fromstring(e.graph().svg)
    assert "&lt;" in e.graph().svg


def test_a_picture_is_saved_by_its_ending(tmp_path):
    graph = mc.expression("X*w").graph()
    graph.save(tmp_path / "graph.svg")
    graph.save(str(tmp_path / "graph.txt"))
    assert (tmp_path / "graph.svg").read_text("utf-8") == graph.svg == graph._repr_svg_()
    assert (tmp_path / "graph.txt").read_text("utf-8") == f"{graph}\n"
    with pytest.raises(mc.NotSupported, match=r"graph.png: a graph is written as \.svg or \.txt"):
        graph.save(tmp_path / "graph.png")


def test_what_is_too_large_to_look_at_is_said():
    e = mc.expression(" + ".join(f"sin(x{k})" for k in range(200)))
    with pytest.raises(mc.NotSupported, match=r"\d+ nodes: at most 150 are drawn"):
        _ = e.graph().svg


def test_notebooks_are_given_latex_and_text():
    e = mc.expression("x'*A*x")
    shown = e._repr_mimebundle_()
    assert set(shown) == {"text/latex", "text/plain"}
    assert (
        shown["text/latex"] == f"$\\displaystyle {e.latex()}$"
        and eval(shown["text/plain"], {"Expression": mc.expression}) == e
    )


def test_a_terminal_is_shown_all_as_text(capsys):
    e = mc.gradient("x'*A*x", "x")
    e.show()
    out = capsys.readouterr().out
    for said in (str(e), "A: matrix(m, m), undeclared", e.explain().splitlines()[-1], e.tree().splitlines()[0]):
        assert said in out


def test_a_notebook_is_shown_the_formula_typeset_then_the_rest(monkeypatch):
    shown = []
    shell = SimpleNamespace(has_trait=lambda name: name == "kernel")
    display = SimpleNamespace(display=shown.append)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell, display=display))
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    e = mc.gradient("x'*A*x", "x")
    e.show()
    assert shown[0] is e
    html = shown[1]._repr_html_()
    assert "<details><summary>derivation" in html and "<svg" in html and "A: matrix(m, m)" in html
