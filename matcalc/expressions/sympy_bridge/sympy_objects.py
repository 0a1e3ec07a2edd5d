r"""Recognises SymPy objects among names and formulas: symbols, entries, and objects that become plain symbols.

Objects that represent one symbol, but have no name in the language, become plain symbols. A function of time, `q(t)`
from `dynamicsymbols`, is a symbol, and so is each of its derivatives, `q_dot`: in mechanics they are independent of
each other. A LaTeX name, `\theta_{1}`, loses the characters that an identifier cannot have. An IndexedBase without a
shape, whose entries have integer indices, gets one size for each axis.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeGuard

from matcalc.errors import NotSupported, ParseError
from matcalc.language.identifiers import identifier, shown
from matcalc.rulebook.load import default_rulebook

if TYPE_CHECKING:
    from sympy import Basic, Matrix


TIME = "t"
DERIVED = {1: "dot", 2: "ddot"}
SYMBOLS = ("Symbol", "Dummy", "MatrixSymbol", "ArraySymbol")
ACCENT = re.compile(r"\\(dot|ddot|hat|bar|tilde|vec|check|breve|acute|grave)\s*\{\\?(\w+)\}")
FONT = re.compile(r"\\(?:math\w+|bm|boldsymbol|text\w*|operatorname)\s*\{\\?(\w+)\}")
MARKS = re.compile(r"[_^]\{([\w, ]*)\}")


def plain_name(value: Basic) -> str | None:
    """Return the name of an object that represents one symbol; None for anything else."""
    if is_function_of_time(value):
        return str(value.func.__name__)
    if _is_derivative(value):
        function, (_, order) = value.args
        return f"{function.func.__name__}_{DERIVED.get(int(order), f'd{order}')}"
    name = getattr(value, "name", None)
    return without_latex(name) if type(value).__name__ in SYMBOLS and isinstance(name, str) else None


def without_latex(name: str) -> str:
    r"""Return a name without its LaTeX: `\theta_{1}` is theta_1, `\dot{x}` is x_dot, `\mathbf{w}` is w."""
    if name.isidentifier():
        return name
    while (plain := FONT.sub(r"\1", ACCENT.sub(r"\2_\1", name))) != name:
        name = plain
    name = MARKS.sub(lambda found: "_" + re.sub(r"[, ]+", "_", found[1]), name)
    return re.sub(r"\\(?=[A-Za-z])", "", name)


def is_function_of_time(value: Basic) -> bool:
    """Whether a value is an unknown function of the symbol t alone, and no operation has its name."""
    if not any(kind.__name__ == "AppliedUndef" for kind in type(value).__mro__):
        return False
    alone = len(value.args) == 1 and getattr(value.args[0], "is_Symbol", False)
    return alone and value.args[0].name == TIME and str(value.func.__name__) not in default_rulebook()


def _is_derivative(value: Basic) -> bool:
    if type(value).__name__ != "Derivative" or len(value.args) != 2 or not is_function_of_time(value.args[0]):
        return False
    variable, order = value.args[1]
    return variable == value.args[0].args[0] and bool(getattr(order, "is_Integer", False))


def time_of(value: Basic) -> str | None:
    """Return the name of the variable of a function of time, or of its derivative; None for anything else."""
    if _is_derivative(value):
        value = value.args[0]
    return plain_name(value.args[0]) if is_function_of_time(value) else None


def plain(expr: Basic, everything: Iterable[Basic]) -> Basic:
    """Return an expression of these objects with plain symbols in it.

    Raises: NotSupported if two objects would have one name.
    """
    objects = list(everything)
    bound = {v for node in objects if type(node).__name__ != "Derivative" for v in getattr(node, "variables", ())}
    named: dict[str, set[Basic]] = {}
    exchanged: dict[Basic, Basic] = {}
    for node in objects:
        name = plain_name(node)
        if name is None or time_of(node) is not None and any(symbol.name == TIME for symbol in bound):
            continue
        named.setdefault(name, set()).add(node)
        if name != getattr(node, "name", None) or type(node).__name__ not in SYMBOLS:
            exchanged[node] = _renamed(node, name)
    twice = next((new.name for new in exchanged.values() if len(named[new.name]) > 1), None)
    if twice is not None:
        raise NotSupported(f"two SymPy symbols named {twice}: rename one")
    exchanged.update(_with_shapes(objects))
    return expr.xreplace(exchanged) if exchanged else expr


def _renamed(node: Basic, name: str) -> Basic:
    import sympy

    if type(node).__name__ in SYMBOLS:
        return node.func(name, *node.args[1:]) if node.args else node.func(name, **node.assumptions0)
    return sympy.Symbol(name, real=True)


def _with_shapes(objects: list[Basic]) -> dict[Basic, Basic]:
    """Return entries of each IndexedBase without a shape, all with integer indices, as those of one with sizes."""
    import sympy

    entries = [node for node in objects if type(node).__name__ == "Indexed" and not node.base.shape]
    found: dict[Basic, Basic] = {}
    for base in dict.fromkeys(node.base for node in entries):
        own = [node for node in entries if node.base == base]
        if all(position.is_Integer for node in own for position in node.indices):
            count = len(own[0].indices)
            names = [f"n_{base.label}" + (f"_{k}" if count > 1 else "") for k in range(count)]
            shaped = sympy.IndexedBase(base.label, shape=tuple(sympy.Symbol(name, integer=True) for name in names))
            found.update({node: shaped[node.indices] for node in own})
    return found


ENTRIES = ("MatrixElement", "ArrayElement", "Indexed")


def is_sympy(value: object) -> TypeGuard[Basic]:
    """Whether a value is of a class of SymPy, or of one derived from it."""
    return any((kind.__module__ or "").partition(".")[0] == "sympy" for kind in type(value).__mro__)


def is_explicit(value: object) -> TypeGuard[Matrix]:
    """Whether a value is a SymPy matrix of entries."""
    return is_sympy(value) and getattr(value, "is_Matrix", False) and not getattr(value, "is_MatrixExpr", False)


def is_indexed(value: object) -> bool:
    """Whether a value is an IndexedBase, of which only entries are formulas."""
    return type(value).__name__ == "IndexedBase" and is_sympy(value)


def name_of(theirs: Basic | str) -> str:
    """Return the name of a SymPy symbol or size in the language.

    Raises: NotSupported for a name that is no identifier, or that Python reads as another.
    """
    name = str(theirs)
    try:
        plain = identifier(name, "the SymPy symbol")
    except ParseError as fault:
        raise NotSupported(f"the SymPy symbol {shown(name)}: rename it, its name is no identifier") from fault
    if plain != name:
        raise NotSupported(f"the SymPy symbol {shown(name)}: rename it {plain}, which is how Python reads its name")
    return name


def symbol_name(value: object) -> str | None:
    """Return the name of a SymPy symbol of any kind; None for anything else."""
    if not is_sympy(value) or type(value).__name__ in ENTRIES:
        return None
    plain = plain_name(value)
    if plain is not None:
        return plain
    name = getattr(value, "name", None)
    return name if isinstance(name, str) else getattr(name, "name", None)


def entry_of(value: object) -> tuple[Basic, tuple[int, ...]] | None:
    """Return the SymPy symbol and the index of an entry of it; None for anything else, also for symbolic indices."""
    kind = type(value).__name__
    if kind not in ENTRIES or not is_sympy(value):
        return None
    whole, *positions = value.args if kind != "ArrayElement" else (value.name, *value.indices)
    if symbol_name(whole) is None or not all(getattr(position, "is_Integer", False) for position in positions):
        return None
    lengths = getattr(whole, "shape", None) or (None,) * len(positions)
    indices = [int(p) for p, length in zip(positions, lengths, strict=True) if length != 1]
    return whole, tuple(indices)
