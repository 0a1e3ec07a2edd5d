"""No derivative, of any order, of an operation without a gauge contains eigenvectors or signs."""

import pytest
from rules.gauges import derivative_graph, path_to_gauge

from matcalc.rulebook import default_rulebook
from matcalc.rulelab.rewrite_check import is_gauge_part

BOOK = default_rulebook()
# By definition single eigenvalues: each has a derivative only where it is simple.
ONE_BY_ONE = {"eigvalsh_pair": "eigh"}


@pytest.fixture(scope="module")
def graph():
    return derivative_graph(BOOK, {"reshape": {"p": 6, "q": 2}})


@pytest.mark.whole
def test_the_graph_covers_the_rulebook(graph):
    smooth = [rule for rule in BOOK.rules.values() if rule.opaque is None and rule.implicit is None]
    assert [rule.name for rule in smooth if (rule.name, rule.outputs[0]) not in graph] == []


@pytest.mark.whole
def test_no_way_leads_to_a_gauge(graph):
    free = [part for part in graph if BOOK.get(part[0]).gauge is None]
    assert len(free) > len(BOOK.rules) / 2
    ways = {part[0]: way for part in free if (way := path_to_gauge(graph, part))}
    assert {name: way[-1][0] for name, way in ways.items()} == ONE_BY_ONE


def test_a_way_is_found_where_there_is_one(graph):
    way = path_to_gauge(graph, ("eigh", "w"))
    assert way == [("eigh", "w"), ("eigh", "V")]
    assert is_gauge_part(graph["eigh", "w"]["eigh", "V"]) and not is_gauge_part(graph["svd", "U"]["svd", "s"])
