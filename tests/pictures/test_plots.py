"""Plots of numbers are right, as text and by matplotlib; undrawable data give a message."""

from xml.etree import ElementTree

import numpy as np
import pytest

import matcalc as mc
from matcalc.pictures.letters import HEIGHT, WIDTH, bars, cells, points
from matcalc.pictures.plots import Bar, Bars, Cells, Curves

LET = "X: matrix(m, n); w: vector(n)"
HESSIANS = {
    "sum(exp(x))": lambda n: np.eye(n),
    "sum(x.*A*x)": lambda n: np.ones((n, n)),
    "x[0]*sum(x)": lambda n: np.maximum(np.eye(n)[:1], np.eye(n)[:, :1]) * 1.0,
    "sum(A*x)": lambda n: np.zeros((n, n)),
}


# ---- nonzero entries


@pytest.mark.parametrize("formula", HESSIANS)
@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_a_hessian_has_the_entries_that_it_has_by_hand(formula, n):
    if n == 0 and "[0]" in formula:
        return
    found = mc.structure(mc.hessian(formula, "x", "A: matrix(n, n); x: vector(n)"), sizes={"n": n})
    wanted = HESSIANS[formula](n) != 0
    assert np.array_equal(found.pattern, wanted)
    assert found.density == (wanted.mean() if n else 0.0)


def test_blocks_stand_beside_each_other_as_stacked_columns():
    """In sum(exp(U*v)) rows of U do not interact; with U stacked by columns, the entries are those of equal rows."""
    m, n = 3, 2
    found = mc.structure(
        mc.hessian("sum(exp(U*v))", ["U", "v"], "U: matrix(m, n); v: vector(n)"), sizes={"m": m, "n": n}
    )
    of_u = np.kron(np.ones((n, n)), np.eye(m))
    wanted = np.block([[of_u, np.ones((m * n, n))], [np.ones((n, m * n)), np.ones((n, n))]]) != 0
    assert found.rows == found.columns == (m * n, n)
    assert np.array_equal(found.pattern, wanted)


def test_a_jacobian_by_several_is_a_row_of_blocks():
    found = mc.structure(mc.jacobian("X*w", ["X", "w"], LET), sizes={"m": 2, "n": 3})
    assert found.rows == (2,) and found.columns == (6, 3)
    assert np.array_equal(found.pattern, np.hstack([np.kron(np.ones((1, 3)), np.eye(2)), np.ones((2, 3))]) != 0)


def test_at_data_the_zeros_of_data_are_seen():
    data = {"X": [[1.0, 0, 0], [0, 1, 1]], "w": [1, 2, 3.0]}
    found = mc.structure(mc.hessian("sum(exp(X*w))", "w", LET), data=data)
    assert np.array_equal(found.pattern, [[1, 0, 0], [0, 1, 1], [0, 1, 1]])


def test_rounding_is_no_entry():
    found = mc.structure("Q*Q' - eye(n) + diag(x)", "Q: matrix(n, n) orthogonal; x: vector(n)", sizes={"n": 6})
    assert np.array_equal(found.pattern, np.eye(6))


def test_what_cannot_be_looked_at_is_said():
    for sizes, words in (({"k": 2}, "'k' is not a size"), ({"n": -1}, "from 0"), ({"n": 2.5}, "from 0")):
        with pytest.raises(mc.ShapeError, match=words):
            mc.structure("diag(x)", "x: vector(n)", sizes=sizes)
    with pytest.raises(mc.NotSupported, match="4096"):
        mc.structure("diag(x)", "x: vector(n)", sizes={"n": 10**6})
    with pytest.raises(mc.ShapeError, match="do not fit"):
        mc.structure((("x", "A"), ("A", "x")), "x: vector(3); A: matrix(3, 3)")


# ---- checks of a derivative


def test_the_errors_of_a_right_derivative_fall_with_the_square_of_the_step():
    for what, (steps, errors) in mc.check("sum(exp(X*w))", "w", LET).plot().series.items():
        at = dict(zip(steps, errors, strict=True))
        assert 30 < at[1e-1] / at[1e-2] < 300, what
        assert min(errors) < 1e-8


def test_the_error_of_a_wrong_formula_stays():
    (errors,) = (errors for _, errors in mc.check("x'*A*x", "x", against="2*A*x").plot().series.values())
    assert min(errors) > 0.01


AGAINST = [("inv(X)", "X", "-inv(X)*dX*inv(X)"), ("sum(x.^3)", "x", "diag(6*x)"), ("A*X*B", "X", "kron(B',A)"),
           ("A*X*B", "X", "A'*G*B'"), ("tr(A*X)", "X", "A'"), ("A*X*B", "X", None),
           ("tr(inv(s*S))", "s: scalar; S: matrix(n, n) spd", None)]  # fmt: skip


