"""Reads lowering entries: the kernels and scalar functions of the targets, their conditions and costs.

This is the only module of the engine that reads the files of `codegen/`. An entry defines its result in index form, and
the planner finds that form in formulas. So a new kernel needs an entry and its source, but no change to the engine.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from matcalc.compiler.cost_formulas import formula, quick
from matcalc.compiler.targets import FIELDS, SPELLINGS, spelling_of
from matcalc.compiler.terms import Term, bytes_of, terms_of
from matcalc.errors import NotSupported, RuleError
from matcalc.tensor.sizes.size import Size

PEAK, PLAIN = 0.02, 0.25  # ns per flop: a blocked kernel without a stated rate, a loop
TRAFFIC = 0.06  # ns per byte that moves through the second-level cache
CALL = 40.0  # ns to call a kernel

BLOCK, ONCE, LEAST = 32768, 131072, 64
"""Entries of a block (256 kB); entries up to which there is one block; the least number of rows in a block."""
BUSY = 256
"""The least flops per entry of a row at which memory traffic does not matter."""

FIELD = re.compile(r"\{(\w+)(?:\.(\w))?\}")
PART = '@njit(error_model="numpy", fastmath=False)'  # decorator of Numba functions that call parts


@dataclass(frozen=True, eq=False, slots=True)
class Part:
    """A function that a kernel calls, itself a Program; its results come first among the `parameters`."""

    name: str
    program: Any  # a Program; its type is defined above this module, since it contains kernels
    parameters: tuple[str, ...]

    def spelled(self, target: str) -> str:
        """Return the function's name on a target; a saved file has the functions of both targets."""
        return self.name if target == "numba" else f"{self.name}_{target}"


@dataclass(frozen=True, slots=True)
class Choice:
    """The choice of the cheapest of a kernel's parts. For Numba they are branches of one function.

    `operands` are its parameters, before its result; `lengths` are expressions in these for `n_0`, `n_1` in `costs`.
    """

    operands: tuple[str, ...]
    lengths: tuple[str, ...]
    costs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Blocks:
    """Row blocks: a kernel runs its one part on blocks of rows of the arguments `sliced`, which have `rows` rows.

    `totals` are results summed over blocks; others are rows. `width` is the number of entries of a row, in arguments
    and in arrays of a block, `flops` the cost of a row. `besides` are the other entries that a block reads or adds to.
    """

    sliced: tuple[str, ...]
    totals: tuple[str, ...]
    rows: Size
    width: Size
    flops: Size
    besides: Size


WHOLE, LAST, TOTAL = "whole", "last", "total"
"""What a loop over steps keeps of a state: its trajectory, its last value, or only the total of what is added."""


@dataclass(frozen=True, slots=True)
class Again:
    """A loop in the other direction, whose states a loop reads: its second part computes them again.

    At most `rows` of its states are stored at a time; 0 stands for twice the square root of the number of steps. Its
    operands are those of the kernel from `first` on: starts of `states` states, `sequences`, and parts that are the
    same at each step. `inputs` are as in StepLoop. `reads` are the values that the loop reads: the number of a state,
    and whether that is its value after the step. They are numbered after all operands.
    """

    rows: int
    first: int
    states: int
    sequences: int
    inputs: tuple[int, ...]
    reads: tuple[tuple[int, bool], ...]


@dataclass(frozen=True, slots=True)
class StepLoop:
    """A loop over the steps of a recurrence: a kernel runs its one part at each step.

    `kinds` tells what is kept of each state. Operands are the starts of the states, `sequences` arrays that are read at
    the number of the step, then parts that are the same at each step. The inputs of the part are the states and
    slices that it reads, by their numbers among the operands, then the other parts.
    """

    backward: bool
    kinds: tuple[str, ...]
    sequences: int
    inputs: tuple[int, ...]
    again: Again | None = None


