"""A text of at most 200 characters takes seconds, or is rejected: repeated forms, large powers, large sizes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from short_texts import LONGEST, cost, readable, texts, warm

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs os.fork and limits")
HERE = Path(__file__).resolve().parent
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE.parent), str(HERE)]), "OPENBLAS_NUM_THREADS": "1"}
SECONDS, MEMORY = 10.0, 1 << 30
"""CPU time of one core, twice the promised time to allow for busy machines; bytes."""
KNOWN = (
    "powm(S,0.1)^10", "powm(X,0.1)^10", "*".join(["(X+Y)"] * 25), "*".join(["inv(X+Y)"] * 15),
    "sort(" * 20 + "x" + ")" * 20, "multigammaln(s, 300)", "sum(ones(10^9,10^9)*s)", "expm(X).*expm(X).*expm(X)",
)  # fmt: skip
"""Texts that once took more than 10 s or 2 GB."""
HEAVY = ("gradient", "hessian", "compile a gradient", "convex", "equivalent")

ONE = """
import sys
from short_texts import cost, warm
warm()
for work in {works}:
    found = cost(work, sys.argv[1], {seconds}, 3 << 30)
    assert found.seconds < {seconds} and found.bytes < {memory} and ":" not in found.end, (work, found)
"""


def run(text):
    """Measure in a process with one thread: a fork of this one would inherit its memory."""
    program = ONE.format(works=HEAVY, seconds=SECONDS, memory=MEMORY)
    done = subprocess.run(
        [sys.executable, "-c", program, text], capture_output=True, text=True, cwd=HERE, env=ENVIRONMENT
    )
    assert not done.returncode, done.stderr


def test_the_texts_are_short_and_many_are_formulas():
    every = list(dict.fromkeys(texts()))
    assert len(every) > 2000 and max(map(len, every)) <= LONGEST
    assert sum(map(readable, every[::200])) >= 5


@pytest.mark.whole
@pytest.mark.thinned(4)
@pytest.mark.parametrize("text", KNOWN)
def test_texts_that_once_took_too_long(text):
    run(text)


@pytest.mark.long
def test_every_repeated_form():
    warm()
    wrong = []
    for text in dict.fromkeys(texts()):
        assert len(text) <= LONGEST
        for work in HEAVY if readable(text) else ():
            found = cost(work, text, SECONDS)
            if found.seconds >= SECONDS or found.bytes > MEMORY:
                wrong.append((text, work, found))
    assert not wrong
