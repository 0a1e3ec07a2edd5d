"""Terms without effect, inserted into formulas at random nodes of their syntax trees.

`T` is the part at that node. A term is for one kind of `T`: it is a formula in `T` with symbols of its own, whose names
end in `z`. It is tried only where the values of `T` allow it.
"""

import json
import random
import re
import tomllib
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

import matcalc as mc
from matcalc.errors import NoReference
from matcalc.evidence.numeric.sampling import drawn_for, projected
from matcalc.evidence.written.points import points
from matcalc.evidence.written.truths import quickly
from matcalc.language.read import read
from matcalc.language.syntax import BINDERS, children, rebuild, replaced, walk
from matcalc.language.write import text as write
from matcalc.rulebook.load import default_rulebook
from matcalc.testing.forms import forms
from matcalc.testing.strategies import random_case

CASES = Path(__file__).parent / "cases"

SYMBOLS = {
    "cz": "cz: scalar", "dz": "dz: scalar positive", "xz": "xz: vector(kz)", "Oz": "Oz: matrix(kz, kz) orthogonal",
    "Kz": "Kz: matrix(kz, kz) spd", "Mz": "Mz: matrix(kz, kz) nonsingular",
    "uz": "uz: vector(<n>)", "vz": "vz: vector(<n>) positive", "Pz": "Pz: matrix(<m>, <m>) orthogonal",
    "Qz": "Qz: matrix(<n>, <n>) orthogonal", "Sz": "Sz: matrix(<m>, <m>) spd", "Nz": "Nz: matrix(<n>, <n>) nonsingular",
    "Bz": "Bz: matrix(<m>, <n>)", "Yz": "Yz: matrix(<m>, <n>) positive", "Lz": "Lz: matrix(<m>, <m>) lower",
}  # fmt: skip
"""Declarations of the inserted symbols; <m> and <n> are the sizes of `T`."""

