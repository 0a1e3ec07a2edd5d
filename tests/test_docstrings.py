"""The examples in docstrings run and print the output shown."""

import doctest
import importlib
from pathlib import Path

import pytest

import matcalc

PACKAGE = Path(matcalc.__file__).parent
MODULES = sorted(
    ".".join(("matcalc", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")
    for path in PACKAGE.rglob("*.py")
    if path.stem != "__main__" and ">>>" in path.read_text(encoding="utf-8")
)


@pytest.mark.sampled(13)
@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name):
    failures, tried = doctest.testmod(importlib.import_module(name))
    assert tried > 0
    assert failures == 0
