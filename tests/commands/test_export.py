"""`matcalc export`: files run without matcalc, test themselves, and fail their tests if they are wrong."""

import ast
import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import matcalc as mc
from matcalc.api.export import exported
from matcalc.commands import cli
from matcalc.compiler.files.save_test import TEST_NAMES
from matcalc.compiler.kernels.library import load_library

LOGISTIC = ("sum(log(1 + exp(-y .* (X*w)))) + lam*w'*w", "w", "X: matrix(m, n); w: vector(n); lam: scalar positive")
FACTORS = (
    "norm2(M - U*V')^2 + lam*(norm2(U)^2 + norm2(V)^2)",
    ["U", "V"],
    "U: matrix(m, k); V: matrix(n, k); M: matrix(m, n); lam: scalar",
)
GAUSSIAN = ("logdet(S) + tr(inv(S)*C)", "S", "S: matrix(n, n) spd; C: matrix(n, n) symmetric")
PROCESS = (
    "y'*inv(K)*y/2 + logdet(K)/2 where K = exp(a)*exp(-D/(2*ell^2)) + s^2*eye(n)",
    ["a", "ell", "s"],
    "D: matrix(n, n) symmetric; y: vector(n); a: scalar; ell: scalar; s: scalar",
)
EXPM = ("tr(expm(X)*A)", "X", "X: matrix(n, n); A: matrix(n, n)")
NUCLEAR = ("norm_nuc(X - M) + tr(A'*X)", "X", "X: matrix(m, n)")
PLACES = ("-sum{t: log_softmax(X*W, axis=1)[t, y[t]]}", "W", "")
LOGARITHM = ("sum(log(x))", "x", "x: vector(n)")
SKEW = ("sum((A*Q).^3)", "Q", "Q: matrix(n, n) skew; A: matrix(n, n)")
SIZES = ("sum(x[20:])/n + n", "x", "x: vector(n)")
ALL = [LOGISTIC, FACTORS, GAUSSIAN, PROCESS, EXPM, NUCLEAR, PLACES, LOGARITHM, SKEW, SIZES]
EVERYTHING = ("value", "gradient", "hvp", "hessian")


def written(formula, what, target="numpy", **options):
    f, wrt, declarations = formula
    return exported(f, wrt, what, declarations, target=target, **options)


def loaded(text, folder, name="saved"):
    """Import a file; it is on disk so that Numba can cache it."""
    path = folder / f"{name}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(f"{folder.name}_{name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.whole
@pytest.mark.parametrize("formula", ALL, ids=lambda formula: formula[0][:20])
@pytest.mark.sampled(5)
def test_a_file_tests_itself(formula, tmp_path):
    file = loaded(written(formula, ("value", "gradient", "hvp")), tmp_path)
    assert len(file.CASES) == 2
    assert file.self_test() == []


@pytest.mark.thinned(6)
@pytest.mark.parametrize("formula", [LOGISTIC, FACTORS, GAUSSIAN], ids=lambda formula: formula[0][:20])
@pytest.mark.whole
def test_all_derivatives_on_both_forms(formula, tmp_path):
    file = loaded(written(formula, EVERYTHING, "numba"), tmp_path)
    assert file.HAS_NUMBA and file.self_test() == []


def test_results_against_numpy(tmp_path):
    file = loaded(written(LOGISTIC, EVERYTHING, name="loss"), tmp_path)
    rng = np.random.default_rng(0)
    X, w, y, v = rng.standard_normal((6, 4)), rng.standard_normal(4), rng.standard_normal(6), rng.standard_normal(4)
    s = 1 / (1 + np.exp(y * (X @ w)))
    H = X.T @ np.diag(y**2 * s * (1 - s)) @ X + 0.6 * np.eye(4)
    value, gradient = file.loss(X=X, w=w, y=y, lam=0.3)
    np.testing.assert_allclose(value, np.sum(np.log1p(np.exp(-y * (X @ w)))) + 0.3 * w @ w, rtol=1e-13)
    np.testing.assert_allclose(gradient, 0.6 * w - X.T @ (y * s), rtol=1e-12)
    np.testing.assert_allclose(file.loss_hvp(X=X, w=w, y=y, lam=0.3, v=v), H @ v, rtol=1e-12)
    np.testing.assert_allclose(file.loss_hessian(X=X, w=w, y=y, lam=0.3), H, rtol=1e-12)


WRONG = [
    ("value[0] = lam_wt_w + softplus_sum", "value[0] = lam_wt_w + softplus_sum + 1e-6", "value is "),
    ("X.T @ y_sigmoid ", "X.T @ y_sigmoid*1.0000001 ", "gradient_w["),
    ("2.0*lam_w_i", "2.1*lam_w_i", "the difference quotient of value in w[0] with step "),
]


@pytest.mark.parametrize(("right", "wrong", "said"), WRONG, ids=["value", "gradient by digits", "gradient by slope"])
def test_what_is_wrong_is_said(right, wrong, said, tmp_path):
    text = written(LOGISTIC, ("value", "gradient"))
    assert right in text
    found = loaded(text.replace(right, wrong, 1), tmp_path).self_test()
    assert any(said in line and line.endswith("(case 1)") for line in found), found


@pytest.mark.parametrize(("wrong", "status"), [("lam_wt_w + softplus_sum", 0), ("lam_wt_w - softplus_sum", 1)])
def test_exit_status(wrong, status, tmp_path):
    path = tmp_path / "saved.py"
    path.write_text(written(LOGISTIC, ("value",)).replace("lam_wt_w + softplus_sum", wrong))
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, check=False)
    assert done.returncode == status and done.stdout.startswith("value is " if status else "all right"), done.stderr