def template_of(entry: Kernel | Scalar, target: str) -> str:
    """Return the template of an entry for a target.

    Raises: NotSupported if it has none.
    """
    found = spelling_of(entry.templates, target)
    if not found:
        others = " or ".join(f'target="{t}"' for t in entry.templates if t in SPELLINGS)
        hint = f"{others} has one" if others else ""
        raise NotSupported(f"{entry.name} has no form for the target {target}", hint=hint)
    return entry.templates[found]


def fill(template: str, fields: Mapping[str, str], kernel: str) -> str:
    """Return the template with its fields filled in."""

    def one(found: re.Match[str]) -> str:
        key = found.group(1) + (f".{found.group(2)}" if found.group(2) else "")
        if key not in fields:
            raise NotSupported(f"the template of {kernel} has the field {{{key}}}, which is not in its pattern")
        return fields[key]

    return FIELD.sub(one, template)


def part_sizes(parts: Sequence[Part]) -> dict[str, str]:
    """Return the size arguments of functions, by their template fields."""
    names = dict.fromkeys(name for part in parts for name in part.program.size_args)
    return {f"size_{k}": name for k, name in enumerate(names)}


@dataclass(frozen=True, eq=False, slots=True)
class Kernel:
    """An entry of kernels.toml. `flips` are operands that may be transposed.

    `whole` is a number parameter that must be an integer. `rows` is the letter of a leading batch axis, if the kernel
    takes all rows of a matrix in one call. `sizes` are formulas for letters that no operand has. A kernel outside the
    files of `codegen/` has `sources`, texts by target, or `functions`, in the form of Code; both precede the program.
    `parts` are functions that it calls: with a `choice` one of them, with `blocks` one on blocks of rows, with `loop`
    one at each step. `via` are the factorisations that it needs, each of one operand; if there are several, their
    results are named with the operand, `T_A`. `called` are words for the variables of results, instead of their
    letters or the entry's name. `joins` are entries whose results it computes, in their order, from the same
    operands. `words` explain it in plans. `branches` are sizes that are negative where it computes in another form.
    """

    name: str
    results: tuple[Term, ...]
    factors: tuple[Term, ...]
    flips: frozenset[str]
    when: frozenset[str]
    via: tuple[Term, ...]
    scales: bool
    fails: str
    whole: str
    rows: str
    templates: Mapping[str, str]
    flops: Callable[[Mapping[str, Any]], Any]
    bytes: Callable[[Mapping[str, Any]], Any] | None
    order: int
    quick_time: Callable[[Mapping[str, float]], float]
    sizes: Mapping[str, Callable[[Mapping[str, Any]], Any]] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
    functions: tuple[Any, ...] = ()  # of Code; their type is defined above this module
    parts: tuple[Part, ...] = ()
    choice: Choice | None = None
    blocks: Blocks | None = None
    loop: StepLoop | None = None
    called: Mapping[str, str] = field(default_factory=dict)
    joins: tuple[str, ...] = ()
    words: str = ""
    branches: tuple[Size, ...] = ()

    def time(self, sizes: Mapping[str, float]) -> float:
        """Return the estimated time in ns for letters of the given sizes."""
        return CALL + self.quick_time(sizes)

    def factor_field(self, term: Term, result: str) -> str:
        """Return the template field of a result of one of the factorisations."""
        return result if len(self.via) == 1 else f"{result}_{term.args[0].name}"

    @property
    def fields(self) -> frozenset[str]:
        """The fields of its templates that are arrays or numbers, without flags."""
        return frozenset(m[1] for text in self.templates.values() for m in FIELD.finditer(text) if m[2] != "t")

    def letters(self, sizes: Mapping[str, Any]) -> dict[str, Any]:
        """Return the sizes of all letters from those of the operands, as Sizes or integers."""
        found = {letter: formula(sizes) for letter, formula in self.sizes.items()}
        return {letter: int(s) if isinstance(s, Fraction) else s for letter, s in found.items()} | dict(sizes)

    @property
    def is_inline(self) -> bool:
        """Whether the statements of its part are inside the function that calls it, on Numba."""
        return self.blocks is not None or self.loop is not None

    @property
    def measured(self) -> tuple[Term, ...]:
        return tuple(t for t in (*self.results, *self.factors) if t.letters is not None)