@pytest.mark.sampled(9)
@pytest.mark.parametrize(("f", "x", "against"), AGAINST)
def test_every_kind_of_derivative_has_its_curve(f, x, against):
    series = mc.check(f, x.partition(":")[0], x if ":" in x else "", against=against).plot().series
    assert series
    for steps, errors in series.values():
        assert len(steps) == len(errors) > 10 and min(errors) < 1e-6


# ---- the progress of a fit, the cost of a plan


def test_a_fit_comes_down():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 3)), rng.standard_normal(30)
    given = {"wrt": "w", "start": {"w": np.zeros(3)}, "data": {"X": X, "y": y}, "target": "numpy"}
    for method in (None, "trust-ncg", "SLSQP", "lm", "trf"):
        fit = mc.minimize("norm2(X*w - y)^2", **given, method=method)
        assert fit.history[0] == pytest.approx(y @ y)
        assert min(fit.history) == pytest.approx(fit.fun)
        assert "value of the result" in str(fit.plot())
    del fit["history"]
    with pytest.raises(mc.NotSupported, match="compiled=True"):
        fit.plot()


def test_a_plan_is_drawn_step_by_step():
    plan = mc.compile("X'*(X*w)", declarations=LET, target="numpy", sizes={"m": 300, "n": 200}).plan
    drawn = plan.plot()
    steps, (whole,) = drawn.bars[:-1], drawn.bars[-1:]
    assert sum(bar.value for bar in steps) == pytest.approx(whole.value) == pytest.approx(1e6 * plan.time)
    assert len(steps) == len(plan.costs) and "m = 300" in drawn.across
    measured = plan.plot(measured=1e-3).bars[-1]
    assert measured.value == pytest.approx(1000) and "times the least" in measured.note
    assert {bar.kind for bar in steps} <= {"waits for arithmetic", "waits for cache", "waits for memory"}


# ---- text


def test_points_are_where_they_are():
    lines = points([0.0, 1.0], [0.0, 1.0], "x", "y", (False, False))
    fields = [line.split("│")[1] for line in lines[1 : 1 + HEIGHT]]
    assert all(len(field) == WIDTH for field in fields)
    assert fields[0][-1] == "\u2808" and fields[-1][0] == "\u2840"
    assert sum(char != "\u2800" for field in fields for char in field) == 2
    assert points([], [], "x", "y", (True, True)) == ["nothing to draw"]
    assert points([1.0], [1.0], "x", "y", (True, True))


def test_bars_are_as_long_as_their_part():
    full, half, none = bars(["a", "bb", "c"], [2.0, 1.0, 0.0], ["2", "1", "0"])
    assert full.count("█") == 2 * half.count("█") == WIDTH // 2 and "█" not in none
    assert bars([], [], []) == []


def test_cells_are_one_by_one_while_they_fit_and_shaded_where_not():
    assert cells([[True, False], [False, True]], [1], [1]) == ["│██│  │", "├──┼──┤", "│  │██│"]
    wide = cells([[k % 2 == 0 for k in range(240)]] * 3, [], [])
    assert set(wide[0].strip("│")) == {"▒"}
    assert cells([], [], []) == []


# ---- by matplotlib, and without


PLOTS = [
    Curves({"a": ([1.0, 0.1], [1.0, 0.01])}, "step", "error", (True, True)),
    Curves({"flat": ([1.0, 0.1], [2.0, 2.0])}, "step", "error", (True, True)),
    Curves({}, "step", "error"),
    Bars([Bar("one", 1.0, "kind", "note"), Bar("two", 0.0, "other", "")], "us"),
    Cells([[True, False], [False, True]], [1], [1], "2 x 2"),
]


@pytest.mark.parametrize("plot", PLOTS, ids=lambda plot: type(plot).__name__)
def test_a_plot_is_svg_a_file_and_text(plot, tmp_path):
    pytest.importorskip("matplotlib")
    assert ElementTree.fromstring(plot.svg).tag.endswith("svg")
    assert plot.svg == plot.svg == plot._repr_svg_()
    plot.save(tmp_path / "plot.png")
    assert (tmp_path / "plot.png").read_bytes()[:4] == b"\x89PNG"
    plot.save(tmp_path / "plot.txt")
    assert (tmp_path / "plot.txt").read_text("utf-8") == f"{plot}\n"
    with pytest.raises(mc.NotSupported, match=r"plot\.docx"):
        plot.save(tmp_path / "plot.docx")


def test_without_matplotlib_plots_are_text(monkeypatch):
    monkeypatch.setattr("matcalc.pictures.plots.find_spec", lambda name: None)
    plot = PLOTS[0]
    assert plot._repr_svg_() is None
    assert repr(plot).startswith("a\n")
    with pytest.raises(mc.NotSupported, match="matplotlib"):
        _ = plot.svg
