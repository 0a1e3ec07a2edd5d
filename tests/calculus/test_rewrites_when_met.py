"""Rewrites are read when an expression has the operations that they call, and built as far as they are used."""

from dataclasses import replace

import pytest

import matcalc as mc
from matcalc.calculus.simplify import compiled_rewrites, rewrite_index
from matcalc.calculus.simplify.index_by_word import held, outline, outline_of
from matcalc.calculus.simplify.rewrite import Rewriter
from matcalc.calculus.simplify.simplify import simplify
from matcalc.calculus.simplify.unfolded import unfolded
from matcalc.formula.elaborate import rule_formula
from matcalc.language.read import read
from matcalc.language.write import text as written
from matcalc.rulebook.load import default_rulebook
from matcalc.tensor.nodes.node import toposort


def visit(rewriter, text):
    for node in toposort([mc.expression(text).node]):
        rewriter.apply(node)


def test_left_sides_are_read_when_their_operations_are_met(monkeypatch):
    rewriter = Rewriter(replace(default_rulebook()))
    read, reading = [], rule_formula.read
    monkeypatch.setattr(rule_formula, "read", lambda text: read.append(text) or reading(text))
    rule_formula.tree_of.cache_clear()
    visit(rewriter, "x'*y")
    assert "log(exp(x))" not in read
    assert len(read) < len(rewriter.rewrites) / 2
    visit(rewriter, "sum(log(exp(x)))")
    assert "log(exp(x))" in read
    lefts = [rewrite.left for _, rewrite in rewriter.rewrites]
    assert all(read.count(text) <= lefts.count(text) for text in lefts), "each is read once"


def test_left_sides_are_built_for_nodes_with_their_head_and_words(monkeypatch):
    rewriter = Rewriter(replace(default_rulebook()))
    built = []
    monkeypatch.setattr(compiled_rewrites.RewriteSides, "_built", _noting(built))
    visit(rewriter, "sum(log(1 + exp(x))) + w'*w")
    assert "log(1 + exp(x))" in built
    assert not {"exp(log(x))", "sigmoid(x) + sigmoid(-x)", "inv(inv(X))"} & set(built)
    assert len(built) < len(rewriter.rewrites) / 8


@pytest.mark.parametrize("text", ["log(exp(x))", "sum(log(exp(A)))"])
def test_right_sides_are_built_when_their_left_sides_match(text, monkeypatch):
    book = replace(default_rulebook())
    built = []
    monkeypatch.setattr(compiled_rewrites.RewriteSides, "_built", _noting(built))
    node = mc.expression(text).node
    rewriter = Rewriter(book)
    log = next(n for n in (node, *node.args) if n.kind == "map")
    rewriter.candidates(log)
    before = len(built)
    lefts = {rewrite.left for _, rewrite in rewriter.rewrites}
    assert set(built) <= lefts
    assert rewriter.apply(log).node in log.args[0].args
    assert built[before] == "x"


def test_the_order_in_which_nodes_are_met_does_not_matter():
    texts = ["log(exp(x) + exp(y))", "sum(log(1 + exp(z)))", "inv(A*B)*A", "norm2(X*w - y)^2", "log(1 - exp(-x))"]
    nodes = [mc.expression(text).node for text in texts]
    assert len({simplify(node) for node in nodes}) == len(nodes)
    for order in (nodes, nodes[::-1], nodes[2:] + nodes[:2]):
        book = replace(default_rulebook())
        assert [simplify(node, book) for node in order] == [simplify(node) for node in order]


def _noting(built):
    build = compiled_rewrites.RewriteSides._built

    def noted(self, formula, **given):
        built.append(formula)
        return build(self, formula, **given)

    return noted


@pytest.mark.parametrize("numeric", [False, True])
def test_the_index_by_operations_leaves_out_no_rewrite(numeric):
    rewriter = Rewriter(default_rulebook(), numeric)
    texts = ["log(exp(x) + exp(y))", "sum(log(1 + exp(z)))", "inv(A*B)*A", "norm2(X*w - y)^2", "tr(A*inv(X)*B)", "x.^y"]
    for node in toposort([mc.expression(text).node for text in texts]):
        words = held(node)
        chosen = [pattern.rewrite for pattern in rewriter.candidates(node)]
        for operations, rewrite in rewriter.rewrites:
            expected = [
                pattern
                for kind in rewrite_index.readings(rewrite, outline(node), rewriter.book)
                for pattern in compiled_rewrites.compiled_as(rewrite, kind, rewriter.book)
                if operations <= words and outline(node).may_contain(outline_of(pattern.left))
            ]
            assert sum(one is rewrite for one in chosen) == len(expected), (rewrite.left, node)
        places = [next(k for k, (_, one) in enumerate(rewriter.rewrites) if one is rewrite) for rewrite in chosen]
        assert places == sorted(places)


@pytest.mark.parametrize(
    ("left", "rank", "whole", "rank_of_whole"),
    [
        ("log_softmax(x + c)", 1, "(x + c) - logsumexp(x + c)", 1),
        ("sum(softmax(x))", 0, "softmax(x)", 0),
        ("sum(softmax(x))", 1, "sum{a: softmax(x)[a]}", 0),
        ("x - mean(x)", 0, "x - x/1", 0),
        ("x - mean(x)", 2, "x - sum{a,b: x[a,b]}/(m*n)", 2),
        ("sqrt(x.^2)", 2, "(x.^2).^(1/2)", 2),
        ("sum(x*x)", 1, "sum(x*x)", None),
        ("sum(q)", 1, "sum(q)", None),
    ],
)
def test_definitions_in_left_sides_are_replaced_where_ranks_are_evident(left, rank, whole, rank_of_whole):
    found = unfolded(read(left), {"x": rank, "c": 0}, default_rulebook())
    assert (written(found.tree), found.rank) == (whole, rank_of_whole)


FORMULAS = [
    "sum(logsumexp(X*W, axis=1)) - sum(Y.*(X*W))",
    "logdet(X*X') + x'*inv(X*X')*x",
    "norm2(softmax(A*x) - b)^2/2",
]


@pytest.mark.parametrize("text", FORMULAS)
def test_few_left_sides_are_built_in_vain(text, monkeypatch):
    rewriter = Rewriter(replace(default_rulebook()))
    built = []
    monkeypatch.setattr(compiled_rewrites.RewriteSides, "_built", _noting(built))
    nodes = toposort([mc.expression(text).node])
    met = {pattern.rewrite.left for node in nodes for pattern in rewriter.candidates(node)}
    lefts = {rewrite.left for _, rewrite in rewriter.rewrites}
    assert len(set(built) & lefts - met) <= 4, "built, and of another kind than every node"