ANYWHERE = """
T + (T - T) | (T - T) + T | T - (T - T) | -(-T) | 2*T/2 | T*1 | 0*T + T | (T + T)/2 | 3*T - 2*T | T/3 + 2*T/3
T + (stop(T) - stop(T)) | T + 0*stop(T) | T*(stop(cz)/stop(cz)) | T*exp(stop(cz) - cz - (stop(cz) - cz))
T*(cz/cz) | T*(cz^2*(1/cz)^2) | cz*T/cz | T*exp(cz - cz) | T*exp(log(dz) - log(dz)) | T*(sin(cz)^2 + cos(cz)^2)
T*where(cz > cz, 2, 1) | T*step(dz) | T*sign(dz)^2 | T*sqrt(dz)^2/dz | T*abs(cz)/abs(cz) | T*max(cz, cz)/cz
T*(xz'*(1./xz))/kz | T*sum(xz.*(1./xz))/kz | T*sum(exp(xz).*exp(-xz))/kz | T*norm2(Oz*xz)/norm2(xz)
T*det(Oz'*Oz) | T*tr(Oz'*Oz)/kz | T*tr(Oz*Oz')/kz | T*det(Kz)/det(Kz) | T*exp(logdet(Kz) - logdet(inv(inv(Kz))))
T*tr(Kz*inv(Kz))/kz | T*det(inv(Mz)*Mz) | T*sum(softmax(xz)) | T*(sum{iz: xz[iz]/xz[iz]})/kz
T*(xz'*Kz*xz)/(xz'*Kz*xz)
T*sum(diag(Mz)./diag(Mz))/kz | T*norm2(xz)^2/(xz'*xz) | T*(tr(Mz'')/tr(Mz)) | T*sum(sort(xz) - sort(xz) + 1./kz)
"""
BY_ENTRIES = """
log(exp(T)) | relu(T) - relu(-T) | max(T, T) | min(T, T) | sign(T).*abs(T) | sinh(asinh(T)) | where(T > 0, T, T)
T.*((2 .+ sin(T)).*(1./(2 .+ sin(T)))) | (T./(1 .+ T.^2)).*(1 .+ T.^2) | T.*exp(T - T) | T.^1
(T.^3).^(1/3) + T - (T.^3).^(1/3)
max(T, 0) + min(T, 0) | T.*(step(T) + step(-T)) | T.*exp(-T).*exp(T) | tanh(T).*cosh(T)./cosh(T) + (T - tanh(T))
"""
NONZERO = "T.^2./T | T.*(T.*(1./T)) | 1./(1./T) | T.^3./T.^2 | abs(T).^2./T | T.*(abs(T)./abs(T))"
POSITIVE = "sqrt(T).^2 | exp(log(T)) | abs(T) | (T.^(1/3)).^3 | sqrt(T.^2) | relu(T) | T.^(1/2).*T.^(1/2)"
VECTOR = """
T'' | Qz'*Qz*T | Qz*(Qz'*T) | inv(Nz)*(Nz*T) | Nz*(Nz \\ T) | eye(<n>)*T | diag(diag(T))
diag(T)*ones(<n>) | T[::-1][::-1]
{iz: T[iz]} | [T; T][:<n>] | T.*(uz.*(1./uz)) | T.*(vz./vz) | {iz: sum{jz: [iz == jz]*T[jz]}} | (T*xz'*xz)/(xz'*xz)
T + (uz - uz) | uz - uz + T | T.*exp(uz).*exp(-uz) | T + (Nz - Nz)*uz | T + Nz*(T - T)
(T'*eye(<n>))' | T.*diag(Nz*inv(Nz))
diag(T*ones(<n>)') | diag(uz)*(T./uz) | T + (uz - uz'') | [T, T][:, 0]
T + stop(uz) - stop(uz) | inv(inv(Nz))*(Nz \\ T)
"""
MATRIX = """
T'' | Pz'*Pz*T | T*(Qz*Qz') | inv(Sz)*Sz*T | T*Nz*inv(Nz) | Sz \\ (Sz*T) | eye(<m>)*T*eye(<n>) | T.*ones(<m>, <n>)
triu(T) + tril(T, -1) | {iz,jz: T[iz,jz]} | {iz,jz: T[jz,iz]}' | T[::-1][::-1] | T[:, ::-1][:, ::-1] | [T; T][:<m>]
[T, T][:, :<n>] | T.*(Bz.*(1./Bz)) | T.*(Yz./Yz) | T + Bz - Bz | Bz - Bz + T | T*diag(uz)*diag(1./uz)
reshape(vec(T), <m>, <n>)
T + (Bz - Bz'') | kron(eye(1), T) | {iz,jz: sum{lz: T[iz,lz]*[lz == jz]}} | T + Bz*(Nz - Nz)
Pz*(Pz'*T*Qz)*Qz' | T*inv(inv(Nz))*inv(Nz)
T + stop(Bz) - stop(Bz) | Sz*(inv(Sz)*T) | inv(Sz)'*Sz'*T | T.*(exp(Bz).*exp(-Bz)) | (T'*Pz*Pz')' | T + (Lz - Lz)*T
"""
SQUARE = """
inv(inv(T)) | T*inv(T)*T | T^2*inv(T) | inv(T')'*T*T | (T + T')/2 + (T - T')/2 | T - diag(diag(T)) + diag(diag(T))
pinv(inv(T)) | inv(pinv(T)) | inv(Pz'*inv(T)*Pz) + T - Pz'*T*Pz | T*(T \\ T)
"""


@dataclass(frozen=True)
class Formula:
    """A text with declarations, its variable, and data with lengths of its sizes."""

    text: str
    let: str
    wrt: str
    data: dict
    sizes: dict


def _split(text):
    return [one.strip() for line in text.splitlines() for one in line.split("|") if one.strip()]


TERMS = {
    kind: _split(text)
    for kind, text in {
        "anywhere": ANYWHERE, "by entries": BY_ENTRIES, "nonzero": NONZERO, "positive": POSITIVE,
        "vector": VECTOR, "matrix": MATRIX, "square": SQUARE,
    }.items()
}  # fmt: skip