def test_a_file_without_data_says_so(tmp_path):
    """A logarithm of negative numbers is finite at no data."""
    path = tmp_path / "saved.py"
    path.write_text(written(("sum(log(-exp(x)))", "x", ""), ("value",)))
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "not tested: no data were found at which the results are finite\n"


@pytest.mark.whole
@pytest.mark.parametrize("target", ["numpy", "numba", "torch", "jax"])
def test_every_file_without_data_says_so(target, tmp_path):
    if target in ("torch", "jax"):
        pytest.importorskip(target)
    fn = mc.value_and_gradient("sum(log(-exp(x)))", "x", target=target)
    path = tmp_path / "f.py"
    text = "not tested: no data were found at which the results are finite"
    fn.save(path)
    assert text in path.read_text() and "no number is tested" not in path.read_text()


MIXED = {
    "log(-a)": "a: scalar",
    "log(a) + acosh(b) + asin(c)": "a: scalar; b: scalar; c: scalar",
    "sum(log(-x)) + sum(acosh(x + 7))": "x: vector(n)",
    "sqrt(a - 2) + log(2 - b)": "a: scalar; b: scalar",
    "logdet(S)*acosh(a)": "S: matrix(n, n) spd; a: scalar",
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("text", MIXED)
def test_data_lie_inside_the_domain(text, tmp_path):
    """Value and gradients are finite at the data of the test, though each argument has a domain of its own."""
    let = MIXED[text]
    names = [part.partition(":")[0].strip() for part in let.split(";")]
    path = tmp_path / "saved.py"
    mc.value_and_gradient(mc.expression(text, let), names, target="numpy").save(path)
    spec = importlib.util.spec_from_file_location("saved", path)
    file = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(file)
    assert file.CASES and all(np.all(np.isfinite(a)) for _, wanted in file.CASES for a in wanted.values())
    assert file.self_test() == []


@pytest.mark.whole
def test_plain_tests_without_data_are_skipped(tmp_path):
    from matcalc.api.plain_tests import plain_test

    text = plain_test([("f", [mc.expression("sum(log(-exp(x)))")])], "f.py")
    (tmp_path / "test_f.py").write_text(text)
    done = subprocess.run([sys.executable, "-m", "pytest", "-rs", "-p", "no:cacheprovider", "test_f.py"],
                          cwd=tmp_path, capture_output=True, text=True, check=False)  # fmt: skip
    assert done.returncode in (0, 5) and "not tested: no data were found" in done.stdout


def test_the_mathematics_stands_first():
    text = written(LOGISTIC, ("value", "gradient"), "numba")
    line = text.index("# ---- The mathematics ends here.")
    for above in ("def f_numpy_into(", "def f_numba_into(", "def f("):
        assert text.index(above) < line
    for below in ("def real_array(", "def kernels(", "    def gemv(", "CASES = ("):
        assert text.index(below) > line
    head = ast.get_docstring(ast.parse(text))
    for said in ("Input", LOGISTIC[0], r"\mathbf{X}", "w: vector(n)", "flops"):
        assert said in head


def test_equal_input_equal_bytes():
    assert written(LOGARITHM, EVERYTHING, "numba") == written(LOGARITHM, EVERYTHING, "numba")


@pytest.mark.whole
@pytest.mark.parametrize("config", [["--isolated"], ["--config", "pyproject.toml"]], ids=["default", "ours"])
def test_ruff_is_content(config, tmp_path, pytestconfig):
    ruff = Path(sys.executable).with_name("ruff")
    if not ruff.exists():
        pytest.skip("ruff is not installed: pip install '.[lint]'")
    paths = []
    for k, formula in enumerate([LOGISTIC, GAUSSIAN]):
        paths.append(tmp_path / f"saved{k}.py")
        paths[-1].write_text(written(formula, ("value", "gradient"), "numba", with_solve=True))
    words = [ruff, "check", "--no-cache", *config, *paths]
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=pytestconfig.rootpath)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("target", ["numba", "numpy", "jax", "torch"])
def test_lines_of_the_library_fit_where_they_are_indented(target):
    """Saved files indent library lines by four more columns."""
    lines = [line for item in load_library(target).items.values() for line in item.text.splitlines()]
    assert [line for line in lines if len(line) > 116] == []


