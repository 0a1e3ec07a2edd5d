"""Operations expand to their formulas at any depth, and no formula leads back to its own operation."""

import re
from graphlib import TopologicalSorter

import pytest

import matcalc as mc
from matcalc.compiler.lowering_entries import load
from matcalc.compiler.plan.expand import expand
from matcalc.store.data_folders import data_folder
from matcalc.tensor.nodes.node import toposort

ALONG = "svdfun(exp, A{0}, {1})"


def test_no_operation_becomes_itself():
    becomes = load(data_folder("codegen")).becomes
    called = {
        name: {word for entry in entries for text in (entry.formula, *entry.where) for word in re.findall(r"\w+", text)}
        for name, entries in becomes.items()
    }
    assert list(TopologicalSorter(called).static_order())


@pytest.mark.sampled(8)
@pytest.mark.parametrize("depth", range(1, 8))
def test_nested_as_deep_as_wanted(depth):
    text = "B"
    for level in range(depth):
        text = ALONG.format(level, text)
    declared = "; ".join(f"{name}: matrix(n, m)" for name in ["B", *(f"A{level}" for level in range(depth))])
    lowerings = load(data_folder("codegen"))
    left = toposort(expand([mc.expression(text, declared).node], lowerings))
    names = {node.rule.name for node in left if node.kind in ("op", "map")}
    assert not names & ({*lowerings.becomes} | {*lowerings.expands})