def places(tree):
    """Return the parts of a syntax tree that have a value: no subscripts, conditions, exponents or words."""
    closed = set()
    found = []
    for node in list(walk(tree))[::-1]:
        inner = children(node)
        if node in closed:
            closed.update(inner)
            continue
        if node.head == "part":
            closed.update(inner[1:])
        elif node.head in ("condition", "slice", "function", "compare", "row"):
            closed.update(inner)
        elif node.head == "power":
            closed.add(inner[1])
        elif node.head == "call":
            closed.update(inner[len(node.args) :])
        if node.head not in ("word", "empty", "slice", "row", "condition", "function", "compare", "number"):
            found.append(node)
    return found


def is_bound(tree, node):
    """Return whether a part holds an index that is bound outside of it."""
    bound = {index for one in walk(tree) if one.head in BINDERS for index in one.value}
    return any(one.head == "name" and one.value in bound for one in walk(node))


def kinds_of(formula, tree, node):
    """Return the kinds of terms that can replace a part, with the sizes there."""
    if is_bound(tree, node):
        return ["anywhere"], ()
    part = mc.expression(write(node), formula.let)
    value = part.reference.value(formula.data, formula.sizes)
    kinds = ["anywhere"]
    if np.all(np.isfinite(value)) and np.max(np.abs(value), initial=0) < 20 and value.ndim < 3:
        kinds.append("by entries")
        if np.all(np.abs(value) > 1e-2):
            kinds.append("nonzero")
        if np.all(value > 1e-2):
            kinds.append("positive")
    kinds += {1: ["vector"], 2: ["matrix"]}.get(value.ndim, [])
    is_square = value.ndim == 2 and str(part.shape[0]) == str(part.shape[1]) and value.size
    if is_square and np.all(np.isfinite(value)) and np.linalg.cond(value) < 1e4:
        kinds.append("square")
    return kinds, part.shape


def inserted(formula, choose):
    """Return the text and declarations of a formula with a term inserted, and the term; None where no term fits."""
    tree = read(formula.text)
    node = choose(places(tree))
    try:
        kinds, shape = kinds_of(formula, tree, node)
    except (mc.MatcalcError, np.linalg.LinAlgError):
        return None
    kind = choose(kinds if len(kinds) == 1 else kinds[1:] + kinds[:1])
    term = choose(TERMS[kind])
    sizes = {"<m>": f"({shape[0]})" if shape else "", "<n>": f"({shape[-1]})" if shape else ""}
    text = term.replace("<m>", sizes["<m>"]).replace("<n>", sizes["<n>"])
    words = {one.value for one in walk(read(text)) if one.head == "name"}
    declared = [SYMBOLS[word] for word in sorted(words & set(SYMBOLS))]
    let = "; ".join([formula.let, *declared]).replace("<m>", sizes["<m>"]).replace("<n>", sizes["<n>"])
    new = rebuild(read(text), lambda one: node if one.head == "name" and one.value == "T" else one)
    return write(replaced(tree, node, new)), let, term


# ---- formulas to insert into


def textbook():
    """Yield the textbook cases, as text, declarations and variable."""
    for case in json.loads((CASES / "textbook.json").read_text(encoding="utf-8")):
        yield case["text"], case["let"], case["wrt"]
    for line in (CASES / "derivatives.txt").read_text(encoding="utf-8").splitlines():
        found = re.match(r"\w+ of (.*) by (\w+) = [^|]*(?:\| (.*))?$", line)
        if found:
            yield found[1], found[3] or "", found[2]
    for entry in tomllib.loads(
        (CASES.parents[1] / "benchmarks" / "problems.toml").read_text(encoding="utf-8")
    ).values():
        kinds, symbols, facts = ("scalar", "vector", "matrix"), entry["symbols"], entry.get("facts", {})
        words = [f"{x}: {kinds[len(s.split())]}{tuple(s.split())} {facts.get(x, '')}" for x, s in symbols.items()]
        let = "; ".join(words).replace("'", "").replace(",)", ")").replace("()", "")
        yield entry["formula"], let, entry["wrt"].split()[0]


