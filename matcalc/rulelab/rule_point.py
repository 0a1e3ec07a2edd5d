"""Builds one call of a rule at random data: its node, and the oracle's value of the same call."""

from __future__ import annotations

import itertools
import reprlib
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from matcalc.calculus.evaluate.evaluate import as_callable, evaluate
from matcalc.errors import RuleError, ShapeError
from matcalc.evidence.numeric.sampling import Array, defect, drawn, projected, shape_at
from matcalc.formula.elaborate.rule_formula import build_formula, parameter_symbol
from matcalc.language.declare import Declaration, size_names
from matcalc.language.read import read
from matcalc.rulebook.fields import stated_facts
from matcalc.rulebook.load import NOTHING, Rulebook
from matcalc.rulebook.notations import spelled
from matcalc.rulebook.oracle import oracle
from matcalc.rulebook.rule import Rule
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.nodes.signature import PLAIN, size_of
from matcalc.tensor.raw_nodes import parameter, symbol
from matcalc.tensor.sizes.size import Size

Draws = Mapping[str, Any]
"""Sources of parameters by name: a function of (rng, shape), or the value itself."""

LENGTHS = (3, 4, 2, 5)
SIZES = (LENGTHS, (4, 2, 3, 5))
"""Lengths of size names in order: the two sets at which a rule is checked, one with even sizes."""
SKEW = (6,)
"""Lengths for skew arguments: odd orders are singular, and up to order 4 functions of them are linear."""

NUMBER = Fraction(5, 2)
INTEGER = 2


class Form(NamedTuple):
    """A use of a rule: number of the signature, rank of `array` arguments, number of further tangents."""

    overload: int
    rank: int
    tangents: int


def forms(rule: Rule, tangents: int = 1) -> list[Form]:
    """Return the uses of a rule: each signature, arrays of rank 1 and 2, up to `tangents` further tangents."""
    found = []
    for index, signature in enumerate(rule.signatures):
        ranks = (1, 2) if any(p.kind == "array" for p in signature.parameters) else (0,)
        counts = range(tangents + 1) if any(p.repeated for p in signature.parameters) else (0,)
        found += [Form(index, *rest) for rest in itertools.product(ranks, counts)]
    return found


def lengths_of(rule: Rule, index: int, lengths: Sequence[int] = LENGTHS) -> dict[str, int]:
    """Return a length for each size name of a signature, repeating `lengths` in order.

    The axes of `array(s)` are s_0 and s_1, that of an `entry` s_0.
    """
    signature = rule.signatures[index]
    declared = [*signature.parameters, *signature.outputs]
    names = dict.fromkeys(f"s_{axis}" for axis in (0, 1) if any(d.kind in ("array", "entry") for d in declared))
    names.update(dict.fromkeys(n for d in declared if d.kind != "array" for n in size_names(d) if n not in rule.sizes))
    return dict(zip(names, itertools.cycle(lengths)))


