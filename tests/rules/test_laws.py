"""Every operation of the book inside larger tensors: by rows, by columns, with axes crossed, next to reductions."""

from fractions import Fraction

import numpy as np
import pytest
from rules.samplers import DRAWS

from matcalc.calculus.evaluate.evaluate import evaluate
from matcalc.evidence.numeric.sampling import defect, interior, sample
from matcalc.rulebook import default_rulebook
from matcalc.rulelab.batch import lifted, lifts, symbols_of
from matcalc.rulelab.laws import laws
from matcalc.rulelab.rule_point import SKEW, forms, lengths_of, point, takes_skew
from matcalc.tensor import operations
from matcalc.tensor.constructors import symbol
from matcalc.tensor.nodes.node import toposort
from matcalc.tensor.substitute import substitute

BOOK = default_rulebook()
RULES = [rule for rule in BOOK.rules.values() if rule.values and rule.kind in ("op", "definition")]


@pytest.mark.thinned(2)
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
@pytest.mark.sampled(216)
def test_laws_hold_in_larger_tensors(rule):
    found = list(laws(BOOK, rule, DRAWS.get(rule.name, {})))
    assert found
    assert not [str(f) for f in found if not f.is_right]


def wrong(name):
    return [str(f) for f in laws(BOOK, BOOK.get(name), DRAWS.get(name, {})) if not f.is_right]


def test_a_batch_axis_taken_for_an_axis_of_the_operation_is_found(monkeypatch):
    """An argument with a batch axis and one axis of its own is transposed as if it were a matrix."""

    def turned(slot):
        return slot._replace(node=operations.simple_product(1, [(slot.node, (0, 1))], (1, 0)))

    def leans(slots):
        return all(len(slot.core) == 1 and slot.node.rank == 2 and slot.core == slot.node.shape[:1] for slot in slots)

    monkeypatch.setattr(operations, "_leans", leans)
    monkeypatch.setattr(operations, "_core_transposed", turned)
    assert wrong("softmax")


def test_a_wrong_power_of_a_factor_with_a_batch_axis_is_found(monkeypatch):
    monkeypatch.setattr(operations, "_degree", lambda rule, slots, params: Fraction(1))
    assert wrong("inv")


MATRIX_FACTS = [fact.name for fact in BOOK.facts.values() if fact.of != "any"]
LENGTHS = (3, 3, 3, 3)


def given_facts(rule, symbols):
    """Return facts to declare of larger symbols: conditions of fact rules, and every fact of a matrix of rows."""
    asked = [{name: (fact,) for fact, name in conditions} for conditions, _, _ in rule.fact_rules]
    rows = [s.name for s in symbols if s.rank == 2]
    found = [*asked, *(dict.fromkeys(rows, (fact,)) for fact in MATRIX_FACTS if rows)]
    return [known for k, known in enumerate(found) if known not in found[:k]]


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.kind == "op"], ids=lambda rule: rule.name)
@pytest.mark.sampled(16)
def test_facts_are_of_slices(rule):
    """Facts of an operation with a batch axis hold for each slice, and for rows of a structured matrix too."""
    for form in forms(rule, tangents=0):
        lengths = lengths_of(rule, form.overload, SKEW if takes_skew(rule) else LENGTHS)
        at = point(BOOK, rule, form, lengths, 1, 0, DRAWS.get(rule.name, {}))
        for root in at.nodes().values() if at.is_defined() else ():
            names = [s.name for s in symbols_of(root)]
            together = [lift for lift in lifts(root, crossed=False) if len(lift.names) == len(names)]
            whole = lifted(root, together[0]) if together else root
            for known in given_facts(rule, symbols_of(whole)):
                facts = {name: {*known.get(name, ()), *at.facts[name]} for name in names}
                assert not list(false_facts(whole, facts, {**lengths, "b_": 2}))


def false_facts(whole, facts, lengths):
    """Yield the claimed facts that operations lack, with the declared facts of symbols."""
    rng = np.random.default_rng(11)
    declared, data = {}, {}
    for s in symbols_of(whole):
        shape = [n.evaluate(lengths) for n in s.shape]
        own = sorted(facts[s.name]) if s.rank > 1 and shape[-1] == shape[-2] else []
        drawn = [sample(rng, shape[-2:], interior(own, True)) for _ in range(shape[0] if s.rank > 2 else 1)]
        if any(defect(a, fact) > 1e-9 for a in drawn for fact in own):
            return  # no sample has them all
        declared[s] = symbol(s.name, s.shape, own)
        data[s.name] = np.stack(drawn) if s.rank > 2 else drawn[0]
    ops = [n for n in toposort(substitute(whole, declared)) if n.kind == "op" and n.facts & BOOK.facts.keys()]
    try:
        values = evaluate(ops, data, lengths)
    except (np.linalg.LinAlgError, ValueError):
        return  # outside the domain
    for node, value in zip(ops, values, strict=True):
        yield from ((fact, node) for fact in node.facts & BOOK.facts.keys() if not has(node, np.asarray(value), fact))


def has(node, value, fact):
    """Return whether each slice has a fact; facts of matrices need a matrix, values that are not finite have all."""
    if not np.all(np.isfinite(value)) or np.iscomplexobj(value):
        return True
    if fact in MATRIX_FACTS and node.rank - node.batch_rank != 2:
        return False
    return all(defect(each, fact) < 1e-9 for each in value.reshape(-1, *value.shape[node.batch_rank :]))
