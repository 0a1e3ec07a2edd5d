"""Explains what is wrong with a text: converts a parser's failure to a ParseError with position and hint.

The tokens of the failing prefix are read again, so text without faults pays nothing for good messages. A parser state
lists every token that may follow; messages instead name the missing operand, the open bracket, or the intended
spelling.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from matcalc.errors import ParseError
from matcalc.language.habits import habit
from matcalc.language.numpy_names import MODULES

if TYPE_CHECKING:
    from lark import Lark
    from lark.exceptions import UnexpectedInput
    from lark.lexer import Token

CLOSING = {"(": ")", "[": "]", "{": "}"}
FORMS = {
    "declaration": "a declaration reads  X: matrix(m, n) symmetric; w: vector(n); lam: scalar positive",
    "signature": "a signature reads  f(X: matrix(m, n), k: integer) -> matrix(n, n)",
}
_ENDS_OPERAND = {
    "NAME", "NUMBER", "FRACTION", "CLOSE", "CLOSE_BRACKET", "CLOSE_BRACE", "TRANSPOSE", "TO_THE_T", "RAISED",
}  # fmt: skip
_BEGINS_OPERAND = {"NAME", "NUMBER", "FRACTION", "OPEN", "OPEN_BRACKET", "OPEN_BRACE"}
_SEPARATORS = {",", ";", ":"}
_NUMPY = 'the spelling of NumPy is read with dialect="numpy", on the command line --dialect numpy'
_LATEX = 'LaTeX is read with dialect="latex", on the command line --dialect latex'
_WORDS = {
    "COLON": "':'", "COMMA": "','", "OPEN": "'('", "CLOSE": "')'", "ARROW": "'->'", "NAME": "a name",
    "EQUALS": "'='", "DOTS": "'...'", "$END": "the end",
}  # fmt: skip


SUBSCRIPTS = "₀₁₂₃₄₅₆₇₈₉"
_LOGIC = "there are no logical operators: write where(a > 0, where(b > 0, x, y), y) for two conditions"
_CHARACTERS = {
    "√": "write sqrt(x)", "&!~": _LOGIC, "?": "write where(x > 0, a, b) for a choice",
    "×": "write x*y for a product, cross(x, y) for that of two vectors of three entries",
    "⟨⟩": "write x'*y for an inner product, sum(A.*B) for that of matrices",
    "⊤ᵀ": "write x' for a transpose",
    "†": "write A' for the adjoint of a real matrix, pinv(A) for the pseudoinverse",
    "∂∇": "a formula is the function alone; gradient(f, x) finds its derivative",
}  # fmt: skip
"""Characters of papers that are not in the language, with the way to write what they mean."""
_KEYWORDS = {
    **dict.fromkeys(("and", "or", "not"), _LOGIC),
    **dict.fromkeys(("if", "else"), "write where(x > 0, a, b) for a choice"),
    "for": "write sum{i: x[i]^2} for a sum over an index",
    **dict.fromkeys(("let", "given"), "name a part behind the formula: w'*A*w where A = X'*X"),
    "in": "name a part behind the formula: w'*A*w where A = X'*X",
    "∈": "kinds are declared: x: vector(n)",
}  # fmt: skip
"""Words of other languages between operands."""
_SUMS = re.compile(r"(sum|prod|∑|∏|Σ|Π)_?\w*")


def explain(parser: Lark, fault: UnexpectedInput, text: str, begin: int, end: int, start: str) -> ParseError:
    """Return the error to raise for `fault`, met while reading `text[begin:end]` as `start`."""
    from lark import TextSlice
    from lark.exceptions import UnexpectedToken

    found: Token | None = fault.token if isinstance(fault, UnexpectedToken) else None
    at = end if found is not None and found.type == "$END" else (fault.pos_in_stream or 0)
    foreign = habit(text[:end], at) if start not in FORMS else ""
    if found is None:
        return _character(text, at, end, foreign)
    before: list[Any] = list(parser.lex(TextSlice(text, begin, at), dont_ignore=False))
    stack = _open_brackets(before)
    if start in FORMS and (found.type == "$END" or not _inside_sizes(before, start)):
        return _form(fault, text, before, found, at, start)
    message, position, hint = _diagnose(before, stack, found, at)
    if start in FORMS and hint.startswith("for the product"):
        hint = f"between sizes write a comma; {hint}"
    return ParseError(message, text=text, at=position, hint=foreign or hint)


def show(character: str) -> str:
    """Return a character in the form that messages show."""
    return f"'{character}'" if character.isprintable() else repr(character)


def advice(rest: str) -> str:
    """Return a hint for text that begins with a character that is not in the language."""
    method = re.match(r"\.([^\W\d]\w*)", rest)
    if method:
        name = method.group(1)
        return f'a function is called as {name}(X); dialect="numpy" reads X.{name}'
    if rest[0] in "\"'`“”‘":
        return "a formula contains no quoted text; a transpose is A' in the matrix language, A.T in both"
    if rest[0] == "^":
        return "a power is written x**2"
    if rest[0] == "∞":
        return "write inf"
    if rest[0] == "|":
        inner = re.match(r"\|([^|]+)\|", rest)
        x = inner.group(1).strip() if inner else "x"
        return f"write abs({x}) for magnitudes, det({x}) for a determinant"
    if rest[0] in SUBSCRIPTS:
        return "write x[0] for an entry, which is counted from 0, or x1 for a name of its own"
    return next((hint for characters, hint in _CHARACTERS.items() if rest[0] in characters), "")


def _character(text: str, at: int, end: int, foreign: str) -> ParseError:
    message = f"unexpected character {show(text[at])}"
    before = re.search(r"\w+$", text[:at])
    if text[at] == "." and before is not None and before.group() in MODULES:
        return ParseError(message, text=text, at=at, hint=_NUMPY)
    return ParseError(message, text=text, at=at, hint=foreign or advice(text[at:end][:80]))


def _open_brackets(tokens: list[Any]) -> list[Any]:
    stack: list[Any] = []
    for token in tokens:
        if token in CLOSING:
            stack.append(token)
        elif token in CLOSING.values() and stack:
            stack.pop()
    return stack


def _diagnose(before: list[Any], stack: list[Any], found: Any, at: int) -> tuple[str, int, str]:
    """Return message, position and hint for the token `found` after the tokens `before`."""
    last = before[-1] if before else None
    after_operand = last is not None and last.type in _ENDS_OPERAND
    if found.type == "$END":
        return _ended(before, stack, after_operand, at)
    if found in CLOSING.values():
        return _closed(last, stack, found, after_operand)
    if not after_operand:
        return _missing_operand(last, found)
    if found.type in _BEGINS_OPERAND:
        return _missing_operator(before, stack, found)
    return _misplaced(before, stack, found)


def _ended(before: list[Any], stack: list[Any], after_operand: bool, at: int) -> tuple[str, int, str]:
    last = before[-1] if before else None
    if last is None:
        return "expected an expression, found nothing", at, ""
    if not after_operand and last not in CLOSING:
        return f"expected {_operand(last)} after '{last}'", last.end_pos, ""
    if stack:
        opening = stack[-1]
        hint = f"expected '{CLOSING[opening]}' before the end"
        return f"'{opening}' is never closed", opening.start_pos, hint
    bar = next((token for token in before if token.type == "BARS"), None)
    if bar is not None:
        return "'‖' is never closed", bar.start_pos, "write ‖x‖, or norm2(x)"
    return "unexpected end of the text", at, ""


def _closed(last: Any, stack: list[Any], found: Any, after_operand: bool) -> tuple[str, int, str]:
    at = found.start_pos
    if not stack:
        return f"'{found}' closes nothing", at, ""
    opening = stack[-1]
    if not after_operand and last is not opening:
        return f"expected {_operand(last)} after '{last}', found '{found}'", at, ""
    if CLOSING[opening] != found:
        hint = f"'{opening}' in column {opening.column} is still open"
        return f"expected '{CLOSING[opening]}', found '{found}'", at, hint
    if last is opening:
        return f"expected an expression between '{opening}' and '{found}'", at, ""
    if found == "}":
        return "expected ':' after the names of an index form", at, "write {i,j: A[i,k]*B[k,j]}"
    return f"unexpected '{found}'", at, ""


def _missing_operand(last: Any, found: Any) -> tuple[str, int, str]:
    at = found.start_pos
    if found == ":" and last != "{" and (last is None or last in CLOSING):
        return _misplaced([], [], found)
    hint = _LATEX if found == "\\" else ""
    if last is None or last in CLOSING:
        return f"expected an operand before '{found}'", at, _CHARACTERS["⟨⟩"] if found == "<" else hint
    return f"expected {_operand(last)} after '{last}', found '{found}'", at, hint


def _missing_operator(before: list[Any], stack: list[Any], found: Any) -> tuple[str, int, str]:
    at = found.start_pos
    last = before[-1]
    if found.type == last.type == "NUMBER" and found.startswith("."):
        return f"expected an operator between '{last}' and '{found}'", at, "a number has one decimal point"
    left = last
    if last.type in ("TRANSPOSE", "TO_THE_T", "RAISED"):
        left = f"{before[-2]}{last}"
    between = f"between {_quoted(left)} and '{found}'"
    if last.type == "NAME" and stack and stack[-1] == "{" and before[-2] in ("{", ","):
        return f"expected ',' or ':' {between}", at, "write {i,j: A[i,k]*B[k,j]}"
    if last.type == "NUMBER" and found == "j":
        unit = f"there is no imaginary unit; for the product write {left}*j"
        return f"expected an operator {between}", at, unit
    word = _KEYWORDS.get(str(found)) or _KEYWORDS.get(str(last))
    if word:
        return f"expected an operator {between}", at, word
    if last.type == "NAME" and _SUMS.fullmatch(str(last)):
        hint = "write sum{i: x[i]^2} for a sum over an index, sum(x) for all entries"
        return f"expected an operator {between}", at, hint
    plain = last.type not in ("CLOSE", "CLOSE_BRACKET", "CLOSE_BRACE") and found.type in ("NAME", "NUMBER")
    hint = f"for the product write {left}*{found}" if plain else "for the product write a '*' there"
    entries = ", between entries a comma" if stack and stack[-1] == "[" else ""
    return f"expected an operator {between}", at, hint + entries


def _quoted(word: str) -> str:
    return f'"{word}"' if "'" in word else f"'{word}'"


def _misplaced(before: list[Any], stack: list[Any], found: Any) -> tuple[str, int, str]:
    at = found.start_pos
    if found.type == "BARS" and before[-1].type == "FRACTION":
        return f"expected an operator between '{before[-1]}' and '{found}'", at, "for the product write a '*' there"
    if found.type == "BARS":
        return "'‖' after an operand closes a norm, and none is open", at, "write 2*‖x‖, or norm2(x)"
    if found.type == "POWER":
        return "a power of a power needs parentheses", at, "write (a^b)^c or a^(b^c)"
    if found.type == "EQUALS" or found == "=":
        within = "to compare, write '=='; an equation is written as left - right, in  root(y - cos(y), y, start=1)"
        hint = within if stack else "write the formula alone, without f(x) =; to compare, '=='"
        return "'=' is only allowed in keyword arguments, as in sum(X, axis=0)", at, hint
    if found.type == "COMPARE":
        if _compared(before, stack):
            return "comparisons do not chain", at, "write two conditions, [0 <= i]*[i < k]"
        where = "in an argument, as in where(x > 0, a, b), and in brackets in index form"
        return f"'{found}' is only allowed {where}", at, "write where(x > 0, a, b) for a choice"
    where = {
        ":": "in parts, as in A[1:3, 0] or x[::-1], and after the names of an index form",
        "->": "in arguments, as in matfun(x -> log(x)^2, S), after one name",
        ",": "between arguments, subscripts and entries",
        ";": "between the rows of [A, B; C, D]",
        "where": "behind the whole formula, or before a closing ')'",
    }.get(str(found), "in the arguments of a rule")
    hint = "the product A:B of two tensors is sum(A.*B)" if found == ":" and before and not stack else ""
    hint = "separate subscripts by a comma" if found == ";" and stack and stack[-1] == "[" else hint
    return f"'{found}' is only allowed {where}", at, hint


def _compared(before: list[Any], stack: list[Any]) -> bool:
    """Return whether a comparison precedes in the same brackets, without a comma after it."""
    depth = 0
    for token in reversed(before):
        if token in CLOSING.values():
            depth += 1
        elif token in CLOSING:
            depth -= 1
        elif depth == 0 and token.type == "COMPARE":
            return True
        if depth < 0 or (depth == 0 and token in _SEPARATORS):
            return False
    return False


def _operand(last: Any) -> str:
    return "an expression" if last in _SEPARATORS or last.type in ("EQUALS", "ARROW") else "an operand"


def _inside_sizes(before: list[Any], start: str) -> bool:
    """Return whether the failing position is among sizes, where the messages of formulas fit."""
    return len(_open_brackets(before)) > (1 if start == "signature" else 0)


def _form(fault: Any, text: str, before: list[Any], found: Any, at: int, start: str) -> ParseError:
    """Return the error for a declaration or signature of the wrong form."""
    stack = _open_brackets(before)
    if found.type == "$END" and stack:
        opening = stack[-1]
        message = f"'{opening}' is never closed"
        return ParseError(message, text=text, at=opening.start_pos, hint=f"expected '{CLOSING[opening]}'")
    if found in CLOSING.values() and not stack:
        return ParseError(f"'{found}' closes nothing", text=text, at=at)
    expected = [word for name, word in _WORDS.items() if name in fault.expected]
    words = " or ".join(expected) or "an expression"
    shown = "the end" if found.type == "$END" else f"'{found}'"
    position = before[-1].end_pos if found.type == "$END" and before else at
    hint = FORMS[start]
    if start == "declaration" and found == "," and len(before) > 2:
        hint = "separate declarations by ';' or a new line"
    elif found in ("[", "{") and before and before[-1].type == "NAME":
        hint = f"sizes are written in parentheses:  {before[-1]}(...)"
    elif found == "(" and len(before) > 1 and before[-1].type == before[-2].type == "NAME":
        hint = f"facts are written behind the sizes:  {before[-1]}(...) {before[-2]}"
    return ParseError(f"expected {words}, found {shown}", text=text, at=position, hint=hint)