@dataclass(frozen=True)
class Point:
    """A call with its data. `symbols` are its tensor arguments in order, `data` their arrays by name."""

    rule: Rule
    form: Form
    book: Rulebook
    symbols: Mapping[str, Node]
    data: Mapping[str, Array]
    facts: Mapping[str, tuple[str, ...]]
    plain: Mapping[str, Any]
    lengths: Mapping[str, int]
    seed: int

    def nodes(self) -> dict[str, Node]:
        """Return the node of the call for each output of the rule."""
        signature = self.rule.signatures[self.form.overload]
        sizes = {n: Size.of(self.lengths[n]) for n in self.lengths if n in self.plain}
        found = {}
        for name, output in zip(self.rule.names, self.rule.outputs, strict=True):
            text = f"{name}({', '.join(self._written(p) for p in signature.parameters if self._given(p))})"
            found[output] = build_formula(text, (), self.book, self.symbols, sizes=sizes)
        return found

    @property
    def numbers(self) -> dict[str, Size]:
        """The values of number parameters, for formulas."""
        return {p.name: Size.of(self.plain[p.name]) for p in self.rule.parameters if p.kind == "number"}

    def is_defined(self) -> bool:
        """Whether the call is valid at these sizes; a definition with integer parameters may not be (`reshape`)."""
        try:
            self.nodes()
        except ShapeError:
            if any(p.kind == "integer" for p in self.rule.signatures[self.form.overload].parameters):
                return False
            raise
        return True

    def _given(self, p: Declaration) -> bool:
        return not p.repeated or self.form.tangents > 0 or self.rule.kind == "map"

    def _written(self, p: Declaration) -> str:
        if p.repeated:
            return ", ".join(name for name in self.symbols if name.startswith(f"{p.name}_"))
        return str(self.plain.get(p.name, p.name))

    def value(self, changed: Mapping[str, Array] = NOTHING) -> dict[str, Array]:
        """Return the oracle's value of each output, with some arguments replaced."""
        function = oracle(self.book, self.rule, self.form.overload)
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = self._called(function, changed, float, as_callable)
        return {name: _numeric(a) for name, a in found.items()}

    def precise(self, changed: Mapping[str, Array] = NOTHING) -> dict[str, Array]:
        """Return the value of each output at many digits (see `evidence.precise`), as `value` does.

        Raises: NotSupported if the value calls a function without a twin at many digits.
        """
        from matcalc.evidence.precise import function_of, numbers, precise_oracle

        function = precise_oracle(self.book, self.rule, self.form.overload)
        return self._called(function, changed, numbers, function_of)

    def _called(
        self,
        function: Callable[..., Any] | None,
        changed: Mapping[str, Array],
        as_number: Callable[[Fraction], Any],
        as_function: Callable[[Node], Any],
    ) -> dict[str, Any]:
        if function is None:
            raise RuleError(f"{self.rule.address}: [{self.rule.name}] has no value")
        data = {**self.data, **changed}
        given: list[Any] = []
        for p in self.rule.signatures[self.form.overload].parameters:
            if p.repeated:
                given += [a for name, a in data.items() if name.startswith(f"{p.name}_")]
            elif p.kind == "function":
                given.append(as_function(self.body(str(self.plain[p.name]))))
            elif p.kind in PLAIN:
                given.append(int(self.plain[p.name]) if p.kind == "integer" else as_number(self.plain[p.name]))
            else:
                given.append(data[p.name])
        try:
            result = function(*given)
        except (NameError, AttributeError, LookupError, AssertionError, RuntimeError, OSError, ImportError) as error:
            if isinstance(error, IndexError):
                raise  # possible if a size is 0
            raise RuleError(f"its value raises {type(error).__name__}: {error}") from None
        several = result if isinstance(result, tuple) else (result,)
        return dict(zip(self.rule.outputs, several, strict=True))

    def is_inside(self) -> bool:
        """Whether the arguments have the required facts; some cannot, such as a nonsingular skew 3 x 3 matrix."""
        return all(defect(self.data[name], fact) < 1e-9 for name, known in self.facts.items() for fact in known)

    def body(self, name: str) -> Node:
        """Return the body of a function argument."""
        return build_formula(f"{name}(x)", (), self.book, {"x": parameter()})

    def evaluate(self, nodes: Sequence[Node], more: Mapping[str, Array] = NOTHING) -> list[Array]:
        """Return values of nodes over the arguments and further symbols, by plain NumPy."""
        return [np.asarray(a) for a in evaluate(nodes, {**self.data, **more}, self.lengths)]

    def direction(self, rng: np.random.Generator, name: str) -> Array:
        """Return a random tangent of an argument."""
        shape = self.data[name].shape
        return projected(np.asarray(rng.standard_normal(shape)), self.facts[name])


def takes_skew(rule: Rule) -> bool:
    return any("skew" in p.facts for p in rule.parameters)


