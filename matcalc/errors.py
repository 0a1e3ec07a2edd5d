"""Defines the errors of matcalc: one family; each states the fault in the user's names and suggests a correction.

Short messages are raised where the fault is found. The public boundary adds the text and a caret (`MatcalcError.at` is
the position). An unknown never becomes a zero or a guess: it raises one of these errors.
"""

from __future__ import annotations

from collections.abc import Sequence

LONGEST = 2000
"""Most characters of a line of a message, since names and formulas have any length."""


class MatcalcError(Exception):
    """Base of every error that matcalc raises.

    `text` is the input at fault, and `at` the character above the caret. An outer layer that knows them may fill in
    both (`located`). `marks` are the ranges of the operands that do not fit.
    """

    def __init__(
        self,
        message: str,
        *,
        text: str = "",
        at: int = -1,
        hint: str = "",
        marks: tuple[tuple[int, int], ...] = (),
    ) -> None:
        message = "\n".join(map(_cut, message.split("\n")))
        super().__init__(message)
        self.message = message
        self.text = text
        self.at = at
        self.hint = hint
        self.marks = marks

    def __str__(self) -> str:
        parts = [self.message]
        if self.text and self.at >= 0:
            parts.append(excerpt(self.text, self.at, marks=self.marks))
        if self.hint:
            parts.append(f"  {self.hint}")
        return "\n".join(parts)

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (type(self), self.message, self.text, self.at, self.hint, self.marks))

    @property
    def line(self) -> int:
        """Line of the fault in `text`, from 1."""
        return self.text.count("\n", 0, max(self.at, 0)) + 1

    @property
    def column(self) -> int:
        """Column of the fault in its line, from 1."""
        return max(self.at, 0) - (self.text.rfind("\n", 0, max(self.at, 0)) + 1) + 1


class ParseError(MatcalcError, ValueError):
    """The text is not in the language.

    undecided: the readings of a name as part of a matrix, if only the sizes of the formula can tell: matrix, axis
    of the index, and whether the part is a vector or a row.
    """

    undecided: tuple[tuple[str, int, str], ...] = ()


class ShapeError(MatcalcError, ValueError):
    """Operands whose shapes or facts do not fit together."""


class UnknownName(MatcalcError, ValueError):  # noqa: N818 - the interface names it so
    """A name that is neither declared nor known."""


class RuleError(MatcalcError):
    """A fault in a rule file, with file and line."""


class NotDifferentiable(MatcalcError):  # noqa: N818 - the interface names it so
    """An operation without a derivative in that argument."""


class InternalError(MatcalcError):
    """A result that differs from the formula as written: a fault of matcalc. The result is not returned."""


class NoReference(MatcalcError):  # noqa: N818 - a reason, and no fault
    """A formula, or a part of one, that has no value to compare results with."""


class NotSupported(MatcalcError):  # noqa: N818 - the interface names it so
    """A well-formed request that is not available, with its target."""


class NoValue(NotSupported, TypeError):  # noqa: N818 - as the others
    """A formula where Python needs a value: a condition, a number to print, an array to change."""


class NoAttribute(NotSupported, AttributeError):  # noqa: N818 - as the others
    """An attribute or method that arrays have and formulas lack."""


def excerpt(text: str, at: int, width: int = 72, marks: Sequence[tuple[int, int]] = ()) -> str:
    """Return the line of `text` around position `at`, cut to `width`, with a caret below it and `~` below `marks`."""
    start = text.rfind("\n", 0, at) + 1
    end = text.find("\n", at)
    line = text[start : end if end >= 0 else len(text)]
    column = at - start
    first = max(0, min(column - width // 2, len(line) - width))
    shown = line[first : first + width]
    head, tail = ("..." if first else ""), ("..." if first + width < len(line) else "")
    below = [" "] * (len(shown) + 1)
    for begin, stop in marks:
        for column_ in range(max(begin - start, first), min(stop - start, first + len(shown))):
            below[column_ - first] = "~"
    below[column - first] = "^"
    return f"  {head}{shown}{tail}\n  {' ' * len(head)}{''.join(below).rstrip()}"


def _cut(line: str) -> str:
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}..."


def _rebuild(
    kind: type[MatcalcError], message: str, text: str, at: int, hint: str, marks: tuple[tuple[int, int], ...]
) -> MatcalcError:
    return kind(message, text=text, at=at, hint=hint, marks=marks)
