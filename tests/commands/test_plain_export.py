"""`matcalc export` in the plain style: the file, its tests in a file of their own, and what is refused."""

import subprocess
import sys
from pathlib import Path

import pytest

from matcalc.commands import cli

LOSS = ["export", "sum(log(1 + exp(-y.*(X*w)))) + lam*w'*w", "--wrt", "w", "--let", "lam: scalar", "--quiet"]


def run(capsys, *words):
    status = cli.main(list(words))
    return status, capsys.readouterr()


@pytest.mark.whole
def test_a_file_and_its_tests(capsys, tmp_path):
    words = [*LOSS, "--target", "numpy", "--with", "value,gradient,hvp,hessian", "--name", "loss"]
    file, tests = tmp_path / "loss.py", tmp_path / "test_loss.py"
    status, said = run(capsys, *words, "-o", str(file), "--test", str(tests))
    assert (status, said.out, said.err) == (0, "", "")
    text = file.read_text()
    assert text.count("def ") == 3 and "class " not in text and max(map(len, text.splitlines())) <= 88
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", tests.name],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0 and "7 passed" in done.stdout, done.stdout
    file.write_text(text.replace("2 * lam * w", "3 * lam * w"))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", tests.name], cwd=tmp_path, capture_output=True, check=False
    )
    assert done.returncode == 1


def test_the_fast_style_stays(capsys, tmp_path):
    file = tmp_path / "loss.py"
    assert run(capsys, *LOSS, "--target", "numpy", "--style", "fast", "-o", str(file))[0] == 0
    assert '__name__ == "__main__"' in file.read_text()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--target", "c", "--style", "plain"], "there is no plain source for c"),
        (["--target", "numpy", "--style", "plain", "--scipy-main"], "the solve part is in fast files alone"),
        (["--target", "c", "--test", "test_f.py"], "a fast file tests itself"),
    ],
)
def test_refused(more, said, capsys, tmp_path):
    status, found = run(capsys, *LOSS, *more, "-o", str(tmp_path / "loss.py"))
    assert status == 2 and said in found.err
    assert not list(tmp_path.iterdir())


def test_an_existing_test_file_stays(capsys, tmp_path):
    tests = tmp_path / "test_loss.py"
    tests.write_text("mine")
    words = [*LOSS, "--target", "numpy", "-o", str(tmp_path / "loss.py"), "--test", str(tests)]
    assert run(capsys, *words)[0] == 2 and tests.read_text() == "mine"
    assert not (tmp_path / "loss.py").exists()


def test_as_python(capsys):
    status, said = run(capsys, "gradient", "norm2(X*w - y)^2", "--wrt", "w", "--as", "python", "--quiet")
    assert status == 0 and said.out.endswith("    return 2 * (X.T @ (X @ w - y))\n")


@pytest.mark.whole
def test_ruff_is_content(capsys, tmp_path):
    ruff = Path(sys.executable).with_name("ruff")
    if not ruff.exists():
        pytest.skip("ruff is not installed: pip install '.[lint]'")
    words = [*LOSS, "--target", "numpy", "--with", "value,gradient,hvp,hessian"]
    assert run(capsys, *words, "-o", str(tmp_path / "f.py"), "--test", str(tmp_path / "test_f.py"))[0] == 0
    done = subprocess.run(
        [ruff, "check", "--no-cache", "--isolated", "."], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    words = [ruff, "format", "--no-cache", "--isolated", "--check", tmp_path / "f.py"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
