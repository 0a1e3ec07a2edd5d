r"""Rewrites signs of papers as other LaTeX with the same meaning: `\nicefrac`, `\overset{\text{def}}{=}`, `\forall i`.

Each character of the rewritten text keeps its position in the passage.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from matcalc.language.latex.signs.derivatives import with_own_derivatives, with_own_entries
from matcalc.language.latex.signs.double_signs import with_both_signs
from matcalc.language.latex.signs.indicators import Text, with_indicators
from matcalc.language.latex.signs.set_builders import with_conditions_of_sets

_GROUP = r"\{((?:[^{}]|\{[^{}]*\})*)\}"
_EQUALS = r"(:?=|\\equiv(?![A-Za-z])|\\triangleq(?![A-Za-z]))"
_GAP = r"(?:[\s,;.~]|\\q?quad(?![A-Za-z])|\\[,;:! ]|\\text\s*\{[\s,]*(?:for|for all|for each)\s*\})*"
_DOTS = r"\\[lc]?dots(?:[bcmo](?![A-Za-z]))?\s*"
_TO = rf"(?:1\s*,\s*(?:2\s*,\s*)?{_DOTS},\s*[A-Za-z])"
RANGE = rf"(?:=\s*{_TO}|\\in\s*(?:\[\s*[A-Za-z]\s*\]|\\\{{\s*{_TO}\s*\\\}}))"
_INDICES = r"[a-z](?:\s*,\s*[a-z])*\s*"
_END = r"(?=[\s.,;]*(?:\\nonumber\s*)?(?:\\\\|\\end\s*\{|\$|\\\]|\\\)|\Z))"
_SIDE = r"((?:(?!\\rangle|\\langle)[^|,;])*?[^|,;\s](?:(?!\\rangle|\\langle)[^|,;])*)"
_BINOMIAL = rf"\\[dt]?binom\s*{_GROUP}\s*{_GROUP}"
_SUM = r"(\\(?:sum|prod)(?:\\limits|\\nolimits)?\s*)"

_D = r"(?:d|\\mathrm\s*\{\s*d\s*\}|\\partial(?![A-Za-z]))\s*"
_RATE = (
    rf"\\[dt]?frac\s*\{{\s*{_D}(?:\\?\[\s*)?(\\?[A-Za-z]+(?:\s*\{{\w\}})?|[A-Za-z])"
    rf"(\s*_\s*(?:\{{[^{{}}]*\}}|\w))?\s*\]?\s*\}}"
    rf"\s*\{{\s*{_D}\\?[A-Za-z]+\s*\}}(?=\s*&?\s*=)"
)
r"""A derivative on the left of a line, \frac{dx_i}{dt} = ..., which is a name of the formula on the right."""

_INSIDE = r"(?:[^{}=]|\{(?:[^{}]|\{[^{}]*\})*\})*"
_LEFT = r"(?<![A-Za-z0-9)\]+\-=])(?<![)\]+\-=] )"
_GRADIENT = (
    rf"{_LEFT}\\[dt]?frac\s*\{{\s*\\partial(?![A-Za-z]){_INSIDE}\}}"
    rf"\s*\{{\s*\\partial\s*(?:\\?[A-Za-z]+|\\?[A-Za-z]+\s*\{{\s*\\?[A-Za-z]+\s*\}})(\s*_\s*(?:\{{[^{{}}]*\}}|\w))?\s*\}}"
    r"(?=\s*&?\s*:?=)"
)
r"""A derivative on the left of a line, \frac{\partial L}{\partial w_j} = ..., which is a name of the formula."""
_NABLA = (
    rf"{_LEFT}\\nabla(?![A-Za-z])(?:\s*\^\s*(?:2|\{{\s*2\s*\}}))?(?:\s*_\s*(?:\{{{_INSIDE}\}}|\\?[A-Za-z]+))?"
    rf"(?:(?!\\nabla|\\\\|\\q?quad|\\sum|\\approx)(?:[^{{}}=<>+\-,;$&]|\{{{_INSIDE}\}}))*(?=&?\s*:?=)"
)
r"""A gradient on the left of a line, \nabla_w L(w) = ..., which is a name of the formula."""

_TENSOR = (
    r"(?:\\(?:mathbf|boldsymbol|bm|mathsf)\s*(?:\{[^{}]*\}|\\[A-Za-z]+)|[A-Z](?![A-Za-z]))"
    r"(?:_(?:\w|\{\w+\}))?"
)
"""A letter of a matrix in a double contraction, A : B."""
_SIGNS: Sequence[tuple[str, str]] = (
    (rf"(?<=[,\s])\(\s*({_INDICES})(=\s*{_TO})\s*\){_END}", r", <1><2> "),
    (_RATE, r"\dot{<1>}<2>"),
    (r"\\middle\s*(?:\||\\[lr]?vert(?![A-Za-z]))", r"\mid "),
    (
        r"\\(cos|sin|tan)\s*(\\?[A-Za-z]+(?:\s*_\s*(?:\w|\{[^{}]*\}))?)\s*\\,\s*(\()",
        r"\<1>(<2>) <3>",
    ),
    (
        r"\$([^$=]*=)([^$=]*)\$\s*,?\s*(?:if|for|when)\s*\$([^$]*)\$\s*,?\s*and\s*\$([^$=]*)\$\s*(?:otherwise|else)\b",
        r"$<1>\begin{cases}<2> & \text{if } <3> \\ <4> & \text{otherwise}\end{cases}$",
    ),
    (r"_\s*\{\s*([a-z])\s*,?\s*(?:\+|\\bullet)\s*\}", r"_{<1>\cdot}"),
    (r"_\s*\{\s*(?:\+|\\bullet)\s*,?\s*([a-z])\s*\}", r"_{\cdot <1>}"),
    (r"_\s*\{\s*\+\s*\+\s*\}", r"_{\cdot\cdot}"),
    (_GRADIENT, r"\mathrm{gradient}<1>"),
    (_NABLA, r"\mathrm{gradient}"),
    (r"\\(?:nicefrac|sfrac|cfrac)(?=\s*\{)", r"\frac"),
    (r"\{([^{}]*)\\over(?![A-Za-z])([^{}]*)\}", r"{\frac{<1>}{<2>}}"),
    (rf"\\[dt]?binom\s*{_GROUP}\s*\{{\s*2\s*\}}", r"\frac{(<1>)(<1>-1)}{2}"),
    (rf"\\(?:log|ln)\s*{_BINOMIAL}", r"\left(\log{(<1>)!}-\log{(<2>)!}-\log{((<1>)-(<2>))!}\right)"),
    (_BINOMIAL, r"\exp\left(\log{(<1>)!}-\log{(<2>)!}-\log{((<1>)-(<2>))!}\right)"),
    (rf"\\(?:overset|stackrel)\s*{_GROUP}\s*(?:\{{\s*{_EQUALS}\s*\}}|{_EQUALS})", "<2><3>"),
    (r"\\left\s*\.|\\right\s*\.", " "),
    (rf"\\ket\s*{_GROUP}", "(<1>)"),
    (rf"\\bra\s*{_GROUP}", r"(<1>)^\top"),
    (
        rf"(?<![{{_\w])(?<!(?<!\\),)({_TENSOR})\s*(?<!\\):(?!=)\s*({_TENSOR})(?!\s*(?:\\to|\\rightarrow|:|\w))",
        r"\langle <1>, <2> \rangle",
    ),
    (rf"\\langle{_SIDE}\|{_SIDE}\|{_SIDE}\\rangle(?![A-Za-z])", r"(<1>)^\top(<2>)(<3>)"),
    (rf"\\langle{_SIDE}\|{_SIDE}\\rangle(?![A-Za-z])", r"(<1>)^\top(<2>)"),
    (
        rf"{_SUM}_\s*\{{\s*([a-z])\s*\\in\s*(?:\[\s*([A-Za-z])\s*\]|\\\{{\s*1\s*,\s*{_DOTS},\s*([A-Za-z])\s*\\\}})\s*\}}",
        "<1>_{<2>=1}^{<3><4>}",
    ),
    (
        rf"{_SUM}_\s*\{{\s*1\s*\\leq?\s*([a-z])\s*<\s*([a-z])\s*\\leq?\s*([A-Za-z])\s*\}}",
        "<1>_{<2><<3>,<3>=1}^{<4>}",
    ),
    (r"\\substack\s*\{([^{}\\]*=[^{}\\]*)\\\\([^{}=]*)\}", "<2>,<1>"),
    (r"\\substack\s*\{([^{}=]*)\\\\([^{}]*)\}", "<1>,<2>"),
)
"""Patterns, and what replaces them: `<1>` is the first group."""
_RANGES: Sequence[tuple[str, str]] = (
    (rf"{_GAP}\\forall\s*{_INDICES}{RANGE}?{_END}", " "),
    (rf"(?<=[,;d}}\s$])(?:{_GAP}{_INDICES}=\s*{_TO})+{_END}", " "),
)
"""Ranges of indices at the ends of lines, which are removed: the lengths of axes show them."""
_NUMBERED = re.compile(
    r"(?<![}\w])(\w|\\(?:hat|tilde|bar|mathbf|boldsymbol|bm|vec)\s*(?:\{[^{}]*\}|\w))\s*\^\s*\{\s*\(([a-z])\)\s*\}(?!\s*_)"
)
r"""A letter with the number of a sample above it, `x^{(i)}`."""
_BRACE = re.compile(r"\\(underbrace|overbrace|boxed)\s*\{")
_RULES, _RANGE_RULES = (
    [(re.compile(pattern), re.split(r"<(\d)>", put)) for pattern, put in some] for some in (_SIGNS, _RANGES)
)
_IDENTITY = re.compile(
    r"(?<![A-Za-z\\])I(?![A-Za-z_])|\\(?:mathbf|boldsymbol|bm|mathbb|mathrm)\s*\{?\s*I\b(?!\s*\}?\s*_)"
)
"""An identity without its size."""
_NORMAL = re.compile(r"\\mathcal\s*(?:\{\s*N\s*\}|N)\s*(?:\\left\s*|\\[bB]igg?l?\s*)?\(")
_LOGARITHM = re.compile(r"\\(?:log|ln)(?:\\[,;! ]|\s)*\Z")
_BAR = re.compile(r"\\mid(?![A-Za-z])|\\[lr]?vert(?![A-Za-z])|\\,\s*\|\s*\\,|\||;")
_ARRAY = re.compile(r"(?<![A-Za-z])[A-Z](?![a-z])|\\[A-Z]|\\(?:mathbf|boldsymbol|bm|operatorname)")
"""Signs of a covariance matrix; a variance has none."""
_ARGUMENT = re.compile(r"(?<=[\w}])\s*\([^()]*\)")
"""The argument of a function, as of a variance \\sigma^2(x)."""
_BRACKET = re.compile(r"(?:\\left\s*|\\[bB]igg?l?\s*)?\[")
_BESIDE = re.compile(
    r"(?:\A|[=(+\-,&{*/]|\\(?:\||cdot|q?quad|[,;! ])"
    r"|\^\s*(?:\\top|T|\{\s*(?:\\!)?\s*(?:\\top|\\intercal|T)\s*\}))\s*\Z"
    r"|(?<![A-Za-z])(?:\\mathbf\s*\{?\s*)?[UVW]\}?(?:_\s*(?:\{\w*\}|\w))?\s*\Z"
)
"""What may stand before stacked vectors: an operator, a transpose, a matrix W. D[p \\| q] is a divergence."""
_DOUBLE_BAR = re.compile(r"\\\||\\[lr]?Vert(?![A-Za-z])|[‖∥]|\|\|")
_SIZED = re.compile(r"(?:\\right|\\[bB]igg?r?)\s*\Z")
_SIZES = re.compile(r"\\left|\\right|\\[bB]igg?[lr]?")


def rewritten(text: Text, with_ranges: bool) -> Text:
    """Return a text with positions in which the grammar knows the signs; `with_ranges` of indices or without."""
    text = with_own_entries(with_own_derivatives(with_both_signs(_without_braces(text))))
    for pattern, parts in _RULES if with_ranges else (*_RULES, *_RANGE_RULES):
        text = _replaced(text, pattern, parts)
    return _densities(_numbered(with_indicators(with_conditions_of_sets(_stacked(text)))))


def _stacked(text: Text) -> Text:
    r"""Return a text with a block column for vectors one above the other, [a \,\|\, b] and [a; b]."""
    plain = "".join(c for c, _ in text)
    for found in reversed(list(_BRACKET.finditer(plain))):
        end = _closing(plain, found.end(), "[]")
        bars = [x for x in _DOUBLE_BAR.finditer(plain, found.end(), end) if not _depth(plain, found.end(), x.start())]
        if not _BESIDE.search(plain, 0, found.start()):
            continue
        if end and not bars and (marks := _semicolons(plain, found.end(), end)):
            bars = marks
        elif not end or len(bars) != 1 or "|" in plain[found.end() : end].replace(bars[0][0], ""):
            continue
        sized = _SIZED.search(plain, found.end(), end)
        stop = sized.start() if sized else end
        origin = text[found.start()][1]

        def put(signs: str, origin: int = origin) -> Text:
            return [(c, origin) for c in signs]

        inner: Text = []
        for begin, last in zip(
            [found.end(), *(x.end() for x in bars)], [*(x.start() for x in bars), stop], strict=True
        ):
            inner += [*put(r"\\ "), *text[begin:last]] if inner else text[begin:last]
        text = [*text[: found.start()], *put(r"\begin{bmatrix} "), *inner, *put(r" \end{bmatrix}"), *text[end + 1 :]]
        plain = "".join(c for c, _ in text)
    return text


def _semicolons(plain: str, begin: int, end: int) -> list[re.Match[str]]:
    """Return the semicolons between the parts of a list without commas and dots."""
    marks = [x for x in re.compile(r"(?<!\\);").finditer(plain, begin, end) if not _depth(plain, begin, x.start())]
    commas = [x for x in re.compile(",|dots").finditer(plain, begin, end) if not _depth(plain, begin, x.start())]
    return [] if commas else marks


def _depth(text: str, begin: int, end: int) -> int:
    """Return the number of brackets that are open at the end of a range."""
    return sum(text.count(sign, begin, end) for sign in "([{") - sum(text.count(sign, begin, end) for sign in ")]}")


def _without_braces(text: Text) -> Text:
    r"""Return a text with parentheses for \underbrace{...}_{\text{...}} and \overbrace, and without \boxed."""
    while found := _BRACE.search(plain := "".join(c for c, _ in text)):
        end = _closing(plain, found.end(), "{}")
        if not end:
            return text
        note = re.compile(r"\s*[_^]\s*\{").match(plain, end + 1) if found[1] != "boxed" else None
        stop = _closing(plain, note.end(), "{}") if note else end
        if not stop:
            return text
        pair = "  " if found[1] == "boxed" else "()"
        opening, closing = ((pair[0], text[found.start()][1]), (pair[1], text[end][1]))
        text = [*text[: found.start()], opening, *text[found.end() : end], closing, *text[stop + 1 :]]
    return text


def _numbered(text: Text) -> Text:
    r"""Return a text in which indices of sums are subscripts, x_{i} for x^{(i)}."""
    plain = "".join(c for c, _ in text)
    bound = set(re.findall(r"\\(?:sum|prod|max|min)(?:\\limits)?\s*_\s*\{?\s*([a-z])(?![A-Za-z])", plain))
    for found in reversed(list(_NUMBERED.finditer(plain))):
        if found[2] in bound:
            origin = text[found.end(1)][1]
            put = [("_", origin), ("{", origin), *text[found.start(2) : found.end(2)], ("}", origin)]
            text = [*text[: found.end(1)], *put, *text[found.end() :]]
    return text


def _replaced(text: Text, pattern: re.Pattern[str], parts: Sequence[str]) -> Text:
    plain = "".join(c for c, _ in text)
    made: Text = []
    begin = 0
    for found in pattern.finditer(plain):
        if found.start() == found.end():
            continue
        made += text[begin : found.start()]
        origin = text[found.start()][1]
        for k, part in enumerate(parts):
            if k % 2 == 0:
                made += [(c, origin) for c in part]
            elif found[int(part)] is not None:
                made += text[found.start(int(part)) : found.end(int(part))]
        begin = found.end()
    return made + text[begin:] if made or begin else text


_IS_DEFINED = re.compile(r"\s*&?\s*:?=")


def _densities(text: Text) -> Text:
    r"""Return a text with the formula of each density \mathcal{N}(x \mid \mu, \Sigma), of a vector or a number."""
    plain = "".join(c for c, _ in text)
    if any(_IS_DEFINED.match(plain, _closing(plain, x.end()) + 1) for x in _NORMAL.finditer(plain)):
        return text  # the passage has its own formula
    for found in reversed(list(_NORMAL.finditer(plain))):
        end = _closing(plain, found.end())
        bar = _top(plain, found.end(), end, _BAR.match) if end else None
        comma = _top(plain, bar[1], end, re.compile(",").match) if bar else None
        if not bar or not comma:
            continue
        stop = _SIZES.sub(lambda x: " " * len(x[0]), plain[:end])
        x, mu, sigma = (
            text[a : a + len(stop[a:b].rstrip())]
            for a, b in ((found.end(), bar[0]), (bar[1], comma[0]), (comma[1], end))
        )
        origin = text[found.start()][1]

        def put(*pieces: str | Text, origin: int = origin) -> Text:
            return [one for p in pieces for one in (p if isinstance(p, list) else [(c, origin) for c in p])]

        taken = _LOGARITHM.search(plain, 0, found.start())
        gap = put("((", x, ")-(", mu, "))")
        is_number = not _ARRAY.search(_ARGUMENT.sub("", "".join(c for c, _ in sigma)))
        two, pi = ("6.283185307179586", "") if r"\pi" in plain else ("2", r"\pi")
        square = put(gap, "^2/(", sigma, ")") if is_number else put(gap, r"^\top(", sigma, ")^{-1}", gap)
        own = put("+0", gap, gap, r"^\top") if _IDENTITY.search("".join(c for c, _ in sigma)) and not is_number else []
        volume = put(rf"\left|{two}(", sigma, ")", pi, own, r"\right|")  # the sizes of I are those of x
        if taken:  # the density of a far point is 0 as a number, and its logarithm is not
            made = put(r"\left(-\frac{1}{2}\log", volume, r"-\frac{1}{2}", square, r"\right)")
        else:
            exponential = put(r"\exp\left(-\frac{1}{2}", square, r"\right)")
            made = put(r"\left(", volume, r"^{-\frac{1}{2}}", exponential, r"\right)")
        text = [*text[: taken.start() if taken else found.start()], *made, *text[end + 1 :]]
    return text


def _closing(text: str, begin: int, pair: str = "()") -> int:
    """Return the position of the parenthesis or brace that ends an argument; 0 if none does."""
    depth = 1
    for at in range(begin, len(text)):
        depth += {pair[0]: 1, pair[1]: -1}.get(text[at], 0)
        if not depth:
            return at
    return 0


def _top(text: str, begin: int, end: int, match: Callable[[str, int], re.Match[str] | None]) -> tuple[int, int] | None:
    """Return the range of the first match outside brackets."""
    depth = 0
    at = begin
    while at < end:
        found = match(text, at) if not depth else None
        if found:
            return found.start(), found.end()
        depth += {"(": 1, "{": 1, "[": 1, ")": -1, "}": -1, "]": -1}.get(text[at], 0)
        at += 1
    return None
