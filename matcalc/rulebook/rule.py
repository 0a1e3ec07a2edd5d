"""Defines the records of a rulebook: `Rule` (one operation), `Rewrite` and `Fact`, each with its address.

A record is immutable and holds formulas as text. Their meaning needs shapes and nodes; the layer above compiles it
later, once. Here a rule is a table of a TOML file whose fields have been read. Rules with equal content are equal: an
edited rule is another rule, and code compiled from the old one stays valid.
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
"""The signs of comparisons."""
SPELLED = (
    "role", "latex", "from_latex", "numpy", "sympy", "from_sympy", "internal", "meaning", "calls", "differs",
    "undoes",
)  # fmt: skip
"""Fields for the names of an operation elsewhere, which do not change its meaning."""
VARIED = ("scalar", "vector", "matrix", "tensor", "array")
"""Kinds of parameters that a differential varies."""

TIED = ("m", "n")
"""The names in `weight` and `weighed` for the weights of a map's operands in a tie."""


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """An operation: one entry of a rule file.

    kind: "map" (elementwise, with derivatives), "op" (with a differential), "implicit" (the solution of an equation
    that is an argument) or "definition" (replaced by a formula).
    signatures: overloads by number and rank of arguments; all have the same outputs.
    outputs: names, ("",) for a single unnamed one. In formulas the single output is Y.
    Fields with a default are copied from the entry.
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
    undoes: str = ""
    internal: bool = False
    meaning: str = ""
    commutes: bool = False
    associative: bool = False
    keeps_rows: bool = False
    real: bool = False
    named: bool = False
    nonempty: bool | Sequence[str] = False
    per_axis: bool = False
    infinite: Sequence[str] = ()
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
    by_value: str | None = None
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
        """The first signature, which the facts and fields refer to."""
        return self.signatures[0]

    @property
    def parameters(self) -> tuple[Declaration, ...]:
        return self.signatures[0].parameters

    @property
    def operands(self) -> tuple[str, ...]:
        """The names of the operands of an elementwise entry; empty for any other."""
        return tuple(p.name for p in self.parameters if p.kind == "entry")

    @property
    def takes_constants(self) -> bool:
        """Whether its arguments are constants, except those in which it is linear."""
        return self.kind == "op" and bool(self.differentials) and set(self.differentials.values()) == {"0"}

    @property
    def is_held(self) -> bool:
        """Whether it is one of its arguments, taken as a constant: its value moves, and its derivative is 0."""
        return self.takes_constants and self.value in {p.name for p in self.parameters if p.name not in self.linear}

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
        """The values for many digits, if the text of `value` holds for doubles only."""
        texts = self.fields.get("precise", ())
        return (texts,) if isinstance(texts, str) else tuple(texts)  # type: ignore[arg-type]

    @property
    def calls(self) -> tuple[str, ...]:
        """Calls of it with a number or a word after the argument, `norm(X, 'fro')`."""
        return tuple(self.fields.get("calls", ()))  # type: ignore[arg-type]

    @property
    def differs(self) -> Mapping[str, str]:
        """Modules in which its NumPy name is another function, perhaps only `with axis` or `without`, and why."""
        found = {}
        for modules, difference in self.fields.get("differs", {}).items():  # type: ignore[attr-defined]
            names, sign, when = modules.partition(" with")
            found.update({f"{name}{sign}{when}": difference for name in names.split(", ")})
        return found

    @property
    def spelling(self) -> str:
        """The printed name: the shared name of an entry that has one, else its own."""
        return self.overload.rstrip(RELATIONS) if self.overload is not None else self.name

    @property
    def relation(self) -> str:
        """The comparison of its first two operands that a call begins with, `>` for `where>`; "" for most entries."""
        return self.overload[len(self.spelling) :] if self.overload is not None else ""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its nodes: its own, or one for each output (`qr_Q`, `qr_R`)."""
        return tuple(f"{self.name}_{output}" if output else self.name for output in self.outputs)

    def differential(self, output: str = "") -> str | None:
        """Return the differential of an output."""
        return self.differentials.get(output)

    def definition(self, index: int = 0) -> str | None:
        """Return the definition of a call by signature number `index`."""
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
    """Return the digest of an entry's meaning, independent of its position, field order and spelling.

    Nodes are ordered by it, so a formula prints as before if only the look of its operation changes.
    """
    meaning = {field: value for field, value in table.items() if field not in SPELLED}
    text = json.dumps([name, meaning], sort_keys=True, default=str)
    return blake2b(text.encode(), digest_size=16).digest()


@dataclass(frozen=True, slots=True, eq=False)
class Rewrite:
    """`left => right if condition` for the declared `variables`.

    `splits`: splits one operation into several smaller ones, longer to read but better to differentiate and run.
    `factor`: also matches one factor of a larger product. `numeric`: applies only to numeric evaluation.
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
    """A property of an array: implications, tests, projection and samplers, as formulas in X and M.

    Fields with a default are copied from the entry.
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
        """Whether the arrays with this fact form a linear set, defined by the projection `tangent`."""
        return self.tangent is not None