@dataclass(frozen=True, eq=False, slots=True)
class Scalar:
    """An entry of scalars.toml: an elementwise function, `cost` in flops."""

    name: str
    templates: Mapping[str, str]
    cost: float
    sources: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Expansion:
    """An entry with `becomes`: a formula with `where` lines, for these tensor arguments (None: any).

    `batch` is the least number of axes along which the operation is repeated.
    """

    formula: str
    where: tuple[str, ...]
    when: frozenset[str]
    arguments: tuple[Term, ...] | None
    batch: int

    def fits(self, cores: Sequence[Sequence[Size]]) -> bool:
        """Whether these shapes match the arguments in number, with equal sizes where letters are equal."""
        if self.arguments is None:
            return True
        if len(self.arguments) != len(cores):
            return False
        found: dict[str, Size] = {}
        measured = [(t.letters, core) for t, core in zip(self.arguments, cores, strict=True) if t.letters]
        return all(found.setdefault(x, s) == s for letters, c in measured for x, s in zip(letters, c, strict=True))


@dataclass(frozen=True, eq=False, slots=True)
class Lowerings:
    """All entries: products of plain operands, joined kernels, kernels by operation, expansions, scalar functions."""

    products: tuple[Kernel, ...] = ()
    joined: tuple[Kernel, ...] = ()
    operations: Mapping[str, tuple[Kernel, ...]] = field(default_factory=dict)
    becomes: Mapping[str, tuple[Expansion, ...]] = field(default_factory=dict)
    same: frozenset[str] = frozenset()
    expands: Mapping[str, str] = field(default_factory=dict)
    scalars: Mapping[str, Scalar] = field(default_factory=dict)

    def factorisation(self, term: Term) -> Kernel:
        """Return the entry of a factorisation."""
        found = next((k for k in self.operations.get(term.name, ()) if len(k.factors) == 1), None)
        if found is None:
            raise NotSupported(f"codegen/kernels.toml: {term.name} has no entry, but another needs it")
        return found


@cache
def load(folder: Path) -> Lowerings:
    """Return the entries of `kernels.toml` and `scalars.toml` in `folder`.

    Raises: RuleError with the file and the entry.
    """
    products: list[Kernel] = []
    joined: list[Kernel] = []
    operations: dict[str, list[Kernel]] = {}
    becomes: dict[str, list[Expansion]] = {}
    table = entries(folder)
    for order, (name, entry) in enumerate(table.items()):
        if "becomes" in entry:
            expansion = Expansion(
                str(entry["becomes"]),
                tuple(map(str, entry.get("where", ()))),
                _words(entry, "when"),
                tuple(terms_of(",".join(str(entry["of"]).split()), ",")) if "of" in entry else None,
                int(entry.get("batch", 0)),
            )
            becomes.setdefault(str(entry.get("operation", name)), []).append(expansion)
        if "pattern" not in entry:
            continue
        kernel = read_kernel(name, entry, order)
        heads = [f.name for f in kernel.factors if f.is_operation]
        if kernel.joins:
            joined.append(kernel)
        elif heads:
            operations.setdefault(heads[0], []).append(kernel)
        else:
            products.append(kernel)
    scalar_table = tomllib.loads((folder / "scalars.toml").read_text(encoding="utf-8"))
    expands = {name: str(entry["expands"]) for name, entry in scalar_table.items() if "expands" in entry}
    return Lowerings(
        tuple(products),
        tuple(joined),
        {name: tuple(found) for name, found in operations.items()},
        {name: tuple(found) for name, found in becomes.items()},
        frozenset(name for name, entry in table.items() if "same" in entry),
        expands,
        _scalars(scalar_table),
    )