@cache
def textbook_list():
    return list(textbook())


@cache
def known_formula(place):
    """Return a textbook case, as a number, with data at two sets of sizes; empty where it has none."""
    text, let, wrt = textbook_list()[place]
    try:
        e = mc.expression(text, let)
        let = e.declarations.replace(", undeclared", "")
        symbols = [e.names.symbols[name] for name in e.names.written]
        return [
            as_number(Formula(text, let, wrt, dict(point.data), dict(point.sizes)), point.value.shape)
            for point in points([e.reference], [e.node], e.names, symbols)
        ]
    except mc.MatcalcError:
        return []


def known_formulas():
    """Return all textbook cases."""
    return [found for place in range(len(textbook_list())) for found in known_formula(place)]


def as_number(formula, shape):
    """Return the formula, summed with weights if it is no number."""
    if not shape:
        return formula
    kind = ("", "vector", "matrix", "tensor")[min(len(shape), 3)]
    e = mc.expression(formula.text, formula.let)
    let = f"{formula.let}; Gz: {kind}({', '.join(map(str, e.shape))})"
    text = f"sum(Gz.*({formula.text}))" if len(shape) < 3 else formula.text
    data = {**formula.data, "Gz": np.random.default_rng(3).standard_normal(shape)}
    return Formula(text, let, formula.wrt, data, formula.sizes)


def random_formula(rng):
    """Return a random formula over the whole language as a number; None where it has no value."""
    book = default_rulebook()
    case = random_case(
        book, rng.choice, rng.randrange(2**32), rng.choice((1, 2, 2, 3)), forms(book), forms(book), (2, 3, 1)
    )
    data = {name: case.data[name] for name in case.symbols}
    if not data:
        return None
    wrt = rng.choice(case.symbols)
    formula = Formula(case.text, case.declarations, wrt, data, {name: case.data[name] for name in case.sizes})
    try:
        e = mc.expression(case.text, case.declarations)
        return as_number(formula, e.reference.value(data, formula.sizes).shape)
    except (mc.MatcalcError, np.linalg.LinAlgError):
        return None


# ---- values that must be equal


def at(function, data, sizes):
    """Return the value of an expression or a compiled function at data and sizes, by name."""
    known = {**sizes, **data}
    return function(
        **{name: known[name] for name in getattr(function, "symbols", None) or getattr(function, "args", ())}
    )


class Original:
    """A formula, its value by the reference, its slope there along a direction, and its own gradient."""

    def __init__(self, formula):
        self.formula = formula
        e = mc.expression(formula.text, formula.let)
        self.value = e.reference.value(formula.data, formula.sizes)
        g = mc.gradient(formula.text, formula.wrt, formula.let, check=False)
        self.gradient = at(g, formula.data, formula.sizes)
        x = e.names.symbols[formula.wrt]
        E = projected(np.random.default_rng(5).standard_normal(np.shape(formula.data[formula.wrt])), tuple(x.data[1]))
        self.slope = None
        if x.data[1].isdisjoint({"orthogonal"}):
            self.slope = quickly(self.line(e.reference, E), self.value)
        self.along = E
        moved = {
            n: v * (1 + 1e-11 * np.cos(np.arange(np.size(v)).reshape(np.shape(v)))) for n, v in formula.data.items()
        }
        self.noise = 10 * np.abs(at(g, moved, formula.sizes) - self.gradient).max(initial=0)
        self.is_finite = bool(np.all(np.isfinite(self.gradient)) and np.all(np.isfinite(self.value)))

    def line(self, reference, E):
        f = self.formula
        return lambda t: reference.value({**f.data, f.wrt: f.data[f.wrt] + t * E}, f.sizes, f.data)


