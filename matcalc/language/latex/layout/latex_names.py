r"""Defines the look of names and functions in LaTeX: LaTeX's commands, and a symbol's spelling by its name and kind.

Vectors are bold lower-case, matrices bold upper-case, scalars italic, tensors calligraphic, as in most textbooks of
matrix algebra. The look of an operation is a template, a field of its rule: LaTeX with holes for arguments, `{0}` for
the first, `{0^}` for the first as a base or factor, in parentheses unless it is an atom. A rule may have several
templates, one for each number of arguments. The key `name:kind` holds the template for a first argument of that kind
(`name:` for unknown kind), `name[]` the one for an entry (subscripts follow the arguments). An operation without a
template is written as a call. A digit in braces after a letter, `_` or `^` is not a hole: `\mathbf{1}_{{0}}`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

Templates = Mapping[str, tuple[str, ...]]
"""The templates of a rulebook, by name and suffix."""

LOOKS: Mapping[str, str] = {
    "otherwise": "", "entry": "[]", "unknown": ":",
    **{kind: f":{kind}" for kind in ("scalar", "vector", "row", "matrix", "tensor")},
}  # fmt: skip
"""The use of a template -> the suffix of the function's name in its key."""

COMMANDS = frozenset((
    "arccos", "arcsin", "arctan", "cos", "cosh", "cot", "coth", "det", "exp", "gcd", "inf", "lim", "ln",
    "log", "max", "min", "sec", "sin", "sinh", "sup", "tan", "tanh",
))  # fmt: skip
"""Functions that have their own command in LaTeX; others are set by operatorname."""

_GREEK_WORDS = (
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu",
    "nu", "xi", "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega", "Gamma", "Delta",
    "Theta", "Lambda", "Xi", "Pi", "Sigma", "Upsilon", "Phi", "Psi", "Omega",
)  # fmt: skip
_GREEK_LETTERS = "αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΥΦΨΩ"
GREEK: Mapping[str, str] = {
    **{word: f"\\{word}" for word in _GREEK_WORDS},
    **{letter: f"\\{word}" for letter, word in zip(_GREEK_LETTERS, _GREEK_WORDS, strict=True)},
    "lam": r"\lambda", "eps": r"\epsilon", "sig": r"\sigma", "ς": r"\varsigma", "ϵ": r"\epsilon",
}  # fmt: skip

LETTERS: Mapping[str, str] = {
    **{name: look[1:] for name, look in GREEK.items() if name not in ("lam", "eps", "sig")},
    "ell": "ell",
    **{word: word for word in ("varepsilon", "vartheta", "varphi", "varrho", "varpi", "varkappa", "varsigma")},
}  # fmt: skip
"""Commands of letters, and letters outside ASCII -> the name of the letter."""
ALIKE: Mapping[str, str] = {**{name: look[1:] for name, look in GREEK.items()}, "infty": "inf"}
"""A name of a letter -> the name of a letter with the same look."""
MARKS: Mapping[str, str] = {
    "top": "T", "intercal": "T", "T": "T", "dagger": "+", "dag": "+", "prime": "'", "H": "H", "infty": "infty",
}  # fmt: skip
"""Commands and upright letters as superscripts -> their meaning there."""
FONTS: Mapping[str, str] = {
    **dict.fromkeys(("mathbf", "boldsymbol", "bm", "pmb", "bf", "textbf"), "bold"), "cal": "script", "it": "italic",
    **dict.fromkeys(("mathit", "mathnormal", "textit"), "italic"),
    **dict.fromkeys(("mathrm", "mathsf", "mathtt", "textrm", "textnormal", "textsf", "rm", "sf"), "roman"),
    **dict.fromkeys(("text", "mbox"), "text"), "mathbb": "double", "mathfrak": "fraktur",
    **dict.fromkeys(("mathcal", "mathscr"), "script"), **dict.fromkeys(("operatorname", "operatorname*"), "operator"),
}  # fmt: skip
ACCENTS: Mapping[str, str] = {
    "hat": "hat", "widehat": "hat", "tilde": "tilde", "widetilde": "tilde", "bar": "bar", "overline": "bar",
    "vec": "", "overrightarrow": "", "dot": "dot", "ddot": "ddot", "check": "check", "breve": "breve",
    "underline": "underline", "mathring": "ring",
}  # fmt: skip
"""Accents -> the suffix that they add to a name."""