def entries(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the entries of `kernels.toml`, with all abbreviations expanded."""
    table = tomllib.loads((folder / "kernels.toml").read_text(encoding="utf-8"))
    whole = ((name, _with_shared(entry, table)) for name, entry in table.items())
    return {name: entry for item in whole for name, entry in _variants(*item)}


def _with_shared(entry: dict[str, Any], table: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """Return an entry with missing fields copied from the entry that `like` names, whose `where` lines go first."""
    if "like" not in entry:
        return entry
    shared = _with_shared(table[entry["like"]], table)
    return shared | entry | {"where": [*shared.get("where", ()), *entry.get("where", ())]}


def _variants(name: str, entry: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the variants of an entry, one for each fact of `either` or number of `tangents`, or the entry itself."""
    facts, tangents = (str(entry.get(key, "")).split() for key in ("either", "tangents"))
    if not facts and not tangents:
        yield name, entry
    for fact in facts:
        yield f"{name}_{fact}", _filled(entry, {f: str(int(f == fact)) for f in facts}) | {"when": fact}
    for order in range(len(tangents) + 1) if tangents else ():
        (operation,) = terms_of(str(entry["pattern"]).partition("=")[2], "*")
        operand, *names = (term.name for term in (operation.args[0], *terms_of(",".join(tangents), ",")))
        last = [operand, *names][order]
        fields = {tangent: f"{{{last}}}" for tangent in names[order:]}
        fields |= {"order": str(order), "along": "".join(f", {{{tangent}}}" for tangent in names[:order])}
        pattern = ", ".join([str(entry["pattern"]).removesuffix(")"), *tangents[:order]]) + ")"
        suffix = ("", "_along", "_along_2")[order]
        yield name + suffix, _filled(entry, fields) | {"pattern": pattern, "flops": f"{3**order}*({entry['flops']})"}


def _filled(entry: dict[str, Any], fields: Mapping[str, str]) -> dict[str, Any]:
    """Return an entry with these fields of its templates replaced."""
    field = re.compile(r"\{(\w+)\}")
    filled = {k: field.sub(lambda x: fields.get(x[1], x[0]), str(entry[k])) for k in FIELDS if k in entry}
    return entry | filled


def read_kernel(name: str, entry: dict[str, Any], order: int) -> Kernel:
    left, _, right = str(entry["pattern"]).partition("=")
    try:
        results, factors = terms_of(left, ","), terms_of(right, "*")
        via = terms_of(str(entry.get("via", "")), ",")
        measure = formula(str(entry.get("flops", "0")))
        moved = formula(str(entry["bytes"])) if "bytes" in entry else None
        sizes = {letter: formula(str(text)) for letter, text in entry.get("sizes", {}).items()}
    except (ValueError, SyntaxError) as fault:
        raise RuleError(f"codegen/kernels.toml: [{name}]: {fault}") from fault
    called = {str(result): str(word) for result, word in entry.get("called", {}).items()}
    if unknown := called.keys() - {term.name for term in results}:
        raise RuleError(f"codegen/kernels.toml: [{name}]: called: {', '.join(sorted(unknown))} is not a result")
    moves = str(entry.get("bytes") or " + ".join(bytes_of(t) for t in (*results, *factors)))
    return Kernel(
        name,
        results,
        factors,
        _words(entry, "flips"),
        _words(entry, "when"),
        via,
        bool(entry.get("scales", False)),
        str(entry.get("fails", "")),
        str(entry.get("whole", "")),
        str(entry.get("rows", "")),
        {k: str(v) for k, v in entry.items() if k in FIELDS},
        measure,
        moved,
        order,
        quick(f"{float(entry.get('rate', PLAIN))}*({entry.get('flops', '0')}) + {TRAFFIC}*({moves})"),
        sizes,
        called=called,
        joins=tuple(str(entry.get("joins", "")).split()),
        words=str(entry.get("words", "")),
    )


def _words(entry: Mapping[str, Any], field: str) -> frozenset[str]:
    return frozenset(str(entry.get(field, "")).split())


def _scalars(table: dict[str, Any]) -> dict[str, Scalar]:
    return {
        name: Scalar(name, {k: str(v) for k, v in entry.items() if isinstance(v, str)}, float(entry.get("cost", 1)))
        for name, entry in table.items()
        if "numba" in entry or "numpy" in entry
    }
