"""Comments in programs are true: the independent evaluator computes the assigned value from the comment.

Each line of a program for NumPy runs unchanged, and the test reads the assigned value right after it.
"""

import re

import numpy as np
import pytest

import matcalc as mc
from matcalc.language import syntax
from oracle import judging
from oracle.cases import identities
from oracle.data import SIZES
from oracle.reading import Unreadable
from oracle.values import evaluate

CASES = identities()
LINE = re.compile(r"^ {4}(?P<target>\w+)(?P<entry>\[0\])?(\[.*?\])? (?P<sign>\+?)= .*?  # (?P<said>.*?)( \([^()]*\))?$")
LENGTH = 75


def seen(function, data):
    """Run a function line by line; return its comments, each with the value that its line assigned and the change."""
    found = []
    lines = []
    for line in function.source.split("\n"):
        read = LINE.match(line)
        target = read and read["target"] + (read["entry"] or "")
        before = f"    before = {target} + 0.0" if read and read["sign"] else "    before = 0.0"
        after = f"    see({read['said'].strip()!r}, {target}, before)" if read else ""
        lines += [before, line, after] if read else [line]
    scope = {"see": lambda said, value, before: found.append((said, (np.array(value), value - before)))}
    exec("\n".join(lines), scope)
    (name,) = [key for key in scope if key.endswith("_into")]
    results = [np.empty(shape or 1) for shape in shapes(function, data)]
    assert scope[name](*(data[a] for a in function.args), *results) == 0
    return found


def shapes(function, data):
    made = function(**{name: data[name] for name in function.args})
    return [np.shape(one) for one in (made if isinstance(made, tuple) else (made,))]


def is_whole(said):
    return not said.startswith("for ") and "..." not in said


@pytest.mark.thinned(2)
@pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])
@pytest.mark.sampled(48)
def test_comments_are_true(case):
    function, data = program(case)
    for said, values in seen(function, data):
        assert len(said) < LENGTH
        expected = read_by_the_oracle(said, data)
        if expected is not None:
            assert any(same(value, expected) for value in values), said


@pytest.mark.whole
def test_nearly_all_comments_are_judged():
    said = [(words, data) for case in CASES[::10] for f, data in [program(case)] for words, _ in seen(f, data)]
    said = [(words, data) for words, data in said if not words.startswith("for ")]  # states no value
    judged = [words for words, data in said if read_by_the_oracle(words, data) is not None]
    assert len(said) > 80
    assert len(judged) > 0.8 * len(said), set(words for words, _ in said) - set(judged)


def program(case):
    """Return the program of a formula and its derivative for NumPy, and data."""
    function = mc.compile([mc.expression(case.text, case.let), judging.derive(case)], target="numpy", name="f")
    data = case.sample()
    return function, {**data, **{name: SIZES[name] for name in function.args if name not in data}}


def read_by_the_oracle(said, data):
    """Return the value of a comment by the independent evaluator; None where it is cut or not in the language."""
    try:
        return evaluate(said, data, SIZES) if is_whole(said) else None
    except (Unreadable, KeyError):
        return None


def same(value, expected):
    """Return whether a line assigned a value: unchanged, repeated along an axis, or with axes split or joined."""
    if value.size == expected.size:
        expected = expected.reshape(value.shape)
    elif value.ndim < 3:
        value = np.broadcast_to(value, expected.shape)
    return value.shape == expected.shape and np.allclose(value, expected, rtol=1e-8, atol=1e-10, equal_nan=True)


def test_what_a_line_on_the_way_is_for():
    function = mc.value_and_gradient("sum(log(1 + exp(-y .* (X*w)))) + lam*w'*w", "w", target="numpy")
    assert re.search(r"X @ w +# X\*w \(m,\)", function.source)
    assert re.search(r"-y\*X_w +# -y\.\*\(X\*w\)\n", function.source)


def test_named_parts_are_called_by_their_names():
    let = "A: matrix(n, n); y: vector(n); c: scalar"
    function = mc.value_and_gradient("K = A*A' + c*eye(n); y'*inv(K)*y", "c", let, target="numpy")
    assert re.search(r"# K = A\*A' \+ c\*eye\(n\) \(n, n\)\n", function.source)
    assert "inv(A*A'" not in function.source
    assert "value = y'*inv(K)*y where K = A*A' + c*eye(n)\n" in function.source
    with pytest.raises(np.linalg.LinAlgError, match="K is singular"):
        function(A=np.zeros((2, 2)), y=np.ones(2), c=0.0)


@pytest.mark.parametrize("text", ["tanh(sum(cumsum(X[0, 1:])))", "norm2(abs(X)[0, 1:])", "sum(sort(x[1:]))"])
@pytest.mark.whole
def test_what_reads_a_part_of_an_operand_has_no_comment_that_is_no_product(text):
    """An index over a part of an axis is no product of the language; the formula compiles all the same."""
    symbol = "X" if "X" in text else "x"
    f = mc.value_and_gradient(text, symbol, "X: matrix(m, n); x: vector(n)", target="numpy")
    point = np.linspace(-1.0, 2.0, 12).reshape(3, 4) if symbol == "X" else np.array([3.0, -1.0, 2.0, 0.5])
    plain = mc.gradient(text, symbol, "X: matrix(m, n); x: vector(n)")
    _, gradient = f(**{symbol: point})
    for at in np.ndindex(point.shape):
        step = np.zeros(point.shape)
        step[at] = 1e-6
        slope = (f(**{symbol: point + step})[0] - f(**{symbol: point - step})[0]) / 2e-6
        assert gradient[at] == pytest.approx(slope, rel=1e-6, abs=1e-8)
    np.testing.assert_allclose(plain(**{name: point for name in plain.symbols}), gradient)


@pytest.mark.whole
def test_trees_far_longer_than_their_graphs_are_dots(monkeypatch):
    """Comments show dots there: as trees, repeated index forms took millions of renaming steps and did not end."""
    steps, exchanged = [], syntax.exchanged

    def counted(node, operands):
        steps.append(1)
        assert len(steps) < 20_000
        return exchanged(node, operands)

    low = "svd_lowrank(flip(A)/(4 + 4*sum(flip(A).^2)) + {i,j: (1 + iota(n))[i]*ones(m)[j]*[i == j]}, 1)"
    gradient = mc.expression(f"svdfun(exp, min({low}, B))", "A: matrix(n, m); B: matrix(n, m)").vjp("A")
    monkeypatch.setattr(syntax, "exchanged", counted)
    assert "..." in mc.compile(gradient, target="numpy").source
