"""Loads rule files as a `Rulebook`: the operations, rewrites and facts in force, frozen.

A rulebook never changes; adding to it returns another one, so results compiled with the old one stay valid. Files are
read whole, and all their faults are reported at once, each with file and line. Loading does not read formulas, so that
start-up is quick.
"""

from __future__ import annotations

import copyreg
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from pathlib import Path
from threading import RLock
from types import MappingProxyType
from typing import Any

from matcalc.errors import RuleError, UnknownName
from matcalc.language.declare import FACTS, Signature
from matcalc.language.identifiers import nearest
from matcalc.locks import held_at_fork
from matcalc.rulebook.contents import facts_in, prelude_in, rewrites_in, rules_in
from matcalc.rulebook.entry import rule_from_table
from matcalc.rulebook.fields import ordered_calls
from matcalc.rulebook.files import RuleFile
from matcalc.rulebook.rule import Fact, Rewrite, Rule
from matcalc.rulebook.suggest_names import proposal
from matcalc.store import artefacts
from matcalc.store.data_folders import data_folder

MEASURED = "measured.toml"
"""The file in rules/ that contains measured errors instead of rules."""

MANY_DIGITS = "many_digits.py"
"""The file in rules/ whose functions replace others at many digits."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A possible meaning of a call: a rule, one of its outputs, the number of one of its signatures."""

    rule: Rule
    output: str
    index: int

    @property
    def signature(self) -> Signature:
        return self.rule.signatures[self.index]


@dataclass(frozen=True, slots=True, eq=False)
class Rulebook:
    """All operations, rewrites and facts; frozen.

    rules: by name. spellings: all names of calls (names, aliases, parts `qr_Q`, shared names).
    prelude: Python text that values call, by address: the Python files of rules/, `[prelude]` of any other file.
    functions: Python functions that values call, by name. precise: Python text that redefines parts of the prelude for
    values at many digits, by address. claims: words that only one entry may have, by field and word: a role, a NumPy
    name, a SymPy class.
    """

    rules: Mapping[str, Rule]
    rewrites: tuple[Rewrite, ...]
    facts: Mapping[str, Fact]
    prelude: Mapping[str, str]
    spellings: Mapping[str, tuple[Candidate, ...]] = field(repr=False)
    functions: Mapping[str, Callable[..., Any]] = field(default_factory=lambda: NOTHING, repr=False)
    precise: Mapping[str, str] = field(default_factory=lambda: NOTHING, repr=False)
    claims: Mapping[tuple[str, str], Rule] = field(default_factory=dict, repr=False)

    @property
    def names(self) -> tuple[str, ...]:
        """All spellings of calls, sorted."""
        return tuple(sorted(self.spellings))

    def __contains__(self, name: str) -> bool:
        return name in self.spellings

    def candidates(self, name: str) -> tuple[Candidate, ...]:
        """Return the possible meanings of a call of `name`, in the order to be tried.

        Raises: UnknownName with the nearest names.
        """
        found = self.spellings.get(name)
        if found is not None:
            return found
        if name in self.rules:
            parts = " ".join(self.rules[name].names)
            raise UnknownName(f"'{name}' has several results", hint=f"call one of them: {parts}")
        public = [word for word, ones in self.spellings.items() if not all(one.rule.internal for one in ones)]
        plain = name.rstrip("<>=!")  # a call with a condition is looked up with its sign
        raise UnknownName(f"unknown function '{plain}'", hint=proposal(plain, public))

    def named(self, name: str) -> list[Rule]:
        """Return the rules with the spelling `name`, several if they share it.

        Raises: UnknownName with the nearest names.
        """
        own = [self.rules[name]] if name in self.rules else []
        shared = [c.rule for c in self.spellings.get(name, () if own else self.candidates(name))]
        return list(dict.fromkeys([*own, *shared]))

    def get(self, name: str) -> Rule:
        """Return the rule with the spelling `name`: its own name, an alias, or a part such as `qr_Q`.

        Raises: as `candidates`.
        """
        return self.rules[name] if name in self.rules else self.candidates(name)[0].rule

    def playing(self, role: str) -> Rule:
        """Return the entry with a role in the language (`ROLES`).

        Raises: UnknownName if there is none.
        """
        found = self.claims.get(("role", role))
        if found is None:
            hint = f"add to an entry: role = {role!r}"
            raise UnknownName(f"no operation of the rulebook has the role '{role}'", hint=hint)
        return found

    def closure(self, facts: Iterable[str]) -> frozenset[str]:
        """Return `facts` with everything that they imply, singly or together."""
        return _closure(self, frozenset(facts))

    def strongest(self, facts: Iterable[str]) -> tuple[str, ...]:
        """Return those of `facts` that no other of them implies."""
        known = tuple(facts)
        implied = {g for f in known for g in self.closure([f]) if f not in self.closure([g])}
        return tuple(f for f in known if f not in implied)

    def contradiction(self, facts: Sequence[str]) -> tuple[str, str] | None:
        """Return two of `facts` that exclude each other, the later one second; None if there are none."""
        for k, later in enumerate(facts):
            excluded = {e for f in self.closure([later]) for e in self.facts[f].excludes}
            for earlier in facts[:k]:
                known = self.closure([earlier])
                if known & excluded or any(e in self.closure([later]) for f in known for e in self.facts[f].excludes):
                    return earlier, later
        return None

    def hull(self, facts: Iterable[str]) -> tuple[str, ...]:
        """Return the linear facts among `facts` and their implications, in the book's order: the facts of a tangent."""
        known = self.closure(facts)
        return tuple(fact.name for fact in self.facts.values() if fact.linear and fact.name in known)

    def solid(self, facts: Iterable[str]) -> frozenset[str]:
        """Return facts with the thin ones replaced by their implications that are not thin."""
        declared = frozenset(facts)
        if not any(self.facts[f].thin for f in self.closure(declared)):
            return declared
        return frozenset(self.strongest(sorted(f for f in self.closure(declared) if not self.facts[f].thin)))

    def with_rules(self, more: Iterable[Rule]) -> Rulebook:
        """Return a rulebook with further rules; an identical rule may be added again.

        Raises: RuleError if a name is in use.
        """
        return _extended(self, list(more), (), (), {}, [])

    def with_functions(self, more: Mapping[str, Callable[..., Any]]) -> Rulebook:
        """Return a rulebook whose values may call further Python functions."""
        return replace(self, functions=MappingProxyType({**self.functions, **more}))