BIG = ("sum", "prod", "int", "iint", "oint", "lim", "bigcup", "bigcap", "bigoplus", "bigotimes", "coprod")
OVER = ("max", "min", "sup", "inf", "argmax", "argmin", "arg")
"""Commands that take the rest of a term; those of OVER only if they have a subscript."""

NEUTRAL: Mapping[str, str] = {"prod": "1", "max": "-inf", "min": "inf", "sup": "-inf", "inf": "inf"}
"""The value in the place of what a condition below a command leaves out."""

REFUSED: Mapping[str, str] = {
    **dict.fromkeys(("partial", "nabla"), "for a derivative call mc.gradient(f, wrt)"),
    **dict.fromkeys(("ldots", "cdots", "dots"), "write the sum with its bounds"),
    **dict.fromkeys(("vdots", "ddots"), "write the matrix with all its entries"),
    **dict.fromkeys(("pm", "mp"), "write one of the two formulas"),
    "propto": "write the right side alone: its logarithm has the same gradient, and a value without the constant",
    "sim": "write the density, or its logarithm",
    **dict.fromkeys(
        ("int", "iint", "oint"), r"write its value in closed form, or the sum of a quadrature, \sum_i w_i f_i"
    ),
    **dict.fromkeys(("E", "EE"), r"write the mean over the data, \frac{1}{n} \sum_{i=1}^{n}"),
    **dict.fromkeys(("Var", "Cov", "Corr"), "write its sum: papers divide by n or by n - 1"),
    **dict.fromkeys(("LeakyReLU", "PReLU"), r"slopes differ: write \max\{t, 0.01 t\}, or define it in the passage"),
    **dict.fromkeys(("arg", "argmin", "argmax"), "write only the formula that is minimised"),
}
"""Commands that are not functions -> what to write instead."""

_FONTS = {"vector": r"\mathbf", "matrix": r"\mathbf", "tensor": r"\mathcal"}
NAME = re.compile(r"(?P<word>.*?[^\W\d_]|_)(?P<number>\d*)(?:_(?P<below>.+))?_*", re.DOTALL)


def symbol(name: str, kinds: Mapping[str, str], entry: bool = False) -> str:
    """Return a symbol's LaTeX; an `entry` is set as an italic scalar. `dX` is a differential if X is known."""
    if name[0] == "d" and name[1:] in kinds:
        return r"\mathrm{d}" + symbol(name[1:], kinds, entry)
    found = NAME.fullmatch(name)
    if found is None:
        return rf"\mathit{{{escaped(name)}}}"
    if name == "inf" and name not in kinds:
        return r"\infty"
    if name == "end":
        return r"\mathrm{end}"
    word = _word(found["word"], "scalar" if entry else kinds.get(name, "scalar"))
    below = ",".join(part for part in (found["number"], *(found["below"] or "").split("_")) if part)
    return f"{word}_{{{_subscript(below)}}}" if below else word


def operator(name: str) -> str:
    """Return the LaTeX of a function's name in a call."""
    return f"\\{name}" if name in COMMANDS else rf"\operatorname{{{escaped(name)}}}"


def escaped(text: str) -> str:
    """Return `text` with LaTeX's special characters escaped."""
    return text.replace("_", r"\_")


def _word(word: str, kind: str) -> str:
    if word in GREEK:
        return rf"\boldsymbol{{{GREEK[word]}}}" if kind in _FONTS else GREEK[word]
    if kind in _FONTS:
        return f"{_FONTS[kind]}{{{escaped(word)}}}"
    return escaped(word) if len(word) == 1 else rf"\mathit{{{escaped(word)}}}"


def _subscript(below: str) -> str:
    if below in GREEK:
        return GREEK[below]
    plain = all(len(part) == 1 or part.isdigit() for part in below.split(","))
    return below if plain else rf"\mathrm{{{below}}}"
