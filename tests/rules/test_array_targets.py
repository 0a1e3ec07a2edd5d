"""Every rule on the targets `torch` and `jax`: computed to 1e-12, or rejected by name, as recorded."""

import importlib
import tomllib
import warnings
from pathlib import Path

import numpy as np
import pytest
from rules.arrays_check import EXACT, giver, tried
from rules.compiled import made, rules

RECORD = tomllib.loads(Path(__file__).with_name("array_targets.toml").read_text(encoding="utf-8"))
SOME = ("exp", "softmax", "inv", "logdet", "svd", "sort", "schur")


@pytest.mark.parametrize("target", RECORD)
def test_some_rules(target):
    assert not wrong(target, SOME)


@pytest.mark.whole
@pytest.mark.parametrize("target", RECORD)
def test_every_rule(target):
    assert not wrong(target, ())


def wrong(target, names):
    """Return the rules whose outcome differs from the record, and errors above the bound."""
    importlib.import_module(target) if importlib.util.find_spec(target) else pytest.skip(f"{target} is not installed")
    known = {name: depth for depth, words in RECORD[target].items() for name in words.split()}
    faults = []
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for case, _, _ in made(rules(names)):
            r = tried(case, target, giver(target))
            if not r.error <= EXACT:
                faults.append(f"{r.name}: {r.where} is off by {r.error:.1e}")
            if (r.depth or "refused") != known.get(r.name, "all"):
                faults.append(f"{r.name}: {r.depth or 'refused'}, not {known.get(r.name, 'all')}: {r.refusal}")
    return faults
