"""Hostile texts through all public parameters, few and many, and tests that the harness detects planted faults."""

import inspect

import pytest

import matcalc as mc
from hostile.judging import Fault, check_source, examine, judge
from hostile.names import texts
from hostile.parameters import CODE, COMMANDS, EXAMPLES, Parameter, commands, parameters, public, run
from hostile.texts import CODE as RUNS
from hostile.texts import STATEMENT
from hostile.trying import elsewhere, try_texts


def test_every_public_parameter_is_tried():
    """A new function, method or command needs an example here; all its parameters are then tried."""
    assert set(public()) <= set(EXAMPLES)
    assert set(commands()) == set(COMMANDS)
    with elsewhere() as folder:
        tried = {p.label for p in parameters(folder)}
        for label, (make, args, _) in EXAMPLES.items():
            own = {name for name, p in inspect.signature(make()).parameters.items() if p.default is not ...}
            kept = {f"{label}.{name}" for name in list(own)[len(args) :]} - set(CODE)
            assert not [name for name in kept if name not in tried and not name.endswith(tuple("0123456789"))]


@pytest.mark.sampled(9)
@pytest.mark.parametrize("label", [label for label in EXAMPLES if "minimize" not in label])
def test_examples_are_right(label):
    """An invalid example would have every text rejected."""
    make, args, keywords = EXAMPLES[label]
    with elsewhere():
        made = make()(*args, **keywords)
        for one in made if isinstance(made, tuple) else (made,):
            examine(one)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("command", [name for name in COMMANDS if name not in ("demo", "docs")])
def test_commands_are_right(command):
    with elsewhere():
        assert run([command, *COMMANDS[command]]).status in (0, 1)


@pytest.mark.parametrize(
    ("count", "seed"), [(400, 20240817), *(pytest.param(5000, seed, marks=pytest.mark.long) for seed in range(8))]
)
@pytest.mark.whole
def test_hostile_texts(count, seed):
    counts, faults = try_texts(count, seed)
    assert not faults
    assert counts["accepted"] > 20


@pytest.mark.parametrize(
    "call",
    [
        lambda text, _: exec(text),
        lambda text, _: {}[text],
        lambda text, _: mc.expression("x").latex() + text.nothing,
        lambda text, _: int(text),
    ],
)
def test_a_hole_is_seen(call):
    with pytest.raises(Fault):
        judge(Parameter("planted.text", 1, call), STATEMENT, 0)


@pytest.mark.parametrize(
    "text", [STATEMENT, RUNS, f"def f(x={RUNS}):\n    pass", f"def f(x):\n    {STATEMENT}", "import os"]
)
def test_code_in_a_source_is_seen(text):
    with pytest.raises(Fault):
        check_source(text)


def test_a_wrong_result_is_seen():
    function = mc.compile("sum(x)", declarations="x: vector(n)", target="numpy")
    function._into = mc.compile("2*sum(x)", declarations="x: vector(n)", target="numpy")._into
    with pytest.raises((AssertionError, Fault)):
        examine(function)


@pytest.mark.whole
def test_sources_are_what_is_allowed():
    for text in texts():
        check_source(text)
