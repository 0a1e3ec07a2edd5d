"""Writes the docstring of a function: its formula and derivatives, then shapes and facts of its arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from textwrap import wrap

from matcalc.calculus.simplify.users_names import named_formula
from matcalc.language.syntax import Ast, parts_in
from matcalc.language.write import text, where_text
from matcalc.plain_source.language import Language, filled
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.symbols import Names

NAMED = {
    "gradient": "gradient", "jacobian": "Jacobian", "hessian": "Hessian", "differential": "differential",
    "vjp": "pullback", "hvp": "Hessian",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Output:
    """A result of a function.

    written: the tree in which its user wrote it, if there is one. what: "value" or the kind of a derivative.
    root: the formula that is differentiated. wrt: the variables of the derivative. along: the directions, or the
    cotangent. variables: those that move along the directions.
    """

    label: str
    node: Node
    written: Ast | None = None
    what: str = "value"
    root: Node | None = None
    wrt: tuple[str, ...] = ()
    along: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()


def docstring(words: Language, outputs: Sequence[Output], names: Names, renamed: Mapping[str, str]) -> list[str]:
    """Return the lines of the docstring, without indentation."""
    margin = str(words.table["function"].get("margin", ""))
    width = words.width - len(words.indent) - len(margin)
    shapes = [f"{renamed.get(s.name, s.name)}: {_shape(words, s)}" for s in names.ordered()]
    opening, closing = words.table["function"]["docstring"]
    title = _title(outputs, names)
    lines = wrap(title, width - len(opening), break_long_words=False, break_on_hyphens=False)
    lines += ["", *_filled(shapes, width)] if shapes else []
    lines = [_safe(line) for line in lines]
    if margin:
        return [f"{margin}{line}".rstrip() for line in lines]
    opening = f"r{opening}" if any("\\" in line for line in lines) else opening
    if len(lines) == 1:
        return [f"{opening}{lines[0]}{closing}"]
    return [opening + lines[0], *lines[1:], closing]


def _safe(line: str) -> str:
    return "".join(c if c.isprintable() else "?" for c in line).replace('"""', "'''")


def _filled(items: Sequence[str], width: int) -> list[str]:
    """Return items in as few lines as fit, an item never divided."""
    lines = [""]
    for item in items:
        longer = f"{lines[-1]}, {item}" if lines[-1] else item
        if len(longer) < width or not lines[-1]:
            lines[-1] = longer
        else:
            lines[-1] += ","
            lines.append(item)
    return lines


def _title(outputs: Sequence[Output], names: Names) -> str:
    """Return the sentence that says what the function returns."""
    sentences: list[str] = []
    root: Node | None = None
    for output in outputs:
        if output.what == "value":
            sentences.append(formula(output, names))
            root = output.node
    parts: list[str] = []
    derivatives = [o for o in outputs if o.what != "value"]
    for _, group in groupby(derivatives, key=lambda o: (o.what, frozenset(o.along), o.root)):
        members = list(group)
        parts.append(_derivative(members, names, members[0].root is root and root is not None))
    return f"Return {listed([*sentences, *parts])}."


def _derivative(members: Sequence[Output], names: Names, is_its: bool) -> str:
    """Return the words for derivatives of one kind: `its gradients in U and V`."""
    first = members[0]
    variables = listed(list(dict.fromkeys(x for m in members for x in m.wrt)))
    noun = NAMED[first.what]
    if first.what == "hessian":
        noun = "Hessian" if len(members) == 1 else "Hessian (its blocks, by rows)"
    elif first.what != "hvp" and len(members) > 1:
        noun += "s"
    along = listed(first.along) if first.along else ""
    ending = {"hvp": f" times {along}", "vjp": f" at {along}", "differential": f" along {along}"}.get(first.what, "")
    of = "" if is_its or first.root is None else f" of {_named(first.root, names)}"
    return f"{'its' if is_its else 'the'} {noun} in {variables}{ending}{of}"


def listed(words: Sequence[str]) -> str:
    """Return words as a list in a sentence."""
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else words[0]


def formula(output: Output, names: Names) -> str:
    """Return the formula of a value as its user wrote it."""
    if output.written is None:
        return _named(output.node, names)
    return where_text(output.written) if parts_in(output.written) else text(output.written)


def _named(node: Node, names: Names) -> str:
    return where_text(named_formula(node, tuple(names.scope), names.named_parts))


def _shape(words: Language, symbol: Node) -> str:
    """Return an argument's shape in the words of the language, and its facts."""
    forms = words.table["shape"]
    sizes = list(map(str, symbol.shape))
    form = "others" if symbol.rank > 1 else "vector" if symbol.rank else "scalar"
    kind = filled(forms[form], {"0": "".join(sizes[:1]), "sizes": forms["separator"].join(sizes)})
    first = int(words.table["first"])
    facts = [f"{fact} from {first}" if fact == "index" and first else fact for fact in sorted(symbol.data[1])]
    return " ".join([kind, *facts])
