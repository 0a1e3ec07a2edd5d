"""The rulebook: entries of rules/*.toml as records, checked as they load."""

from matcalc.rulebook.load import Candidate, Rulebook, default_rulebook
from matcalc.rulebook.rule import Fact, Rewrite, Rule

__all__ = ["Candidate", "Fact", "Rewrite", "Rule", "Rulebook", "default_rulebook"]