def faults(original, text, let, seed, check=False, target=None):
    """Return the differences between a formula and the one with a term inserted, as texts; "refused" if rejected."""
    f = original.formula
    try:
        e = mc.expression(text, let)
        g = mc.gradient(text, f.wrt, let, check=check)
        both = mc.compile([e, g], target=target, check=check) if target else None
    except mc.InternalError as error:
        return [f"InternalError: {error}"]
    except mc.MatcalcError as error:
        return [f"refused: {type(error).__name__}: {error}"]
    lengths = {"kz": 3, **f.sizes}
    names = mc.expression(text, let).names
    data = {**f.data}
    for name in names.written:
        if name not in data:
            data[name] = drawn_for(names.symbols[name], lengths, (), 0, seed)
    try:
        written = e.reference.value(data, lengths)
    except NoReference:
        written = original.value
    except np.linalg.LinAlgError as error:
        return [f"refused: the text has no value as written: {error}"]
    if np.abs(written - original.value).max(initial=0) > 1e-7 * max(1, np.abs(original.value).max(initial=0)):
        return ["refused: at ties, rounding in the inserted term changes the value as written"]
    if both is None:
        value, gradient = (at(x, data, lengths) for x in (e, g))
    else:
        value, gradient = at(both, data, lengths)
    return differences(original, value, gradient)


def differences(original, value, gradient):
    """Return the differences of a value and a gradient from the expected ones, as texts."""
    found = []
    size = max(1e-3, np.abs(original.gradient).max(initial=0), 1e-3 * np.abs(original.value).max(initial=0))
    for what, theirs, ours, scale in (
        ("value", original.value, value, max(1, np.abs(original.value).max(initial=0))),
        ("gradient", original.gradient, gradient, size + original.noise * 1e7),
    ):
        off = np.abs(np.asarray(theirs) - ours).max(initial=0) if np.shape(theirs) == np.shape(ours) else np.inf
        if not off <= 1e-7 * scale:
            found.append(f"{what}: {np.asarray(ours).tolist()} for {np.asarray(theirs).tolist()}")
    if original.slope is not None:
        off = abs(float(np.sum(gradient * original.along)) - original.slope.value)
        if not off <= 1e-6 * max(original.slope.scale, size) + original.slope.error + original.noise:
            found.append(f"slope: {np.sum(gradient * original.along)} for {original.slope.value}")
    return found


# ---- campaigns


class Campaign:
    """Random insertions: the numbers of those compared, checked, compiled and rejected, and the differences."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.compared = self.checked = self.compiled = self.formulas = 0
        self.refused, self.wrong = Counter(), []

    def originals(self):
        """Yield formulas with finite values and gradients, every second one a textbook case."""
        while True:
            if self.rng.random() < 0.5:
                known = known_formula(self.rng.randrange(len(textbook_list())))
                formula = self.rng.choice(known) if known else None
            else:
                formula = random_formula(self.rng)
            try:
                found = Original(formula) if formula else None
            except (mc.MatcalcError, np.linalg.LinAlgError):
                continue
            if found is not None and found.is_finite:
                yield found

    def run(self, count, each=10, checked=5, compiled=100):
        """Insert `each` terms into each formula until `count` were compared.

        One in `checked` insertions is checked, one in `compiled` compiled.
        """
        for original in self.originals():
            self.formulas += 1
            for _ in range(each):
                self._one(original, checked, compiled)
                if self.compared == count:
                    return self

    def _one(self, original, checked, compiled):
        made = inserted(original.formula, self.rng.choice)
        if made is None:
            return
        text, let, term = made
        check, code = self.compared % checked == 0, self.compared % compiled == 7
        found = faults(original, text, let, self.compared, check, "numba" if code else None)
        if found and found[0].startswith("refused"):
            self.refused[found[0].partition("\n")[0][:60]] += 1
            return
        self.compared += 1
        self.checked += check
        self.compiled += code
        if found:
            f = original.formula
            self.wrong.append(f"{term} | {text} | {let} | {f.wrt} {f.sizes} | {found}")
