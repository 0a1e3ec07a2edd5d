"""User-defined rules go through the checks of the rulebook and return their report; a geometric mean by one entry."""

from fractions import Fraction
from pathlib import Path

import mpmath as mp
import numpy as np
import pytest
from rules.test_define import FAULTY

import matcalc as mc
from matcalc.commands import cli
from matcalc.rulebook import default_rulebook
from matcalc.tensor import operations

MEAN = Path(__file__).resolve().parents[2] / "examples" / "geometric_mean.toml"
LET = "A: matrix(n, n) spd; B: matrix(n, n) spd; C: matrix(n, n)"


@pytest.fixture(scope="module")
def mean():
    return mc.load_rules(MEAN)


@pytest.mark.whole
def test_a_file_and_a_definition_have_the_report_of_the_rulebook():
    own = mc.define("own_inv(X: matrix(n, n)) -> matrix(n, n)", "np.linalg.inv(X)", differential="-Y*dX*Y", degree=-1)
    report, shipped = own.report, mc.check_rules("inv")
    assert report
    assert shipped
    checks = {f.what for _, found in report.findings for f in found}
    alone = {what for what in checks if "inside larger tensors" not in what}
    alone -= {"the second derivative, against differences,"}  # an own value is of real numbers unless stated
    assert alone < checks
    assert alone <= {f.what for _, found in shipped.findings for f in found}
    assert {"the value", "the derivative in X, against complex step,", "`degree`"} <= checks
    assert any("ties" in what for what in checks)
    assert any("scaled cotangents" in what for what in checks)
    assert str(report).endswith("tests")
    assert str(report).count("\nown_inv") == str(report).count("  right  ")


def test_a_report_of_a_wrong_rule_says_so():
    book = default_rulebook()
    with pytest.raises(mc.RuleError, match=r"against complex step, is off by 2"):
        mc.define("bad_inv(X: matrix(n, n)) -> matrix(n, n)", "np.linalg.inv(X)", differential="Y*dX*Y")
    assert default_rulebook() is book


def test_own_rules_are_tried_in_larger_tensors(monkeypatch):
    """Laws also extract factors from arguments with a batch axis, as for the book's rules; one fault is deliberate."""
    spelled = ("rows_inv(X: matrix(n, n)) -> matrix(n, n)", "np.linalg.inv(X)")
    own = mc.define(*spelled, differential="-Y*dX*Y", degree=-1)
    told = " ".join(f.what for _, found in own.report.findings for f in found)
    assert "inside larger tensors, X by rows," in told
    assert "inside larger tensors, X by columns," in told
    monkeypatch.setattr(operations, "_degree", lambda rule, slots, params: Fraction(1))
    with pytest.raises(mc.RuleError, match="inside larger tensors"):
        mc.define(spelled[0].replace("rows", "other"), spelled[1], differential="-Y*dX*Y", degree=-1)


@pytest.mark.whole
def test_a_rule_is_not_tested_where_rounding_decides_its_value():
    """A skew 3 x 3 matrix is singular: there an inverse is rounding errors, and so is its derivative."""
    own = mc.define("my_inv(X: matrix(n, n)) -> matrix(n, n)", "np.linalg.inv(X)", differential="-Y*dX*Y", degree=-1)
    assert not _tests_in_skew(own.report)
    square = mc.define("my_square(X: matrix(n, n)) -> matrix(n, n)", "X @ X", differential="dX*X + X*dX", degree=2)
    assert _tests_in_skew(square.report)


def _tests_in_skew(report):
    return [f for _, found in report.findings for f in found if "in skew X" in f.what]


@pytest.mark.whole
def test_the_command_line_tests_a_file(tmp_path, capsys, mean):
    path = tmp_path / "fine.toml"
    path.write_text(FAULTY.partition("[wrong_sign]")[0].replace("fine", "told"))
    assert cli.main(["rules", str(path)]) == 0
    shown = capsys.readouterr().out
    assert "Xbar = G*X' + X'*G" in shown
    assert "all right:" in shown
    path = tmp_path / "faulty.toml"
    path.write_text(FAULTY)
    assert cli.main(["rules", str(path)]) == 2
    told = capsys.readouterr().err
    assert all(name in told for name in ("wrong_sign", "wrong_shape", "cosine", "degre", "sides differ"))


@pytest.mark.long
@pytest.mark.whole
def test_the_geometric_mean_and_its_derivative_at_many_digits(mean):
    """A # B = A*(inv(A)*B)^(1/2); differences at 60 digits."""
    rng = np.random.default_rng(5)
    M, N, C, E = rng.standard_normal((4, 4, 4))
    A, B, E = M @ M.T / 4 + np.eye(4), N @ N.T / 4 + np.eye(4), E + E.T
    with mp.workdps(60):

        def value(A_):
            return A_ * mp.sqrtm(A_**-1 * mp.matrix(B))

        def traced(t):
            Y = value(mp.matrix(A) + t * mp.matrix(E))
            return mp.re(sum((mp.matrix(C) * Y)[i, i] for i in range(4)))

        h = mp.mpf(10) ** -15
        slope = float((traced(h) - traced(-h)) / (2 * h))
        wanted = np.array(value(mp.matrix(A)).apply(mp.re).tolist(), dtype=float)
    for target in ("numpy", "numba"):
        found = mc.compile("geomean(A, B)", declarations=LET, target=target)(A, B)
        assert np.allclose(found, wanted, rtol=1e-13)
        assert np.allclose(found @ np.linalg.solve(A, found), B, rtol=1e-12, atol=1e-12)
        gradient = mc.compile(mc.gradient("tr(C*geomean(A, B))", "A", LET), target=target)(A=A, B=B, C=C)
        assert np.isclose(np.sum(gradient * E), slope, rtol=1e-12)
        pushed = mc.compile(mc.jvp("geomean(A, B)", "A", LET), target=target)(A=A, B=B, dA=E)
        assert np.isclose(np.trace(C @ pushed), slope, rtol=1e-12)


@pytest.mark.whole
def test_the_geometric_mean_is_ten_lines(mean):
    text = MEAN.read_text(encoding="utf-8")
    entry = text[text.index("[geomean]") :].strip().splitlines()
    assert len([line for line in entry if line.strip() and not line.startswith("#")]) <= 10
