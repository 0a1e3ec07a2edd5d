"""The records of a rulebook: `Rule` (one operation), `Rewrite` and `Fact`, each with its address.

A record is immutable and holds formulas as text. What they mean needs shapes and nodes and is compiled later,
once, by the layer above; here a rule is a table of a TOML file, its fields read. Rules are equal if their
content is: an edited rule is another rule, and what was compiled from the old one is left alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from hashlib import blake2b
from typing import Any

from matcalc.language.declare import Declaration, Signature

FactRule = tuple[tuple[tuple[str, str], ...], str, str]
Interval = tuple[float, float, bool, bool]


RELATIONS = "<>=!"
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
"""What comparisons are written with."""
SPELLED = (
    "role", "latex", "from_latex", "numpy", "sympy", "from_sympy", "internal", "calls", "differs",
)  # fmt: skip
"""Fields that say what an operation is called by others, and not what it is."""
VARIED = ("scalar", "vector", "matrix", "tensor", "array")
"""Kinds of parameters that a differential varies."""

TIED = ("m", "n")
"""What the operands of a map weigh in a tie, as `weight` and `weighed` call it."""


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """An operation: one entry of a rule file.

    kind: "map" (elementwise, with derivatives), "op" (with a differential), "implicit" (the solution of an equation
    that is an argument) or "definition" (expands instead).
    signatures: overloads by number and rank of arguments; all give the same outputs.
    outputs: names, ("",) for a single unnamed one. In formulas the single output is Y.
    Fields with a default are those of the entry as they stand.
    """

    name: str
    kind: str
    address: str
    digest: bytes
    fields: Mapping[str, object]
    signatures: tuple[Signature, ...]
    outputs: tuple[str, ...]
    sizes: Mapping[str, str]
    differentials: Mapping[str, str]
    where: tuple[str, ...]
    derivative: Mapping[str, str]
    definitions: tuple[str, ...]
    linear: Mapping[str, str]
    values: tuple[str, ...]
    transpose_same: bool
    degree: Fraction | str | None
    through: tuple[float, float] | None
    interval: Interval | None
    fact_rules: tuple[FactRule, ...]
    rewrites: tuple[Rewrite, ...]
    edges: tuple[Mapping[str, object], ...]
    equivariant: tuple[Mapping[str, str], ...]
    aliases: tuple[str, ...]
    part_aliases: Mapping[str, str]
    overload: str | None
    inside: Mapping[str, str]
    opaque: str | None
    opaque_in: Mapping[str, str]
    divided: Mapping[str, str]
    latex: Mapping[str, tuple[str, ...]]
    from_latex: Mapping[str, tuple[str, ...]]
    numpy: Mapping[str, tuple[str, ...]]
    from_sympy: Mapping[str, str]
    homogeneous: bool = False
    inverse: bool = False
    calculus: bool | str = False
    annihilates: bool = False
    closed: bool = False
    internal: bool = False
    commutes: bool = False
    associative: bool = False
    keeps_rows: bool = False
    nonempty: bool | Sequence[str] = False
    jumps: Sequence[str] = ()
    pieces: Mapping[str, str] | None = None
    choices: Mapping[str, str] | None = None
    parity: str | None = None
    monotone: str | None = None
    curvature: str | None = None
    domain: str | None = None
    fails: str | None = None
    gauge: str | None = None
    implicit: str | None = None
    difference: str | None = None
    radius: str | None = None
    scale: str | None = None
    square: str | None = None
    weight: str | None = None
    weighed: str | None = None
    merge: str | None = None
    by_total: str | None = None
    shown: str | None = None
    shown_in: str | None = None
    share: str | None = None
    source: str = ""
    role: str | None = None
    sympy: str | None = None

    @property
    def signature(self) -> Signature:
        """The first signature: of all, the one that its facts and fields speak of."""
        return self.signatures[0]

    @property
    def parameters(self) -> tuple[Declaration, ...]:
        return self.signatures[0].parameters

    @property
    def operands(self) -> tuple[str, ...]:
        """The operands of an elementwise entry, by name; none of any other."""
        return tuple(p.name for p in self.parameters if p.kind == "entry")

    @property
    def takes_constants(self) -> bool:
        """Whether it takes its arguments as constants, but for those in which it is linear."""
        return self.kind == "op" and bool(self.differentials) and set(self.differentials.values()) == {"0"}

    @property
    def is_linear(self) -> bool:
        """Whether it is linear in each tensor, so that it is its own differential."""
        return all(p.name in self.linear for p in self.parameters if p.kind in VARIED)

    @property
    def value(self) -> str | None:
        """The oracle of the first signature, a Python expression in the parameters."""
        return self.values[0] if self.values else None

    @property
    def precise(self) -> tuple[str, ...]:
        """The values as they are to be taken at many digits, where their own text holds for doubles alone."""
        given = self.fields.get("precise", ())
        return (given,) if isinstance(given, str) else tuple(given)  # type: ignore[arg-type]

    @property
    def calls(self) -> tuple[str, ...]:
        """Calls that mean it with a number or a word behind the argument, `norm(X, 'fro')`."""
        return tuple(self.fields.get("calls", ()))  # type: ignore[arg-type]

    @property
    def differs(self) -> Mapping[str, str]:
        """Modules in which its name in NumPy is another function's, perhaps `with axis` or `without`; and how it is."""
        found = {}
        for modules, why in self.fields.get("differs", {}).items():  # type: ignore[attr-defined]
            places, sign, when = modules.partition(" with")
            found.update({f"{place}{sign}{when}": why for place in places.split(", ")})
        return found

    @property
    def spelling(self) -> str:
        """The name that a reader sees: of an entry that shares its name with others, the shared one."""
        return self.overload.rstrip(RELATIONS) if self.overload is not None else self.name

    @property
    def relation(self) -> str:
        """The comparison of its first two operands that a call begins with, `>` of `where>`; "" of most entries."""
        return self.overload[len(self.spelling) :] if self.overload is not None else ""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its nodes: its own, or one for each output (`qr_Q`, `qr_R`)."""
        return tuple(f"{self.name}_{output}" if output else self.name for output in self.outputs)

    def differential(self, output: str = "") -> str | None:
        """Return the differential of an output."""
        return self.differentials.get(output)

    def definition(self, index: int = 0) -> str | None:
        """Return what a call by signature number `index` stands for."""
        return self.definitions[index] if self.definitions else None

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Rule) and self.digest == other.digest and self.fields == other.fields
        )

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"<rule {self.name}, {self.address}>"


def digest(name: str, table: Mapping[str, Any]) -> bytes:
    """Return the digest of what an entry means: the same wherever it stands, in whatever order, however it is spelled.

    Nodes are ordered by it, so that a formula prints as before when its operation gets another look.
    """
    meant = {field: value for field, value in table.items() if field not in SPELLED}
    text = json.dumps([name, meant], sort_keys=True, default=str)
    return blake2b(text.encode(), digest_size=16).digest()


@dataclass(frozen=True, slots=True)
class Rewrite:
    """`left => right if condition` for the declared `variables`.

    One that `splits` makes several operations of one, each on less: longer to read, better to differentiate and run.
    One of a `factor` fits a factor of a larger product too. A `numeric` one is used where numbers are computed alone.
    """

    variables: tuple[Declaration, ...]
    left: str
    right: str
    condition: str | None
    address: str
    splits: bool = False
    factor: bool = False
    numeric: bool = False

    def __str__(self) -> str:
        return f"{self.left} => {self.right}" + (f" if {self.condition}" if self.condition else "")


@dataclass(frozen=True, slots=True)
class Fact:
    """What may be known of an array: implications, tests, projection and samplers, as formulas in X and M.

    Fields with a default are those of the entry as they stand.
    """

    name: str
    follows: tuple[frozenset[str], ...]
    transposed: str
    negated: str
    address: str
    of: str = "any"
    implies: tuple[str, ...] = ()
    excludes: tuple[str, ...] = ()
    products: tuple[str, ...] = ()
    entries: tuple[str, ...] = ()
    zero: str | None = None
    nonnegative: str | None = None
    positive: str | None = None
    tangent: str | None = None
    sample: str | None = None
    drawn: str | None = None
    projection: str | None = None
    whole: str | None = None
    near: str | None = None
    ends: tuple[str, ...] = ()
    thin: bool = False
    sums: bool = False
    scaled: str = ""

    @property
    def linear(self) -> bool:
        """Whether the arrays that have it form a linear set, given by its projection `tangent`."""
        return self.tangent is not None
