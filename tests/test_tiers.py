"""The tiers of the tests are what the README, its command and `.ci/run` say."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LONG = {"test_endurance.py"}
"""What is a long run altogether."""


def test_every_file_has_a_part_in_the_first_tier(in_first):
    assert {path.name for path, count in in_first.items() if not count} <= LONG


def test_continuous_integration_runs_the_first_tier_and_then_the_rest():
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert script.index("README.md") < script.index("-m pytest -n auto -m whole")


def test_the_commands_are_told():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    pages = (ROOT / "tests" / "README.md").read_text(encoding="utf-8")
    for command in ('pytest -n auto -m "not long"', "pytest -n auto -m long"):
        assert f"`{command}`" in readme
        assert f"`{command}`" in pages