@lru_cache(maxsize=1024)
def _closure(book: Rulebook, facts: frozenset[str]) -> frozenset[str]:
    found: set[str] = set()
    pending = list(facts)
    while pending:
        while pending:
            fact = pending.pop()
            if fact not in found:
                found.add(fact)
                pending.extend(book.facts[fact].implies)
        pending = [f.name for f in book.facts.values() if f.name not in found and any(t <= found for t in f.follows)]
    return frozenset(found)


def load(paths: Sequence[Path | str], base: Rulebook | None = None) -> Rulebook:
    """Return the rulebook of the files at `paths`, added to `base`.

    Raises: RuleError that lists all faults of all files.
    """
    faults: list[str] = []
    return _assembled([RuleFile(Path(path), faults) for path in paths], base, faults)


def survey(path: Path | str, base: Rulebook) -> tuple[Rulebook, list[str]]:
    """Return `base` with the faultless contents of a file, and its faults, so that the rest can be checked too."""
    faults: list[str] = []
    return _assembled([RuleFile(Path(path), faults)], base, faults, strict=False), faults


def load_text(text: str, name: str, base: Rulebook | None = None) -> Rulebook:
    """Return the rulebook of the rule file with this text, added to `base`; `name` replaces its path."""
    faults: list[str] = []
    return _assembled([RuleFile(Path(name), faults, text)], base, faults)


def default_rulebook() -> Rulebook:
    """Return the rulebook in force: all files of rules/, and later adoptions."""
    return _trial.get() or _adopted or shipped_rulebook()


def is_shipped() -> bool:
    """Return whether the rulebook in force is that of rules/ alone."""
    return _trial.get() is None and _adopted is None


@cache
def shipped_rulebook() -> Rulebook:
    """Return the rulebook of rules/ alone: its tables, and the Python files that values call."""
    book: Rulebook = artefacts.kept("form", ["rulebook"], _read_shipped)
    return book


