r"""Compares words about functions and signs with the meaning that matcalc gives these: \sigma is logistic."""

from __future__ import annotations

import re

MEANINGS = (
    (r"\\sigma(\(\\cdot\)|\([a-z]\))?", r"logistic|sigmoid"),
    (r"\\Phi(\(\\cdot\)|\([a-z]\))?", r"normal|Gaussian|N\}?\(0,\s*1\)"),
    (r"\\(var)?phi(\(\\cdot\)|\([a-z]\))?", r"(?s)(?=.*(normal|Gaussian|N\}?\(0,\s*1\))).*(densit|pdf)"),
    (r"I_\{?(0|1|\\nu|\w)\}?(\(\\cdot\))?", r"modified Bessel function of the first kind"),
    (r"K_\{?(0|1|\\nu|\w)\}?(\(\\cdot\))?", r"modified Bessel function of the second kind"),
    (r"J_\{?(0|1|\\nu|\w)\}?(\(\\cdot\))?", r"^(?!.*modified).*Bessel function of the first kind"),
    (r"\\psi\b(\(\\cdot\)|\([a-z]\))?", r"di-?gamma"),
    (r"\\(ln|log)(\(\\cdot\))?", r"natural"),
    (r"\\(odot|circ)", r"Hadamard|element-?\s?wise|entry-?\s?wise|component-?\s?wise"),
    (r"\\Gamma(\(\\cdot\)|\([a-z]\))?", r"(?i:gamma function)"),
    (r"[\[(](\\cdot|[a-z])[\])]_\{?\+\}?", r"positive part"),
    (r"\\langle(\\cdot,\\cdot|[a-z],[a-z])\\rangle", r"inner product|scalar product|dot product"),
    (r"\\(\||Vert)\\cdot\\(\||Vert)_\{?1\}?", r"\\ell_1|1-norm|sum of absolute"),
    (r"\\(\||Vert)\\cdot\\(\||Vert)_\{?(\*|\\ast)\}?", r"nuclear"),
    (r"\|\\cdot\|", r"absolute|modulus|determinant|norm|length"),
    (r"\\(mathrm|operatorname)\{diag\}(\(\\cdot\))?", r"diagonal matrix"),
    (r"\\(mathrm|operatorname)\{vec\}(\(\\cdot\))?", r"stack|vectori[sz]"),
    (r"\\delta_\{?[a-z],?[a-z]\}?", r"Kronecker"),
    (r"\\otimes", r"Kronecker"),
    (r"\\(\||Vert)\\cdot\\(\||Vert)(_2)?", r"Euclidean|\\ell_2|\\ell\^2|L2|2-norm"),
    (r"\\(\||Vert)\\cdot\\(\||Vert)_(F|\{F\})", r"Frobenius"),
    (r"\\(mathrm|operatorname)\{[Tt]r\}(\(\\cdot\))?", r"(?:the )trace"),
    (r"(\(\\cdot\))?\^?\{?(\\top|T|\\mathsf\{T\})\}?", r"transpos"),
    (r"(\\mathbf\{)?I\}?(_\{?\w\}?)?", r"identity"),
    (r"(\\mathbf\{|\\mathbb\{|\\boldsymbol\{)1\}(_\{?\w\}?)?", r"of ones|all-ones|1s"),
)
"""Functions and signs, and the words that state the meaning which matcalc gives them."""


def states(shown: str, words: str) -> bool:
    r"""Return whether words state the meaning of a sign or a function, "logistic" that of \sigma."""
    return any(re.search(stated, words) for stated in _stated(shown))


def is_function_named(shown: str, words: str) -> bool:
    r"""Return whether words name a function by a sign that has the meaning of one, "the step function" by \sigma."""
    return bool(_stated(shown)) and re.search(r"\bfunction\b", words) is not None


def has_meaning(shown: str) -> bool:
    """Return whether a sign or a function has a meaning that words may deny."""
    return bool(_stated(shown))


def _stated(shown: str) -> list[str]:
    """Return the words that would state the meaning of a sign or a function."""
    plain = re.sub(r"\s|\\[,;:! ]|\\left|\\right|(?<=\\)\s", "", shown)
    return [stated for sign, stated in MEANINGS if re.fullmatch(sign, plain)]
