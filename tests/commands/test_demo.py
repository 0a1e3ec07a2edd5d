"""The demo: its data, its reference solution, and the whole run."""

import io

import numpy as np
import pytest

from matcalc.commands import demo


def test_data_are_the_published_ones():
    X, y = demo.breast_cancer()
    assert X.shape == (569, 30)
    assert (np.sum(y == 1.0), np.sum(y == -1.0)) == (212, 357)
    assert np.allclose(X.mean(axis=0), 0.0, atol=1e-12)
    assert np.allclose(X.std(axis=0), 1.0)


def test_reference_is_a_stationary_point():
    """The stored coefficients solve the model, by NumPy alone."""
    X, y = demo.breast_cancer()
    known = demo.reference()
    z = y * (X @ known.w)
    gradient = -X.T @ (y / (1 + np.exp(z))) + 2 * known.lam * known.w
    assert np.max(np.abs(gradient)) < 1e-11
    assert np.isclose(np.logaddexp(0, -z).sum() + known.lam * known.w @ known.w, known.loss, rtol=1e-13)
    assert "scikit-learn" in known.origin


@pytest.mark.whole
def test_whole_demo():
    out = io.StringIO()
    assert demo.run(out) == 0
    text = out.getvalue()
    assert "\x1b" not in text
    for word in ("gradient", "Hessian", "def ", "iterations", "accuracy", "reference", "times faster"):
        assert word in text


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_on_a_terminal_progress_is_shown_and_taken_away():
    page = demo.Page(Terminal())
    page.title("Title")
    with page.working("compiling"):
        pass
    assert page.out.getvalue() == "\n\x1b[1mTitle\x1b[0m\ncompiling ...\r\x1b[K"
