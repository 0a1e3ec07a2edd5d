"""Sums of numbers at indices print as a literal, or as a text of entries; either text is read as the same node."""

import numpy as np
import pytest

import matcalc as mc

CASES = {
    "q[0] + q[1]": ("q: vector(2)", [1, 1], "[1; 1]"),
    "2*q[0] - 3*q[2]": ("q: vector(3)", [2, 0, -3], "[2; 0; -3]"),
    "3*q[0]": ("q: vector(2)", [3, 0], "3*eye(2)[:, 0]"),
    "q[0]/3 + q[1]": ("q: vector(2)", [1 / 3, 1], "[1; 3]/3"),
    "2*A[0, 0] + 3*A[1, 1]": ("A: matrix(2, 2)", [[2, 0], [0, 3]], "[2, 0; 0, 3]"),
    "A[0, 0] - A[0, 1]/2": ("A: matrix(1, 2)", [[1, -0.5]], "[1, -0.5]"),
    "q[0] + q[39]": ("q: vector(40)", np.eye(40)[0] + np.eye(40)[39], "[1; zeros(38); 1]"),
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("text", CASES)
def test_gradient_of_entries(text):
    declarations, expected, printed = CASES[text]
    name = declarations[0]
    gradient = mc.gradient(text, name, declarations)
    assert str(gradient) == printed
    assert mc.expression(str(gradient), gradient.declarations).node is gradient.node
    at = np.ones(np.shape(expected))
    np.testing.assert_allclose(gradient(at), expected, rtol=1e-15)
    compiled = mc.compile(mc.gradient(f"({text})^2/2", name, declarations), target="numpy")
    np.testing.assert_allclose(compiled(at), np.sum(expected) * np.array(expected), rtol=1e-14)


@pytest.mark.parametrize("text", ["eye(2)[:, 0] + eye(2)[:, 1]", "3*eye(2)[:, 0]", "eye(2)[:, 0]/3 + eye(2)[:, 1]"])
def test_what_is_written_reads_back(text):
    e = mc.expression(text)
    assert mc.expression(str(e)).node is e.node
    assert mc.expression(str(e.simplify())).node is e.simplify().node
