"""Random typed expressions: every form reads with its predicted shape, and has data in its domain."""

import itertools
import random
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, find, given, settings

import matcalc as mc
from matcalc.rulebook.load import default_rulebook
from matcalc.testing import expressions
from matcalc.testing.forms import forms
from matcalc.testing.strategies import random_case
from matcalc.testing.trees import Child, Fit, Tree, write

BOOK = default_rulebook()
SHARES = 20
INNER = ["squashed_for_testing", "plus", "times", "times_vector", "tanh", "exp", "det", "sum"]
"""The rulebook may contain definitions of other tests in the same process, which have domains of their own."""
QUICK = settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


def value(case):
    e = mc.expression(case.text, case.declarations)
    with np.errstate(all="ignore"):
        return e, np.asarray(e(**{name: case.data[name] for name in e.symbols}))


@pytest.mark.sampled(12)
@pytest.mark.parametrize("share", range(SHARES))
def test_every_form_reads_with_its_shape(share):
    for form in forms(BOOK)[share::SHARES]:
        written = write(Tree(form, (None,) * len(form.slots)), BOOK)
        found = mc.expression(written.text, written.declarations)
        assert tuple(map(str, found.shape)) == tuple(map(str, written.shape)), written


@QUICK
@given(expressions(depth=3))
@pytest.mark.whole
def test_what_is_drawn_reads_back_and_has_a_value(case):
    e, found = value(case)
    assert mc.expression(str(e), e.declarations).node is e.node
    sizes = {name: case.data[name] for name in case.sizes}
    assert found.shape == tuple(size.evaluate(sizes) for size in e.node.shape)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("text", ["max", "min", "logsumexp", "norminf"])
def test_nothing_is_asked_of_what_is_empty(text):
    for seed in range(30):
        choose = random.Random(seed).choice
        roots = [form for form in forms(BOOK) if form.operation == text]
        value(random_case(BOOK, choose, seed, 2, roots, roots))


@pytest.mark.whole
@QUICK
@given(expressions(depth=2, outermost="logdet", sizes=(2, 3)))
def test_the_outermost_operation_can_be_given(case):
    assert case.text.startswith("logdet(")
    assert np.isfinite(value(case)[1])


@pytest.mark.whole
@QUICK
@given(expressions(depth=3, kind="vector", operations=["times_vector", "tanh", "sigmoid", "plus"]))
def test_operations_and_kind_can_be_given(case):
    assert value(case)[1].ndim == 1
    assert not set("[{\\") & set(case.text)


@pytest.mark.whole
def test_a_rule_of_ones_own_is_tested():
    mc.define(
        "squashed_for_testing(x: entry) -> entry",
        value="x/np.sqrt(1 + x*x)",
        derivative="1 ./ (1 + x.^2).^(3/2)",
    )

    @QUICK
    @given(expressions(depth=2, outermost="squashed_for_testing", operations=INNER, sizes=(1, 2)))
    def lies_between_ones(case):
        assert np.all(np.abs(value(case)[1]) <= 1)

    lies_between_ones()


@pytest.mark.whole
def test_cases_shrink_to_a_single_operation():
    case = find(
        expressions(depth=3, operations=["plus", "tanh", "det", "times"]),
        lambda case: "det" in case.text,
        settings=settings(database=None, derandomize=True, max_examples=400),
    )
    assert case.text == "det(A)"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"outermost": "logdett"}, "did you mean logdet"),
        ({"operations": ["tanhh"]}, "did you mean tanh"),
        ({"kind": "matrx"}, "did you mean matrix"),
        ({"kind": "matrix", "outermost": "logdet"}, "no requested operation has a matrix as its value"),
    ],
)
def test_unknown_names_are_refused(options, message):
    with pytest.raises(mc.UnknownName, match=message):
        expressions(**options)


@pytest.mark.whole
def test_what_is_missing_is_said():
    program = "import sys; sys.modules['hypothesis'] = None; import matcalc.testing as t; t.expressions()"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "ImportError: matcalc.testing needs hypothesis: pip install 'matcalc-compiler[testing]'" in done.stderr


@pytest.mark.parametrize(
    ("one", "other", "agree"),
    [
        ("kron(matrix, matrix)", "inv(matrix)", True),
        ("conv(vector, vector)", "cross(vector, vector)", True),
        ("outer(vector, vector)", "side_by_side(vector, vector)", True),
    ],
)
def test_sizes_fit(one, other, agree):
    """`m*n` and `k*l` are equal where m is k, `m + n - 1` is 3 at small numbers."""
    by_key = {form.key: form for form in forms(BOOK)}
    slot = by_key[other].slots[0].shape
    fit = Fit()
    assert fit.unify(tuple(slot), by_key[one].shape) == agree or len(slot) != len(by_key[one].shape)


def test_the_same_choices_give_the_same_case():
    from matcalc.testing.strategies import random_case

    made = [random_case(BOOK, random.Random(7).choice, 3, 4, forms(BOOK), forms(BOOK)) for _ in range(2)]
    assert made[0].text == made[1].text
    assert all(np.array_equal(made[0].data[name], made[1].data[name]) for name in made[0].data)


def test_symbols_of_all_ranks_have_distinct_names():
    """Combine one form of each set of ranks of operands: symbols of rank 3 and 4 share a list of names."""
    ranked = {tuple(slot.rank for slot in form.slots): form for form in forms(BOOK) if form.rank == 0 and form.slots}
    both = next(form for form in forms(BOOK) if [slot.rank for slot in form.slots] == [0, 0])
    assert {(3,), (4,)} <= set(ranked)
    for one, other in itertools.product(ranked.values(), repeat=2):
        children = tuple(Child(Tree(form, (None,) * len(form.slots)), False) for form in (one, other))
        written = write(Tree(both, children), BOOK)
        if written is not None:
            names = [leaf.name for leaf in written.leaves]
            assert len(set(names)) == len(names), written
