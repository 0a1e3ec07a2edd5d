"""Implements the prompt that `matcalc` opens on a terminal; the formula and the declarations persist between lines.

A line is a formula, or a command on the last formula. No input is run as Python.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TextIO

import platformdirs

import matcalc as mc
from matcalc.commands.output import say
from matcalc.expressions.calling import names
from matcalc.expressions.expression import Expression
from matcalc.expressions.unused import shared
from matcalc.language.declare import MARK
from matcalc.tensor.symbols import declaration

DERIVATIVES = ("gradient", "jacobian", "hessian", "hvp", "differential", "jvp", "vjp")
HELP = """\
A line is a formula, (X*w - y)'*(X*w - y), or a command on the last formula or result:

  gradient w         also jacobian, hessian, hvp, differential, jvp, vjp; of several: gradient U, V
  explain w          the derivation, each step with its rule
  check w            the derivative, compared with numbers
  convex w           is it convex?
  code w             the compiled program of value and gradient
  simplify, expand, factor
  latex, named, sympy, tree        the last result in another form
  equal FORMULA      is the last result equal to this?
  let X: matrix(m, n); S: matrix(n, n) spd        declarations, which stay; let alone lists them
  forget             no declarations, no formula
  quit"""


class Prompt:
    """The state between lines: declarations, the formula, the last result."""

    def __init__(self) -> None:
        self.declarations = ""
        self.formula: Expression | None = None
        self.result: Expression | None = None
        self.shown = ""  # the text of the last result

    def answer(self, line: str) -> str:
        """Return the response to a line, or its error with the position marked."""
        try:
            return self.respond(line)
        except mc.MatcalcError as error:
            return f"{type(error).__name__}: {error}"

    def respond(self, line: str) -> str:
        """Return the response to a line. Raises: as reading and deriving do."""
        word, _, rest = line.strip().partition(" ")
        rest = rest.strip()
        if word in ("?", "help"):
            return HELP
        if word == "forget" and not rest:
            self.declarations, self.formula, self.result = "", None, None
            return ""
        if word == "let":
            return self._let(rest)
        if word in COMMANDS and not (rest and word in FORMS):
            return COMMANDS[word](self, rest)
        return self._read(line.strip())

    def _read(self, text: str) -> str:
        e = mc.expression(text, shared(self.declarations))
        self.formula = self.result = e
        inferred = [declaration(s) for s in e.names.ordered() if s.name in e.names.undeclared]
        notes = [f"{'; '.join(inferred)}{MARK}"] if inferred else []
        shape = " x ".join(map(str, e.shape)) or "a number"
        self.shown = "\n".join([*notes, f"{e}    ({shape})"])
        return self.shown

    def _let(self, text: str) -> str:
        if text:
            added = {part.split(":")[0].strip(): part.strip() for part in text.split(";") if part.strip()}
            kept = [part for part in self.declarations.split("; ") if part and part.split(":")[0] not in added]
            whole = "; ".join([*kept, *added.values()])
            mc.symbols(whole)
            self.declarations = whole
        return self.declarations.replace("; ", "\n")

    def given(self) -> Expression:
        """Return the formula. Raises: NotSupported before there is one."""
        if self.formula is None:
            raise mc.NotSupported("there is no formula yet", hint="type one, such as (X*w - y)'*(X*w - y)")
        return self.formula

    def last(self) -> Expression:
        """Return the last result. Raises: NotSupported before there is one."""
        self.given()
        assert self.result is not None
        return self.result

    def keep(self, e: Expression) -> str:
        self.result = e
        self.shown = "\n".join([str(e), *(f"needs {need}" for need in e.needs)])
        return self.shown

    def derive(self, how: str, wrt: str) -> str:
        """Return a derivative of the formula, with a line for each variable."""
        symbols = variables(wrt)
        made = getattr(self.given(), how)(symbols if len(symbols) > 1 else symbols[0])
        if isinstance(made, Expression):
            return self.keep(made)
        blocks = [(f"{name}", part) for name, part in zip(symbols, made, strict=True)]
        return "\n".join(f"{name}: {shown(part)}" for name, part in blocks)


def shown(part: object) -> str:
    return ", ".join(map(str, part)) if isinstance(part, (tuple, list)) else str(part)


def variables(text: str) -> list[str]:
    """Return the names after a command. Raises: UnknownName if there are none."""
    found = [name.strip() for name in text.split(",") if name.strip()]
    if not found:
        raise mc.UnknownName("in which variable?", hint="gradient w")
    return found


def explain(prompt: Prompt, wrt: str) -> str:
    e = prompt.given()
    derived = getattr(e, "jacobian" if e.shape else "gradient")(variables(wrt)[0])
    return str(derived.explain())


def code(prompt: Prompt, wrt: str) -> str:
    names = variables(wrt)
    return str(mc.value_and_gradient(prompt.given(), names if len(names) > 1 else names[0]).source)


def equal(prompt: Prompt, text: str) -> str:
    return str(mc.equivalent(prompt.last(), mc.expression(text, prompt.last().declarations)))


def deriving(how: str) -> Callable[[Prompt, str], str]:
    return lambda prompt, wrt: prompt.derive(how, wrt)


def written(form: str) -> Callable[[Prompt, str], str]:
    return lambda prompt, _: str(getattr(prompt.last(), form)()).rstrip("\n")


def changed(how: str) -> Callable[[Prompt, str], str]:
    return lambda prompt, _: prompt.keep(getattr(prompt.last(), how)())


FORMS = ("latex", "named", "sympy", "tree", "simplify", "expand", "factor")
COMMANDS: dict[str, Callable[[Prompt, str], str]] = {
    **{how: deriving(how) for how in DERIVATIVES},
    **{form: written(form) for form in FORMS[:4]},
    **{how: changed(how) for how in FORMS[4:]},
    "explain": explain,
    "check": lambda prompt, wrt: str(mc.check(prompt.given(), variables(wrt))),
    "convex": lambda prompt, wrt: str(mc.convex(prompt.given(), variables(wrt)[0])),
    "code": code,
    "equal": equal,
}


def run(output: TextIO = sys.stdout) -> int:
    """Read lines until `quit` or the end of input, and print the responses."""
    with suppress(ImportError):  # Windows has no readline
        _history()
    print(f"matcalc {mc.__version__}. A formula, or ? for help; quit ends.", file=output)
    prompt = Prompt()
    for line in lines():
        notes = prompt.answer(line)
        if notes:
            say(notes, output)
    return 0


def lines() -> Iterator[str]:
    """Yield statements until `quit` or the end of input; an interrupted statement is dropped."""
    while True:
        try:
            yield from statements(typed())
            return
        except KeyboardInterrupt:
            print()


def typed() -> Iterator[str]:
    """Yield lines as they are typed; the prompt is a dot inside a statement."""
    text = ""
    while True:
        try:
            line = input(". " if is_open(text) else "> ")
        except EOFError:
            print()
            return
        if line.strip() in ("quit", "exit"):
            return
        text = f"{text}\n{line}" if is_open(text) else line
        yield line


def is_open(text: str) -> bool:
    """Whether a bracket of a statement is still open."""
    return sum(map(text.count, "[{(")) > sum(map(text.count, "]})"))


def statements(lines: Iterable[str]) -> Iterator[str]:
    """Yield statements: lines, joined while a bracket is open."""
    text = ""
    for line in lines:
        text += line
        if is_open(text):
            text += "\n"
            continue
        if text.strip():
            yield text
        text = ""
    if text.strip():
        yield text


def _history() -> None:
    """Enable history of this and earlier sessions by arrow keys, and completion of names by tab."""
    import atexit
    import readline

    words = sorted({*COMMANDS, "let", "forget", "help", "quit", *names()})

    def complete(start: str, place: int) -> str | None:
        found = [word for word in words if word.startswith(start)]
        return found[place] if place < len(found) else None

    readline.set_completer(complete)
    readline.parse_and_bind("tab: complete")
    file = Path(platformdirs.user_state_dir("matcalc")) / "history"
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        if file.exists():
            readline.read_history_file(file)
        readline.set_history_length(1000)
        atexit.register(_saved, readline.write_history_file, file)


def _saved(write: Callable[[Path], None], file: Path) -> None:
    with suppress(OSError):
        write(file)
