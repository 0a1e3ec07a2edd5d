"""Writes paragraphs, numbered steps and tables as HTML, Markdown and LaTeX, with formulas between the words.

Notebooks typeset the formulas of Markdown and LaTeX. HTML is for tables of words: some front ends leave its formulas
as they are. Words are escaped; formulas are LaTeX and pass unchanged.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Container, Iterable, Sequence
from html import escape
from typing import NamedTuple

DOCUMENT = r"""\documentclass{{article}}
\usepackage[T1]{{fontenc}}
\usepackage[utf8]{{inputenc}}
\usepackage[a4paper, margin=25mm]{{geometry}}
\usepackage{{amsmath, amssymb, graphicx}}
\setcounter{{MaxMatrixCols}}{{{columns}}}
\setlength{{\parindent}}{{0pt}}
\newsavebox\wide
\newcommand{{\fit}}[1]{{\savebox\wide{{$\displaystyle #1$}}%
  \ifdim\wd\wide>.9\linewidth\resizebox{{.9\linewidth}}{{!}}{{\usebox\wide}}\else\usebox\wide\fi}}
\begin{{document}}
\raggedright
\binoppenalty=0
\relpenalty=0
{body}
\end{{document}}
"""
COLUMNS = 10
"""Columns of a matrix in LaTeX without further settings."""


class Math(NamedTuple):
    """A formula: its LaTeX for math mode, and its text."""

    latex: str
    text: str


Piece = str | Math
Pieces = Sequence[Piece]


class Paragraph(NamedTuple):
    """Words and formulas in one paragraph."""

    pieces: Pieces


class Steps(NamedTuple):
    """A numbered list; each step has a line, and remarks below it."""

    steps: Sequence[tuple[Pieces, Sequence[Pieces]]]


class Table(NamedTuple):
    """A table of words with a head."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]


Block = Paragraph | Steps | Table


class Format(NamedTuple):
    """How pieces and blocks are written."""

    words: Callable[[str], str]
    math: Callable[[str], str]
    paragraph: str
    steps: Callable[[Sequence[tuple[str, Sequence[str]]]], str]
    table: Callable[[Sequence[str], Sequence[Sequence[str]]], str]

    def line(self, pieces: Pieces) -> str:
        """Return words and formulas as text of the format."""
        return "".join(self.math(p.latex) if isinstance(p, Math) else self.words(p) for p in pieces)

    def block(self, block: Block) -> str:
        """Return a block as text of the format."""
        if isinstance(block, Paragraph):
            return self.paragraph.format(self.line(block.pieces))
        if isinstance(block, Steps):
            return self.steps([(self.line(line), [self.line(r) for r in remarks]) for line, remarks in block.steps])
        rows = [[self.words(cell) for cell in row] for row in block.rows]
        return self.table([self.words(cell) for cell in block.head], rows)


def html(blocks: Iterable[Block]) -> str:
    """Return blocks as one HTML element."""
    return f"<div>{''.join(map(HTML.block, blocks))}</div>"


def markdown(blocks: Iterable[Block]) -> str:
    """Return blocks as Markdown, formulas between dollar signs, tables in HTML."""
    return "\n\n".join(map(MARKDOWN.block, blocks))


def latex(blocks: Iterable[Block]) -> str:
    """Return blocks as LaTeX for notebooks: one array between dollar signs, a line for each paragraph and step."""
    body = r" \\ ".join(map(IN_ARRAY.block, blocks))
    return rf"$\displaystyle \begin{{array}}{{l}} {body} \end{{array}}$"


def document(blocks: Iterable[Block]) -> str:
    """Return blocks as a LaTeX document, which needs amsmath and graphicx."""
    body = "\n\n".join(map(LATEX.block, blocks))
    widest = max((line.count("&") + 1 for line in re.split(r"\\\\|\\begin", body)), default=COLUMNS)
    return DOCUMENT.format(body=body, columns=max(widest, COLUMNS))


class Typeset:
    """The methods that notebooks call to typeset a report of `blocks`."""

    __slots__ = ()

    def blocks(self) -> list[Block]:
        """Return the paragraphs, steps and tables of the report."""
        raise NotImplementedError

    def _repr_markdown_(self) -> str:
        return markdown(self.blocks())

    def _repr_latex_(self) -> str:
        return latex(self.blocks())


# ---- HTML and Markdown


def _html_steps(steps: Sequence[tuple[str, Sequence[str]]]) -> str:
    items = (f"<li>{line}{''.join(f'<br><small>{r}</small>' for r in remarks)}</li>" for line, remarks in steps)
    return f"<ol>{''.join(items)}</ol>"


def _html_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    top = "".join(f"<th>{cell}</th>" for cell in head)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def grid(filled: Sequence[Sequence[bool]], row_cuts: Container[int], column_cuts: Container[int]) -> str:
    """Return a table in HTML with a dark cell for each true entry, and lines before the rows and columns of cuts."""
    rows = []
    for i, row in enumerate(filled):
        top = "border-top: 2px solid gray; " if i in row_cuts else ""
        cells = (
            (top + ("border-left: 2px solid gray; " if j in column_cuts else ""), is_on) for j, is_on in enumerate(row)
        )
        rows.append("".join(_cell(borders, is_on) for borders, is_on in cells))
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return f'<table style="border-collapse: collapse; border: 1px solid gray"><tbody>{body}</tbody></table>'


def _cell(borders: str, is_on: bool) -> str:
    colour = "background: #1d4ed8; " if is_on else ""
    return f'<td style="{borders}{colour}width: 10px; height: 10px; padding: 0"></td>'


def _html_words(words: str) -> str:
    return escape(words).replace("$", "&#36;")


def _markdown_steps(steps: Sequence[tuple[str, Sequence[str]]]) -> str:
    return "\n".join(
        f"{k}. {line}" + (f" ({'; '.join(remarks)})" if remarks else "") for k, (line, remarks) in enumerate(steps, 1)
    )


def _markdown_words(words: str) -> str:
    return re.sub(r"([\\`*_\[\]<>$|#~])", r"\\\1", words)


HTML = Format(_html_words, lambda f: f"${escape(f, quote=False)}$", "<p>{}</p>", _html_steps, _html_table)
MARKDOWN = Format(_markdown_words, lambda f: f"${f}$", "{}", _markdown_steps, _html_table)


# ---- LaTeX

SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%",
    "_": r"\_", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
    ">=": r"$\ge$", "<=": r"$\le$", "\n": " ",
}  # fmt: skip
_SPECIAL = re.compile(r"[<>]=|[\\{}$&#%_^~<>\n]")
_FOREIGN = re.compile(r"[^\x00-\x7f]+")
_GREEK = re.compile(
    "GREEK (SMALL|CAPITAL) LETTER (ALPHA|BETA|GAMMA|DELTA|EPSILON|ZETA|ETA|THETA|IOTA|KAPPA|LAMBDA|MU|NU|XI|PI|RHO"
    "|SIGMA|TAU|UPSILON|PHI|CHI|PSI|OMEGA)"
)
CAPITALS = frozenset(("GAMMA", "DELTA", "THETA", "LAMBDA", "XI", "PI", "SIGMA", "UPSILON", "PHI", "PSI", "OMEGA"))
"""Greek capitals with a command in LaTeX; the others look like Latin ones."""
TYPED = frozenset("–—…‘’“”²³×±")
"""Characters outside ASCII, beside Latin letters, that LaTeX typesets in text."""


def _latex_words(words: str) -> str:
    return _SPECIAL.sub(lambda found: SPECIAL[found[0]], words)


def _array_words(words: str) -> str:
    return rf"\text{{{_latex_words(words)}}}" if words else ""


def _array_steps(steps: Sequence[tuple[str, Sequence[str]]]) -> str:
    lines = (
        rf"\text{{{k}. }}{line}" + "".join(rf"\quad {remark}" for remark in remarks)
        for k, (line, remarks) in enumerate(steps, 1)
    )
    return r" \\ ".join(lines)


def _array_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    body = r" \\ ".join(" & ".join(row) for row in rows)
    return rf"\begin{{array}}{{{'l' * len(head)}}} {' & '.join(head)} \\ \hline {body} \end{{array}}"


def _latex_steps(steps: Sequence[tuple[str, Sequence[str]]]) -> str:
    items = ("\n".join([rf"\item {line}", *(rf"\par{{\small {r}}}" for r in remarks)]) for line, remarks in steps)
    return "\n".join([r"\begin{enumerate}", *items, r"\end{enumerate}"])


def _latex_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    body = " \\\\\n".join(" & ".join(row) for row in rows)
    table = f"\\begin{{tabular}}{{{'l' * len(head)}}}\n{' & '.join(head)} \\\\ \\hline\n{body}\n\\end{{tabular}}"
    return rf"\fit{{\hbox{{{table}}}}}"


def _typed(text: str) -> str:
    """Return text in which each character outside ASCII is one that LaTeX knows, a Greek letter, or its number."""
    return "".join(map(_typed_letter, text))


def _typed_letter(letter: str) -> str:
    if letter < "\x80" or letter in TYPED or ("À" <= letter <= "ž" and letter.isalpha()):
        return letter
    found = _GREEK.fullmatch(unicodedata.name(letter, "").replace("LAMDA", "LAMBDA"))
    if found is None or (found[1] == "CAPITAL" and found[2] not in CAPITALS):
        return rf"\texttt{{U+{ord(letter):04X}}}"
    return rf"\ensuremath{{\{found[2].lower() if found[1] == 'SMALL' else found[2].capitalize()}}}"


def _typed_math(latex: str) -> str:
    return _FOREIGN.sub(lambda found: rf"\text{{{_typed(found[0])}}}", latex)


def _latex_math(latex: str) -> str:
    return rf"$\displaystyle {_typed_math(latex)}$"


IN_ARRAY = Format(_array_words, str, "{}", _array_steps, _array_table)
LATEX = Format(lambda words: _typed(_latex_words(words)), _latex_math, "{}", _latex_steps, _latex_table)
