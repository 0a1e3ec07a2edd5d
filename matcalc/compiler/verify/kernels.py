"""Computes the results of a kernel from its entry: its pattern as an einsum, its operation by the value of the rule.

The NumPy template runs as well and is compared with that result, so that templates are checked too. A factorisation
outside the rulebook (`getrf`, `schur`) is defined by its template. It is recorded with its matrix, and a kernel that
takes it as an operand computes with that matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from matcalc.compiler.lowering_entries import Kernel, Part, fill, load
from matcalc.compiler.program import Call
from matcalc.compiler.terms import Term
from matcalc.compiler.verify.expressions import Frame, whole
from matcalc.compiler.verify.faults import RunFault
from matcalc.compiler.verify.templates import space_of
from matcalc.rulebook.load import default_rulebook
from matcalc.rulebook.oracle import oracle
from matcalc.rulebook.rule import Rule
from matcalc.store.data_folders import data_folder
from matcalc.tensor.nodes.signature import PLAIN, paired
from matcalc.tensor.sizes.size import Size

Array = np.ndarray[Any, np.dtype[Any]]
CLOSE, NEARBY = 1e-9, 2.0**-44
"""Largest relative difference of a template's result; relative change of operands that measures rounding."""
FACT = 1e-7
PLAIN_AS: Mapping[str, Callable[[Any], Any]] = {"integer": int, "number": float}
REJECTED = (np.linalg.LinAlgError, ValueError, ZeroDivisionError, FloatingPointError, OverflowError)


