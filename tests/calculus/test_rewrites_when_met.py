"""Rewrites are read when an expression has the operations that they call, and built as far as they are used."""

from dataclasses import replace

import pytest

import matcalc as mc
from matcalc.calculus.simplify import compiled_rewrites
from matcalc.calculus.simplify.index_by_word import heads
from matcalc.calculus.simplify.rewrite import Rewriter
from matcalc.rulebook.load import default_rulebook


def test_calls_in_the_text_are_among_what_a_left_side_needs():
    rewriter = Rewriter(default_rulebook())
    assert len(rewriter.waiting) > 300
    for waiting in rewriter.waiting:
        assert waiting.needs <= rewriter.needs(waiting.rewrite.left), waiting.rewrite


def test_left_sides_are_read_when_their_operations_are_met(monkeypatch):
    rewriter = Rewriter(default_rulebook())
    read, reading = [], rewriter._read
    monkeypatch.setattr(rewriter, "_read", lambda rewrite: read.append(rewrite) or reading(rewrite))
    rewriter.prepare(heads([mc.expression("x'*y").node]))
    assert "log(exp(x)) => x" not in map(str, read)
    assert len(read) < len(rewriter.waiting) / 2
    rewriter.prepare(heads([mc.expression("sum(log(exp(x)))").node]))
    assert "log(exp(x)) => x" in map(str, read)
    assert len(read) == len(set(read)), "each is read once"


@pytest.mark.parametrize("text", ["log(exp(x))", "sum(log(exp(A)))"])
def test_right_sides_are_built_when_their_left_sides_match(text, monkeypatch):
    book = replace(default_rulebook())
    built = []
    monkeypatch.setattr(compiled_rewrites.RewriteSides, "_built", _noting(built))
    node = mc.expression(text).node
    rewriter = Rewriter(book)
    rewriter.prepare(heads([node]))
    patterns = [pattern for known in rewriter.by_head.values() for pattern in known]
    lefts = len(built)
    assert lefts <= len(patterns)
    log = next(n for n in (node, *node.args) if n.kind == "map")
    assert rewriter.apply(log).node in log.args[0].args
    assert built[lefts] == "x"


def _noting(built):
    build = compiled_rewrites.RewriteSides._built

    def noted(self, formula, **given):
        built.append(formula)
        return build(self, formula, **given)

    return noted