def point(
    book: Rulebook, rule: Rule, form: Form, lengths: Mapping[str, int], mode: int, seed: int, draws: Draws
) -> Point:
    """Return a use of a rule with random data; `mode` selects the distribution of arguments without facts (MODES)."""
    rng = np.random.default_rng([seed, mode, *rule.name.encode()])
    known = dict(lengths)
    symbols: dict[str, Node] = {}
    data: dict[str, Array] = {}
    plain: dict[str, Any] = {}
    facts: dict[str, tuple[str, ...]] = {}
    signature = rule.signatures[form.overload]
    domain = facts_in(rule.domain or "", book)
    for p in signature.parameters:
        if p.kind in PLAIN:
            plain[p.name] = _plain(p, known, draws, rng)
            if p.kind == "integer":
                known[p.name] = int(plain[p.name])
    has_integer = any(p.kind == "integer" for p in signature.parameters)
    fixed = {n: Size.of(length) for n, length in known.items()} if has_integer else {}
    for p in signature.parameters:
        if p.kind in PLAIN:
            continue
        for name in _names(p, form, rule):
            symbols[name] = _symbol(p, name, form.rank, fixed)
            shape = _shape(symbols[name], known)
            facts[name] = (*p.facts, *domain.get(p.name, ()))
            data[name] = _drawn(rng, shape, facts[name], mode if not p.repeated else 0, draws.get(p.name))
    for name, formula in rule.sizes.items():
        known[name] = int(size_of(read(formula), {n: Size.of(length) for n, length in known.items()}))
    return Point(rule, form, book, symbols, data, facts, plain, known, seed)


def _names(p: Declaration, form: Form, rule: Rule) -> list[str]:
    if not p.repeated:
        return [p.name]
    return [f"{p.name}_{k}" for k in range(form.tangents + (2 if rule.kind == "map" else 0))]


def _symbol(p: Declaration, name: str, rank: int, fixed: Mapping[str, Size]) -> Node:
    if p.kind == "entry":
        return symbol(name, (Size.of("s_0"),), p.facts)
    made = parameter_symbol(p, rank, fixed)
    return symbol(name, made.shape, p.facts) if p.repeated else made


def _shape(node: Node, known: dict[str, int]) -> tuple[int, ...]:
    for size in node.shape:
        for name in size.names:
            known.setdefault(name, LENGTHS[int(name[-1]) % len(LENGTHS)] if name[-1].isdigit() else LENGTHS[0])
    return shape_at(node.shape, known)


def _plain(p: Declaration, known: Mapping[str, int], draws: Draws, rng: np.random.Generator) -> Any:
    given = draws.get(p.name)
    if given is not None:
        value = given(rng, ()) if callable(given) else given
        return Fraction(value) if p.kind == "number" else value
    return {"function": spelled("exponential"), "number": NUMBER, "integer": known.get(p.name, INTEGER)}[p.kind]


def _drawn(rng: np.random.Generator, shape: tuple[int, ...], facts: Sequence[str], mode: int, given: Any) -> Array:
    if given is None:
        return drawn(rng, shape, facts, mode)
    return np.asarray(given(rng, shape) if callable(given) else given, dtype=float)


def facts_in(domain: str, book: Rulebook) -> dict[str, tuple[str, ...]]:
    """Return the facts that the text of a domain states about parameters: `nonsingular(X)`."""
    found: dict[str, tuple[str, ...]] = {}
    for fact, name in stated_facts(domain):
        if fact in book.facts:
            found[name] = (*found.get(name, ()), fact)
    return found


def is_worded(rule: Rule, book: Rulebook) -> bool:
    """Whether a domain is stated in words, so that random data may be outside of it."""
    return rule.domain is not None and not facts_in(rule.domain, book)


def points(
    book: Rulebook, rule: Rule, mode: int, draws: Draws, sizes: Sequence[Sequence[int]] = SIZES
) -> Iterator[Point]:
    """Yield the points at which a rule is checked: every form at each set of sizes at which its facts can hold.

    Forms with further tangents, which are slow, have one set.
    """
    is_skew = takes_skew(rule)
    further = [SKEW] if is_skew else sizes[:1]
    for form in forms(rule, 2 if is_skew else 1):
        for seed, lengths in enumerate(further if form.tangents else sizes):
            made = point(book, rule, form, lengths_of(rule, form.overload, lengths), mode, seed, draws)
            if made.is_inside():
                yield made


def _numeric(value: Any) -> Array:
    """Return the result of a value as an array of numbers.

    Raises: RuleError if it is not one.
    """
    array = np.asarray(value)
    if array.dtype.kind not in "biufc":
        raise RuleError(f"its value gives {reprlib.repr(value)}, which is no array of numbers")
    return array
