"""The tiers of the tests agree with tests/README.md, its commands and `.ci/run`."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LATER = {
    "test_endurance.py": "a long run altogether",
    "test_adding.py": "compiles in a copy of the tree: half a minute",
    "test_for_dask.py": "starts a cluster of processes; test_split.py has the same sums on one machine",
    "test_sharded.py": "starts PyTorch and JAX on two devices; test_array_function.py has what they compute on one",
    "test_objective_from_statistics.py": "whole fits; test_sufficient_statistics.py has the sums that they use",
    "test_engine_in_browser.py": "starts Pythons without libraries; test_answers.py asks what the page asks",
    "test_page_in_browser.py": "needs a browser; test_engine_in_browser.py asks what that page asks",
    "test_operations_in_languages.py": "starts Octave and R; test_operations_in_python.py has the same operations",
    "test_browser.py": "needs a browser; test_server.py and test_answers.py ask what the page asks",
    "test_printer_faults.py": "compiles for each planted fault; test_code.py prints and compares each form of Code",
    "test_ablation.py": "derives and compiles formulas for each rewrite, pass and kernel that is left out",
    "test_compiled.py": "half a minute for a target; test_generated.py compiles a point of each rule",
}
"""Files without a test in the first tier: why."""


def test_every_file_has_a_part_in_the_first_tier(in_first):
    assert {path.name for path, count in in_first.items() if not count} <= set(LATER)


def test_continuous_integration_runs_the_first_tier_and_then_the_rest():
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert script.index("README.md") < script.index('-m pytest -n auto -m "whole and not long"')


def test_the_commands_are_told():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    pages = (ROOT / "tests" / "README.md").read_text(encoding="utf-8")
    for command in ('pytest -n auto -m "not long"', "pytest -n auto -m long"):
        assert f"`{command}`" in readme
        assert f"`{command}`" in pages
