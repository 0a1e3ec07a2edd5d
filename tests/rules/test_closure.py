"""No operation without a gauge has a derivative, of any order, that speaks of eigenvectors or signs."""

import pytest

from matcalc.rulebook import default_rulebook
from matcalc.verification.gauge import derivative_graph, is_gauge_part, path_to_gauge

BOOK = default_rulebook()
GRAPH = derivative_graph(BOOK, {"reshape": {"p": 6, "q": 2}})
FREE = [part for part in GRAPH if BOOK.get(part[0]).gauge is None]
# Eigenvalues one by one, as its definition says: each has a derivative where it is simple alone.
ONE_BY_ONE = {"eigvalsh_pair": "eigh"}


def test_the_graph_covers_the_rulebook():
    smooth = [rule for rule in BOOK.rules.values() if rule.opaque is None and rule.implicit is None]
    assert [rule.name for rule in smooth if (rule.name, rule.outputs[0]) not in GRAPH] == []


@pytest.mark.parametrize("part", FREE, ids=lambda part: "_".join(filter(None, part)))
def test_no_way_leads_to_a_gauge(part):
    way = path_to_gauge(GRAPH, part)
    if part[0] in ONE_BY_ONE:
        assert way[-1][0] == ONE_BY_ONE[part[0]]
    else:
        assert way == []


def test_a_way_is_found_where_there_is_one():
    way = path_to_gauge(GRAPH, ("eigh", "w"))
    assert way == [("eigh", "w"), ("eigh", "V")]
    assert is_gauge_part(GRAPH["eigh", "w"]["eigh", "V"]) and not is_gauge_part(GRAPH["svd", "U"]["svd", "s"])
