"""Every rule on the target `c`, compiled by gcc: computed to 1e-12, or rejected by name, as recorded.

Each is compiled with all warnings as errors and called with exactly the workspace that it requests, at sizes 0 and 1,
wide and tall, and at scales far apart.
"""

import tomllib
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from c_files import CCall, why_not
from rules.arrays_check import ANY_BOUND, EXACT, giver, tried
from rules.compiled import made, rules
from rules.compiled_check import Group, compiled_findings

RECORD = tomllib.loads(Path(__file__).with_name("c_target.toml").read_text(encoding="utf-8"))["c"]
WITHOUT = {"all": "-", "adjoint": "the second", "value": ("the second", "the adjoint")}
PARTS = 8

pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not() or "nothing is missing")


@pytest.mark.thinned(3)
@pytest.mark.parametrize(
    "part", [pytest.param(part, marks=pytest.mark.long if part % 3 else pytest.mark.whole) for part in range(PARTS)]
)
def test_every_rule(part):
    assert not wrong(made(rules())[part::PARTS])


def test_the_record_names_rules():
    tags = {f"{rule.name}{k}" for rule in rules() for k in range(9)}
    assert set(" ".join(RECORD.values()).split()) <= tags


def wrong(chosen):
    """Return the rules whose outcome differs from the record, and errors above the bound."""
    known = {name: depth for depth, words in RECORD.items() for name in words.split()}
    faults = []
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for case, mode, draws in chosen:
            running = []
            r = tried(case, "c", giver("c"), lambda f, running=running: running.append(CCall(f)) or running[-1])
            if not r.error <= EXACT:
                faults.append(f"{r.name}: {r.where} is off by {r.error:.1e}")
            if (r.depth or "refused") != known.get(r.name, "all"):
                faults.append(f"{r.name}: {r.depth or 'refused'}, not {known.get(r.name, 'all')}: {r.refusal}")
            if running and case.at.rule.name not in ANY_BOUND:
                kept = tuple(out for out in case.outputs if not out[0].startswith(WITHOUT[r.depth]))
                some = replace(case, outputs=kept)
                found = compiled_findings(Group((some,), running[0]), some, mode, draws)
                faults += [f"{r.name}: {finding}" for finding in found if not finding.is_right]
    return faults