def _read_shipped() -> Rulebook:
    folder = data_folder("rules")
    book = load(sorted(path for path in folder.glob("*.toml") if path.name != MEASURED))
    texts = {f"rules/{path.name}": path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.py"))}
    precise = {f"rules/{MANY_DIGITS}": texts.pop(f"rules/{MANY_DIGITS}")}
    return replace(book, prelude=MappingProxyType({**texts, **book.prelude}), precise=MappingProxyType(precise))


def measured() -> Mapping[str, Mapping[str, Any]]:
    """Return the worst measured relative errors of each rule by name: `value`, `jvp`, `vjp`, `second`, and `at`.

    `python -m benchmarks.accuracy` writes their file; without it the result is empty.
    """
    path = data_folder("rules") / MEASURED
    return _table_of(path) if path.is_file() else NOTHING


@cache
def _table_of(path: Path) -> Mapping[str, Mapping[str, Any]]:
    return MappingProxyType(tomllib.loads(path.read_text(encoding="utf-8")))


_adopted: Rulebook | None = None
_trial: ContextVar[Rulebook | None] = ContextVar("trial rulebook", default=None)
_adopting = held_at_fork(RLock())


@contextmanager
def on_trial(book: Rulebook) -> Iterator[Rulebook]:
    """Put `book` in force for this thread only, while the context lasts."""
    token = _trial.set(book)
    try:
        yield book
    finally:
        _trial.reset(token)


def adopt(change: Callable[[Rulebook], Rulebook]) -> Rulebook:
    """Put `change(rulebook in force)` in force, for all threads; nothing changes if it raises."""
    global _adopted
    with _adopting:
        _adopted = change(_adopted or shipped_rulebook())
        return _adopted


def _assembled(files: list[RuleFile], base: Rulebook | None, faults: list[str], strict: bool = True) -> Rulebook:
    start = base if base is not None else _EMPTY
    facts = [fact for file in files for fact in facts_in(file)]
    shapes = {**FACTS, **{f.name: f.of for f in (*start.facts.values(), *facts)}}
    rules = [rule for file in files for rule in rules_in(file, shapes, base is not None)]
    rewrites = [rewrite for file in files for rewrite in rewrites_in(file, shapes)]
    prelude = {file.address("prelude"): text for file in files if (text := prelude_in(file))}
    return _extended(start, rules, rewrites, facts, prelude, faults, strict)


def _extended(
    base: Rulebook,
    rules: Sequence[Rule],
    rewrites: Sequence[Rewrite],
    facts: Sequence[Fact],
    prelude: Mapping[str, str],
    faults: list[str],
    strict: bool = True,
) -> Rulebook:
    """Return `base` with more; names in use are added to `faults`, which are raised if there are any (`strict`)."""
    known, fresh = dict(base.rules), []
    spellings = {spelling: list(found) for spelling, found in base.spellings.items()}
    claims = dict(base.claims)
    for rule in rules:
        old = known.setdefault(rule.name, rule)
        if old is rule:
            fresh.append(rule)
            faults.extend([*_spell(rule, spellings), *_claim(rule, claims)])
        elif old != rule:
            faults.append(f"{rule.address}: [{rule.name}] is already defined at {old.address}")
    all_facts = _all_facts(base, facts, faults)
    if faults and strict:
        raise RuleError("\n".join(faults))
    return Rulebook(
        MappingProxyType(known),
        (*base.rewrites, *(rewrite for rule in fresh for rewrite in rule.rewrites), *rewrites),
        MappingProxyType(all_facts),
        MappingProxyType({**base.prelude, **prelude}),
        MappingProxyType({spelling: tuple(found) for spelling, found in spellings.items()}),
        base.functions,
        base.precise,
        MappingProxyType(claims),
    )


def _all_facts(base: Rulebook, facts: Sequence[Fact], faults: list[str]) -> dict[str, Fact]:
    known = dict(base.facts)
    for fact in facts:
        old = known.setdefault(fact.name, fact)
        if old is not fact and old != fact:
            faults.append(f"{fact.address}: [{fact.name}] is already defined at {old.address}")
    for fact in facts:
        together = [name for names in fact.follows for name in sorted(names)]
        for other in (*fact.implies, *fact.excludes, *together, fact.transposed, fact.negated):
            if other and other not in known:
                near = nearest(other, known)
                faults.append(f"{fact.address}: [{fact.name}] refers to '{other}', which is not a fact{near}")
    return known


def _spell(rule: Rule, spellings: dict[str, list[Candidate]]) -> list[str]:
    """Enter the spellings of a rule; return the faults: a name that already means something else."""
    faults: list[str] = []
    only = rule.outputs[0]
    own = [*zip(rule.names, rule.outputs, strict=True), *rule.part_aliases.items()]
    if len(rule.outputs) == 1:
        own += [(name, only) for name in (rule.name, *rule.aliases)]
    for spelling, output in dict.fromkeys(own):
        other = next((c.rule for c in spellings.get(spelling, ()) if c.rule.overload != spelling), rule)
        if other is not rule:
            faults.append(f"{rule.address}: [{rule.name}] '{spelling}' already means {other.name}, {other.address}")
            continue
        spellings[spelling] = [*_candidates(rule, output), *spellings.get(spelling, ())]
    calls, wrong = ordered_calls(rule.calls)
    for shared in (*calls, *filter(None, (rule.overload,))):
        spellings.setdefault(shared, []).extend(_candidates(rule, only))
    return faults + [f"{rule.address}: [{rule.name}] {fault}" for fault in wrong]


def _claim(rule: Rule, claims: dict[tuple[str, str], Rule]) -> list[str]:
    """Enter the words that only one rule may have; return the faults: words that another rule has already."""
    claimed = [("role", rule.role)] if rule.role else []
    claimed += [("numpy", name) for name in rule.numpy]
    claimed += [("sympy", name) for name in (rule.sympy or "", *rule.from_sympy) if name.isidentifier()]
    others = {claim: claims.setdefault(claim, rule) for claim in claimed}
    return [
        f"{rule.address}: [{rule.name}] {field} '{word}' already belongs to {other.name}, {other.address}"
        for (field, word), other in others.items() if other is not rule
    ]  # fmt: skip


def _candidates(rule: Rule, output: str) -> list[Candidate]:
    return [Candidate(rule, output, index) for index in range(len(rule.signatures))]


NOTHING: Mapping[str, Any] = MappingProxyType({})
"""The default of a read-only mapping."""

_EMPTY = Rulebook(NOTHING, (), NOTHING, NOTHING, NOTHING)


copyreg.pickle(Rule, lambda rule: (rule_from_table, (rule.name, dict(rule.fields), rule.address)))