def test_solve(tmp_path):
    """SciPy finds the minimum of a quadratic loss that solves the normal equations."""
    loss = ("norm2(X*w - y)^2 + lam*w'*w", "w", "lam: scalar positive")
    file = loaded(written(loss, ("value", "gradient", "hvp"), with_solve=True), tmp_path)
    data = file.CASES[0][0]
    X, y, lam = data["X"], data["y"], data["lam"]
    want = np.linalg.solve(X.T @ X + lam * np.eye(X.shape[1]), X.T @ y)
    np.testing.assert_allclose(file.solve(data).parts["w"], want, rtol=1e-6)


def test_nothing_of_a_kernel_is_called_as_the_file_calls_its_own():
    assert not set(TEST_NAMES) & set(load_library("numba").items)


def run(capsys, *words):
    status = cli.main(list(words))
    return status, capsys.readouterr().err


def test_a_file_that_is_there_stays(capsys, tmp_path):
    path = tmp_path / "grad.py"
    path.write_text("mine")
    words = ["export", "sum(x.^2)", "--wrt", "x", "-o", str(path), "--target", "numpy", "--quiet"]
    status, said = run(capsys, *words)
    assert (status, said) == (2, f"{path} is there already; --force replaces it\n")
    assert path.read_text() == "mine"
    assert run(capsys, *words, "--force") == (0, "")
    assert "def f(" in path.read_text()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--with", "value,hessain"], "there is no hessain to export; did you mean hessian?"),
        (["--with", "value", "--scipy-main"], "the solve part needs a scalar value and its gradient"),
    ],
)
def test_bad_input(more, said, capsys, tmp_path):
    words = ["export", "sum(x.^2)", "--wrt", "x", "-o", str(tmp_path / "grad.py"), "--target", "numpy", "--quiet"]
    status, found = run(capsys, *words, *more)
    assert status == 2 and said in found
    assert not (tmp_path / "grad.py").exists()


def test_formulas_stand_in_the_head_in_latex():
    centred = ("sum((X .- mean(X, axis=0)').^2)", "X", "X: matrix(m, n)")
    head = " ".join(written(centred, ("value", "gradient"), "numpy").split('"""')[1].split())
    e = mc.expression(centred[0], centred[2])
    for formula in (e, e.gradient("X")):
        assert " ".join(formula.latex().replace("\\", "\\\\").split()) in head
