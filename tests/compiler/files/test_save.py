"""Saved files run without matcalc, with and without Numba; they test themselves and are the same bytes every time."""

import importlib.util
import os
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from matcalc.compiler.files.save import saved_text
from matcalc.errors import NotSupported

spec_of = importlib.util.spec_from_file_location("saved_samples", Path(__file__).parents[1] / "samples.py")
samples = importlib.util.module_from_spec(spec_of)
sys.modules["saved_samples"] = samples
spec_of.loader.exec_module(samples)

ALONE = """
import runpy, sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {refused}:
            raise ImportError(name)
sys.meta_path.insert(0, Refuse())
runpy.run_path({path!r}, run_name="__main__")
"""


def run(path, refused):
    code = ALONE.format(path=str(path), refused=refused)
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, timeout=120, cwd="/")
    return done.returncode, done.stdout.strip() or done.stderr[-500:]


@pytest.mark.parametrize("refused", [["matcalc"], ["matcalc", "numba", "llvmlite"]])
@pytest.mark.parametrize("name", ["LOGREG", "GAUSS"])
@pytest.mark.whole
def test_file_tests_itself(name, refused, tmp_path):
    path = tmp_path / "saved.py"
    path.write_text(saved_text(getattr(samples, name)))
    assert run(path, refused) == (0, "all right")


@pytest.mark.whole
def test_a_wrong_gradient_is_found(tmp_path):
    path = tmp_path / "saved.py"
    wrong = {k: v.changed(lambda part: part.replace("2.0", "2.5")) for k, v in vars_of(samples.LOGREG).items()}
    path.write_text(saved_text(replace(samples.LOGREG, **wrong)))
    code, said = run(path, ["matcalc", "numba"])
    assert code == 1 and ", and the difference quotient of value in w[0] with step " in said and "gradient_w[" in said


def vars_of(spec):
    return {"source": spec.source, "numpy_source": spec.numpy_source}


@pytest.mark.whole
def test_forms_that_differ_are_found(tmp_path):
    path = tmp_path / "saved.py"
    other = samples.GAUSS.numpy_source.changed(lambda part: part.replace("R2 -", "R2 +"))
    path.write_text(saved_text(replace(samples.GAUSS, numpy_source=other)))
    code, said = run(path, ["matcalc"])
    assert code == 1 and "by Numba on larger data, and by NumPy" in said


HASH = """
import hashlib, runpy
from matcalc.compiler.files.save import saved_text
spec = runpy.run_path({path!r})["LOGREG"]
print(hashlib.sha256(saved_text(spec).encode()).hexdigest())
"""


@pytest.mark.whole
def test_same_bytes_for_any_hash_seed():
    code = HASH.format(path=str(Path(__file__).parents[1] / "samples.py"))
    said = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            env=os.environ | {"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(said) == 1 and len(said.pop()) == 65


def test_only_what_is_used_is_saved():
    text = saved_text(samples.LOGREG)
    assert "def vsigmoid" in text and "def gemv" in text and "def gemm" not in text and "import matcalc" not in text


@pytest.mark.whole
@pytest.mark.parametrize("name", ["LOGREG", "GAUSS"])
def test_ruff_is_content(name, tmp_path):
    ruff = Path(sys.executable).with_name("ruff")
    if not ruff.exists():
        pytest.skip("ruff is not installed: pip install '.[lint]'")
    path = tmp_path / "saved.py"
    path.write_text(saved_text(getattr(samples, name)))
    done = subprocess.run([ruff, "check", "--isolated", "--no-cache", path], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.whole
def test_checks_of_the_saved_function(tmp_path):
    path = tmp_path / "saved_gauss.py"
    path.write_text(saved_text(samples.GAUSS))
    spec = importlib.util.spec_from_file_location("saved_gauss", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for jit in (True, False):
        with pytest.raises(np.linalg.LinAlgError, match="S is not positive definite"):
            module.gauss(-np.eye(3), np.eye(3), jit=jit)
        with pytest.raises(ValueError, match="C has a shape that does not fit"):
            module.gauss(np.eye(3), np.eye(4), jit=jit)
        with pytest.raises(ValueError, match="S: matrix.n, n. takes an array of 2 axes"):
            module.gauss([1.0], np.eye(4), jit=jit)
        assert module.gauss(np.eye(3).tolist(), np.eye(3), jit=jit)[0] == pytest.approx(3.0)


def test_what_cannot_be_saved():
    with pytest.raises(NotSupported, match="no form for the target numpy"):
        saved_text(samples.PADDED)


@pytest.mark.parametrize("divisor", [3, 7, 11])
def test_flops_are_no_integer_at_all_sizes(divisor):
    """A factorisation has `n*n*n/3` flops: the sizes of the self-test are no multiples of 3."""
    flops = sum((samples.m * samples.n * samples.n * Fraction(1, d) for d in (2, divisor)), samples.n)
    assert "sample" in saved_text(replace(samples.LOGREG, flops=flops))
