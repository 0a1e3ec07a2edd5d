"""Plain Python source beside the code that an expert writes by hand: the same results, about as many lines."""

import ast
import inspect
import re
import subprocess
from statistics import median

import pytest
from plain_source.counted import RUFF, lines_by_function
from plain_source.data import drawn
from plain_source.formulas import FORMULAS, SECOND, SIZES
from plain_source.sources import assert_close, loaded, outputs, source

ALL = FORMULAS + SECOND
NAMES = [f.name for f in ALL]
MOST_LINES = 1.3
"""The bound of the median of lines, relative to hand-written code."""
NUMBERED = re.compile(r"(v|t|tmp|temp|_)_?\d{2,}")

needs_ruff = pytest.mark.skipif(not RUFF.exists(), reason="ruff is not installed: pip install '.[lint]'")


def test_the_table_covers_enough():
    of_both = {f.text for f in SECOND if f.gives == "hessian"} & {f.text for f in SECOND if f.gives == "hvp"}
    assert len(FORMULAS) >= 100
    assert len(of_both) >= 30
    assert len(set(NAMES)) == len(NAMES)


@pytest.mark.whole
@pytest.mark.parametrize("formula", ALL, ids=NAMES)
def test_hand_code_is_right(formula):
    """The numeric value of the derived formulas, by plain evaluation, equals that of the hand-written code."""
    for seed, sizes in enumerate(SIZES):
        arguments = drawn(formula, sizes, seed)
        got = tuple(e(**{name: arguments[name] for name in e.symbols}) for e in outputs(formula))
        assert_close(got, formula.function(**arguments))


@pytest.mark.sampled(120)
@pytest.mark.parametrize("formula", ALL, ids=NAMES)
def test_plain_source_equals_hand_code(formula):
    function = loaded(formula)
    for seed, sizes in enumerate(SIZES):
        arguments = drawn(formula, sizes, seed)
        assert_close(function(**arguments), formula.function(**arguments))


@pytest.mark.sampled(40)
@pytest.mark.parametrize("formula", ALL, ids=NAMES)
def test_names_say_what_they_hold(formula):
    text = source(formula)
    names = {n.id for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    assert [name for name in sorted(names) if NUMBERED.fullmatch(name)] == []


@needs_ruff
@pytest.mark.whole
def test_ruff_finds_nothing(tmp_path):
    for formula in ALL:
        (tmp_path / f"{formula.name}.py").write_text(source(formula), encoding="utf-8")
    done = subprocess.run([RUFF, "check", "--isolated", "--no-cache", tmp_path], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@needs_ruff
@pytest.mark.whole
def test_lines_are_few():
    ratios = {}
    for formula in ALL:
        hand = lines_by_function(inspect.getsource(formula.function))
        plain = lines_by_function(source(formula))
        ratios[formula.name] = sum(plain.values()) / sum(hand.values())
    longest = dict(sorted(ratios.items(), key=lambda item: -item[1])[:10])
    assert median(ratios.values()) <= MOST_LINES, longest