@dataclass(frozen=True, slots=True)
class Factorised:
    """The origin of a result of a call: the factorisation's entry, its matrix and its call."""

    kernel: Kernel
    matrix: Array
    call: object


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The program around a call: messages of faults, functions of parts, and whether to continue with NaN."""

    faults: tuple[str, ...]
    function: Callable[[Part], Callable[..., int]]
    goes_on: bool


def factorised(call: Call, operands: Mapping[str, Array]) -> Factorised | None:
    """Return the record of a call with one operand, as a factorisation of that operand."""
    if len(call.operands) != 1 or len(call.kernel.factors) != 1:
        return None
    (_, argument), array = call.operands[0], next(iter(operands.values()))
    return Factorised(call.kernel, np.array(array.T if argument.flip else array), object())


def compute(run: Run) -> dict[str, Array]:
    """Return the results of a call by field, from the pattern; compare the NumPy template with them.

    Raises: RunFault for operands that do not fit the pattern, and for a template with other results;
    np.linalg.LinAlgError if there is no value.
    """
    call, around, shapes = run.call, run.around, run.shapes
    run.check_shapes()
    run.check_facts()
    if around.goes_on and any(run.made.get(f) and not np.all(np.isfinite(a)) for f, a in run.stored.items()):
        return {field: np.full(shape, np.nan) for field, shape in shapes.items()}  # a factorisation has no value
    expected: dict[str, Array] | None
    expected, why = _tried(run.meaning, run.operands)
    templated, why_not = _tried(run.template, run.operands)
    if expected is None and why is None:  # the template defines the entry
        expected, why = templated, why_not
    elif expected is not None:
        run.compare(expected, templated, why_not)
    if expected is None:
        if not around.goes_on:
            raise np.linalg.LinAlgError(around.faults[call.fault - 1] if call.fault else str(why))
        return {field: np.full(shape, np.nan) for field, shape in shapes.items()}
    for field, shape in shapes.items():
        if np.shape(expected[field]) != shape:
            raise RunFault(f"{call.kernel.name} gives {field} of shape {np.shape(expected[field])}, not {shape}", field)
    return expected


def _tried(
    function: Callable[[Mapping[str, Array]], Any], operands: Mapping[str, Array]
) -> tuple[Any, Exception | None]:
    try:
        return function(operands), None
    except REJECTED as error:
        return None, error


@dataclass
class Run:
    """One call of a kernel at concrete operands, with shapes of results and records of factorised operands."""

    call: Call
    stored: Mapping[str, Array]
    shapes: Mapping[str, tuple[int, ...]]
    made: Mapping[str, Factorised | None]
    frame: Frame
    around: Surroundings

    def __post_init__(self) -> None:
        call, frame, operands = self.call, self.frame, self.stored
        self.kernel = call.kernel
        self.params = {n: whole(v)(frame) if isinstance(v, Size) else v for n, v in call.params}
        self.flips = {field for field, argument in (*call.results, *call.operands) if argument.flip}
        self.flips |= {field for field in operands if self.params.get(f"{field}.t") == "1"}
        self.sizes = {letter: whole(s)(frame) for letter, s in call.sizes}
        self.operands = {f: a.T if f in self.flips else a for f, a in operands.items()}
        self.through = self.matrices()

    def matrices(self) -> dict[str, Array]:
        """Return the matrices whose factorisations are operands, by their names in the pattern."""
        found: dict[str, Array] = {}
        for term in self.kernel.via:
            name, entry = term.args[0].name, load(data_folder("codegen")).factorisation(term)
            fields = {self.kernel.factor_field(term, r.name): r for r in entry.results}
            factors = {f: self.made.get(f) for f in fields if f in self.stored}
            first = next(iter(factors.values()), None)
            for field, known in factors.items():
                if known is None or known.kernel.name != entry.name:
                    raise RunFault(
                        f"{self.kernel.name} needs {field} of {entry.name}({name}), but gets another array", field
                    )
                assert first is not None
                if known.call is not first.call:
                    raise RunFault(f"{self.kernel.name} takes results of two factorisations", field)
            if first is not None:
                found[name] = first.matrix.T if self.params.get(f"{name}.t") == "1" else first.matrix
        return found

    # ---- checks of operands

    def check_shapes(self) -> None:
        """Raise RunFault if arrays do not have the shapes that the letters of the pattern require."""
        lengths = dict(self.sizes)
        terms: list[tuple[str, tuple[str, ...] | None, tuple[int, ...]]] = []
        for term in self.kernel.factors:
            for one in (term, *term.args):
                if one.name in self.operands and not one.is_operation:
                    terms.append((one.name, one.letters, self.operands[one.name].shape))
        terms += [(t.name, t.letters, self.shapes[t.name]) for t in self.kernel.results if t.name in self.shapes]
        terms += [(a.name, a.letters, self.through[a.name].shape) for a in self.arguments if a.name in self.through]
        for name, letters, shape in terms:
            if letters is None:  # an argument that the pattern does not measure, as in inv(X)[i,k]
                continue
            if len(letters) != len(shape):
                raise RunFault(f"{self.kernel.name} takes {name} with {len(letters)} axes, not {shape}", name)
            for letter, length in zip(letters, shape, strict=True):
                if lengths.setdefault(letter, length) != length:
                    raise RunFault(f"{self.kernel.name}: {letter} of {name} is {length} and {lengths[letter]}", name)
        for letter, size in self.kernel.letters(lengths).items():
            if lengths.get(letter, size) != size:
                raise RunFault(f"{self.kernel.name}: {letter} is {lengths[letter]}, not {size}")

    @property
    def arguments(self) -> list[Term]:
        return [argument for term in self.kernel.factors for argument in term.args]

    def check_facts(self) -> None:
        """Raise RunFault if the first operand lacks zeros that follow from the facts the entry requires."""
        term = self.kernel.factors[0]
        name = term.args[0].name if term.args else term.name
        array = self.through.get(name, self.stored.get(name))
        if not self.kernel.when or array is None or array.ndim != 2 or not np.all(np.isfinite(array)):
            return
        for fact in _linear(tuple(sorted(self.kernel.when))):
            if _defect(array, fact) > FACT:
                raise RunFault(f"{self.kernel.name} needs a {fact} matrix, but {name} is not {fact}", name)

    # ---- results

    def meaning(self, operands: Mapping[str, Array]) -> dict[str, Array] | None:
        """Return the results by the pattern; None if only the template defines them."""
        factors: list[tuple[Any, tuple[str, ...]]] = []
        for term in self.kernel.factors:
            if not term.is_operation:
                factors.append((operands[term.name], term.letters or ()))
                continue
            values = self.operation(term, operands)
            if values is None:
                return None
            if term.letters is None or len(self.kernel.factors) == 1:
                return values
            factors.append((next(iter(values.values())), term.letters))
        (result,) = self.kernel.results
        number = {x: k for k, x in enumerate(dict.fromkeys(x for _, letters in factors for x in letters))}
        flat: list[Any] = []
        for array, letters in factors:
            flat += [array, [number[x] for x in letters]]
        value = np.einsum(*flat, [number[x] for x in result.letters or ()])
        return {result.name: np.asarray(value.T if result.name in self.flips else value)}

    def operation(self, term: Term, operands: Mapping[str, Array]) -> dict[str, Array] | None:
        """Return the results of an operation by field: by the value of its rule, row by row if it takes rows."""
        rule = default_rulebook().rules.get(term.name)
        if rule is None or rule.kind == "implicit" or oracle(default_rulebook(), rule) is None:
            return None
        plain = {p.name for p in rule.signature.parameters if p.kind in PLAIN}
        arrays = []
        for argument in term.args:
            if argument.name not in plain:
                arrays.append(self.through[argument.name] if argument.name in self.through else operands[argument.name])
        if not self.kernel.rows:
            return self.named(rule, self.value(rule, arrays))
        rows = [self.named(rule, self.value(rule, [a[k] for a in arrays])) for k in range(len(arrays[0]))]
        return {f: np.array([row[f] for row in rows]).reshape(shape) for f, shape in self.shapes.items()}

    def value(self, rule: Rule, arrays: Sequence[Array]) -> Any:
        """Return the value of a rule; None if SciPy rejects data that are not finite."""
        function = oracle(default_rulebook(), rule)
        assert function is not None
        plain = (PLAIN_AS[p.kind](self.params[p.name]) for p in rule.signature.parameters if p.kind in PLAIN_AS)
        try:
            return function(*(a for _, a in paired(rule.signature, (a.copy() for a in arrays), plain)))
        except REJECTED:
            if all(np.all(np.isfinite(a)) for a in arrays):
                raise
            return None

    def named(self, rule: Rule, value: Any) -> dict[str, Array]:
        """Return the results of an operation by their names in the entry."""
        found = {}
        for term in self.kernel.results:
            shape = self.shapes.get(term.name, ())
            if value is None:
                found[term.name] = np.full(shape, np.nan)
                continue
            one = value
            if len(rule.outputs) > 1:
                own = self.kernel.name.removeprefix(f"value of {rule.name}_")
                one = value[rule.outputs.index(term.name if term.name in rule.outputs else own)]
            if np.iscomplexobj(one):
                raise np.linalg.LinAlgError("the value is not real")
            found[term.name] = np.asarray(one, np.float64)
        return found

    # ---- the template for NumPy

    def template(self, operands: Mapping[str, Array]) -> dict[str, Array] | None:
        """Return the results of the NumPy template; None if the entry has none."""
        text = self.kernel.templates.get("numpy")
        if text is None:
            return None
        space = dict(space_of(self.kernel))
        for part in self.kernel.parts:
            space[part.spelled("numpy")] = self.around.function(part)
        fields: dict[str, str] = {"fault": repr("fault"), **{n: str(v) for n, v in self.params.items()}}
        fields |= {letter: str(length) for letter, length in self.sizes.items()}
        for field, array in operands.items():
            stored = array.T if field in self.flips else array
            space[f"arg_{field}"] = np.array(stored, order="C") if stored.ndim else np.float64(stored)
            fields[field] = f"arg_{field}"
            fields[f"{field}.t"] = "1" if field in self.flips else "0"
            fields[f"{field}.T"] = f"arg_{field}.T" if field in self.flips else f"arg_{field}"

        value = eval(fill(text, fields, self.kernel.name), space)
        names = [t.name for t in self.kernel.results]
        values = value if len(names) > 1 else (value,)
        if len(values) != len(names):
            raise RunFault(f"the template of {self.kernel.name} gives {len(values)} results, not {len(names)}")
        return {n: np.asarray(v) for n, v in zip(names, values, strict=True)}

    def compare(
        self, expected: Mapping[str, Array], found: Mapping[str, Array] | None, refusal: Exception | None
    ) -> None:
        """Raise RunFault if the template's results differ by more than rounding of the operands explains.

        A template that raises for operands with a finite, well-conditioned result is at fault too.
        """
        if found is None:
            known = all(np.all(np.isfinite(v)) for v in (*expected.values(), *self.operands.values()))
            if known and refusal and all(self.sensitivity(f, v) <= CLOSE * _largest(v) for f, v in expected.items()):
                raise RunFault(f"{self.kernel.name} on NumPy raises an error although there is a result: {refusal}")
            return
        rule = default_rulebook().rules.get(self.kernel.factors[0].name)
        chosen = rule is not None and rule.gauge is not None
        for field, value in expected.items():
            other = found[field]
            if other.shape != value.shape:
                raise RunFault(
                    f"{self.kernel.name} on NumPy gives {field} of shape {other.shape}, not {value.shape}", field
                )
            if (chosen and value.ndim == 2) or not value.size:
                continue
            gap = _gap(value, other)
            error, scale = float(np.max(gap)), _largest(value[np.isfinite(value)])
            if error > CLOSE * scale and error > self.sensitivity(field, value):
                index = tuple(int(k) for k in np.unravel_index(np.argmax(gap), gap.shape))
                difference = f"{other[index]:.6g}, not {value[index]:.6g}"
                raise RunFault(
                    f"{self.kernel.name} on NumPy gives {field}[{', '.join(map(str, index))}] = {difference}",
                    field,
                    index,
                )

    def sensitivity(self, field: str, value: Array) -> float:
        """Return how much a result may change with the last digits of the operands."""
        worst = 0.0
        kept, through = self.operands, self.through
        for seed in range(3):
            rng = np.random.default_rng(seed)
            self.through = {n: _moved(a, rng) for n, a in through.items()}
            moved, _ = _tried(self.meaning, {f: _moved(a, rng) for f, a in kept.items()})
            if moved is None:
                worst = np.inf
                break
            worst = max(worst, float(np.max(_gap(value, moved[field]), initial=0.0)))
        self.through = through
        return 64 * worst


def _moved(array: Array, rng: np.random.Generator) -> Array:
    if array.dtype.kind != "f":
        return array
    return np.asarray(array * (1 + NEARBY * rng.standard_normal(array.shape)))


def _gap(value: Array, other: Array) -> Array:
    """Return the distance of each entry of `other` from a finite entry of `value`; elsewhere 0."""
    gap = np.where(np.isfinite(value), np.abs(value - other), 0.0)
    return np.where(np.isnan(gap), np.inf, gap)


def _largest(array: Array) -> float:
    size = float(np.max(np.abs(array), initial=0.0))
    return np.inf if np.isnan(size) else size


# ---- entries and facts


@lru_cache(maxsize=64)
def _linear(facts: tuple[str, ...]) -> tuple[str, ...]:
    """Return the facts, among these and their consequences, that require zeros."""
    book = default_rulebook()
    return tuple(sorted(f for f in book.closure(facts) if f in ("symmetric", "lower", "upper", "diagonal", "skew")))


ZEROS: Mapping[str, Callable[[Array], Array]] = {
    "symmetric": lambda X: X - X.T,
    "skew": lambda X: X + X.T,
    "lower": lambda X: np.triu(X, 1),
    "upper": lambda X: np.tril(X, -1),
    "diagonal": lambda X: X - np.diag(np.diag(X)),
}
"""For each fact, the entries of a matrix that must be zero."""


def _defect(array: Array, fact: str) -> float:
    return _largest(ZEROS[fact](array)) / max(_largest(array), 1e-300)
