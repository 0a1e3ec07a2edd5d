"""Hostile texts: code that would leave a mark if it ran, ends of literals, names of all kinds, and mixtures of them."""

import keyword
import random

MARK = "hostile_text_ran"
CODE = f"__import__('builtins').__dict__.update({MARK}=1)"
STATEMENT = f"import builtins; builtins.{MARK} = 1"
PAYLOADS = [
    CODE,
    STATEMENT,
    f"\n{STATEMENT}\n",
    f"\r{STATEMENT}\r",
    f"\r\n{STATEMENT}\r\n",
    f"\x0c\n{STATEMENT}",
    f"\x0b{STATEMENT}\x0b",
    f"\x85{STATEMENT}\x85",
    f"\u2028{STATEMENT}\u2029",
    f'"""\n{STATEMENT}\n"""',
    f"'''\n{STATEMENT}\n'''",
    f'"\n{STATEMENT}\n"',
    f"\\\n{STATEMENT}",
    f'\\"""\n{STATEMENT}',
    f"f():\n    {STATEMENT}\n\n\ndef g",
    f"f(x={CODE}):\n    pass\n\n\ndef g",
    f"x=({CODE}), y",
    f"x): pass\n{STATEMENT}\ndef g(",
    f"@{CODE}",
    f"X[{CODE}]",
    f"lambda: {CODE}",
    f"0 if {CODE} else 0",
    f"# coding: utf-7\n{STATEMENT}",
    f"x  # type: {CODE}",
    f"{{{CODE}}}",
    f"{{0.__class__.__init__.__globals__[{MARK}]}}",
]
TEMPLATES = ["{0.__class__}", "{shape}", "{A}", "{A.t}", "{fault}", "{}", "{", "}", "{{x}}", "%s", "%(x)s", "$x"]
QUOTES = ["'", '"', '"""', "'''", "`", "\\", "\\\\", "\\'", "#", ";", ",", ":", "=", "(", ")", "[", "]", "->", "=>"]
CONTROLS = ["\0", "\x1b[31m", "\b", "\x7f", "\t", "\n", "\r", "\x0c", "\u2028", "\ufeff", "\u202e", "\u200b", "\ud800"]
ALIKE = [
    "ﬁ",
    "ſ",
    "ｘ",
    "Ｘ",
    "ª",
    "𝒙",
    "ﬀ",
    "ℏ",
    "µ",
    "ς",
    "λ",
    "ν",
    "Ω",
    "é",
    "é",
    "x̂",
    "x₁",
    "x²",
    "ℵ",
    "变量",
    "٣x",
]
BLANK = ["", " ", "   ", "\t", "\n\n"]
DUNDER = ["__class__", "__name__", "__init__", "__debug__", "__builtins__", "__import__", "_", "__", "_____", "__x"]
BUILTIN = ["exec", "eval", "open", "compile", "print", "range", "int", "type", "ValueError"]
WORDS = [*keyword.kwlist, *keyword.softkwlist, *BUILTIN]
PATHS = ["../x.py", "..", ".", "a/b", "a\\b", "x/", "/nowhere-at-all/x.py", "~nosuchuser/x", "x" * 300, "a\0b", "-"]
NUMBERS = ["0", "-1", "1e400", "0x10", "1_000", "1.5", "nan", "inf", "9" * 5000, "1" * 100_000]
LONG = ["x" * 151, "λ" * 76, "x" * 100_000, "λ" * 100_000, "(" * 3000, "'" * 3000, "x " * 5000, "\\" * 9999]
LANGUAGE = ["x", "X", "w", "n", "dX", "G", "v", "out", "self", "check_facts", "f", "x'", "X*w", "sum(x)", "w: scalar"]
KINDS = [PAYLOADS, TEMPLATES, QUOTES, CONTROLS, ALIKE, BLANK, DUNDER, WORDS, PATHS, NUMBERS, LONG, LANGUAGE]
FIXED = [text for kind in KINDS for text in kind]


def hostile_text(draw: random.Random, names: list[str]) -> str:
    """Return one text: a fixed one, a name that generated code uses, or a mixture of several."""
    choice = draw.random()
    if choice < 0.2:
        return draw.choice(names)
    if choice < 0.6:
        return draw.choice(draw.choice(KINDS))
    parts = [draw.choice(draw.choice([*KINDS, names])) for _ in range(draw.randint(2, 3))]
    return draw.choice(["", " ", "_", "\n"]).join(part[:400] for part in parts)
