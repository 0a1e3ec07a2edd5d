"""Messages of parse errors: a table of text, message, caret position and hint."""

import pytest

from matcalc.errors import ParseError
from matcalc.language.read import read

FAULTS = [
    ("", "expected an expression, found nothing", 0, ""),
    ("A +", "expected an operand after '+'", 3, ""),
    ("A*", "expected an operand after '*'", 2, ""),
    ("A .* ", "expected an operand after '.*'", 4, ""),
    ("-", "expected an operand after '-'", 1, ""),
    ("* A", "expected an operand before '*'", 0, ""),
    ("(* A)", "expected an operand before '*'", 1, ""),
    ("A */ B", "expected an operand after '*', found '/'", 3, ""),
    ("f(a, )", "expected an expression after ',', found ')'", 5, ""),
    ("f(a, *b)", "expected an expression after ',', found '*'", 5, ""),
    ("[A, B; ]", "expected an expression after ';', found ']'", 7, ""),
    ("x'*(A + )*x", "expected an operand after '+', found ')'", 8, ""),
    ("()", "expected an expression between '(' and ')'", 1, ""),
    ("A[]", "expected an expression between '[' and ']'", 2, ""),
    ("tr(A*(B + C)", "'(' is never closed", 2, "expected ')' before the end"),
    ("A[1:3, 0", "'[' is never closed", 1, "expected ']' before the end"),
    ("{i: x[i]", "'{' is never closed", 0, "expected '}' before the end"),
    ("a)", "')' closes nothing", 1, ""),
    ("(a]", "expected ')', found ']'", 2, "'(' in column 1 is still open"),
    ("f(A[0)", "expected ']', found ')'", 5, "'[' in column 4 is still open"),
    ("2x", "expected an operator between '2' and 'x'", 1, "for the product write 2*x"),
    ("2(x + y)", "expected an operator between '2' and '('", 1, "for the product write a '*' there"),
    ("x y", "expected an operator between 'x' and 'y'", 2, "for the product write x*y"),
    ("x'y", """expected an operator between "x'" and 'y'""", 2, "for the product write x'*y"),
    ("(a)(b)", "expected an operator between ')' and '('", 3, "for the product write a '*' there"),
    (
        "[1 2]",
        "expected an operator between '1' and '2'",
        3,
        "for the product write 1*2, between entries a comma",
    ),
    (
        "[a b]",
        "expected an operator between 'a' and 'b'",
        3,
        "for the product write a*b, between entries a comma",
    ),
    ("1.2.3", "expected an operator between '1.2' and '.3'", 3, "a number has one decimal point"),
    (
        "a = b",
        "'=' is only allowed in keyword arguments, as in sum(X, axis=0)",
        2,
        "write the formula alone, without f(x) =; to compare, '=='",
    ),
    (
        "{k: [k = i]}",
        "'=' is only allowed in keyword arguments, as in sum(X, axis=0)",
        7,
        "to compare, write '=='; an equation is written as left - right, in  root(y - cos(y), y, start=1)",
    ),
    (
        "where(x = 0, a, b)",
        "a plain argument after the keyword argument 'x='",
        13,
        "to compare, write 'x == ...'",
    ),
    ("sum(X, axis=0, axis=1)", "keyword argument 'axis' is given twice", 15, ""),
    (
        "a > b",
        "'>' is only allowed in an argument, as in where(x > 0, a, b), and in brackets in index form",
        2,
        "write where(x > 0, a, b) for a choice",
    ),
    (
        "(a > b)",
        "'>' is only allowed in an argument, as in where(x > 0, a, b), and in brackets in index form",
        3,
        "write where(x > 0, a, b) for a choice",
    ),
    ("{i: [0 <= i < k]}", "comparisons do not chain", 12, "write two conditions, [0 <= i]*[i < k]"),
    (
        "A*[i == j]",
        "a condition is only allowed in index form",
        5,
        "write {i,j: A[i,j]*[i >= j]}, or where(x > 0, a, b) for entries",
    ),
    ("a^b^c", "a power of a power needs parentheses", 3, "write (a^b)^c or a^(b^c)"),
    ("a.^b.^c", "a power of a power needs parentheses", 4, "write (a^b)^c or a^(b^c)"),
    (
        "A[1:2:3:4]",
        "':' is only allowed in parts, as in A[1:3, 0] or x[::-1], and after the names of an index form",
        7,
        "",
    ),
    ("x -> x", "'->' is only allowed in arguments, as in matfun(x -> log(x)^2, S), after one name", 2, ""),
    ("a, b", "',' is only allowed between arguments, subscripts and entries", 1, ""),
    ("f(a; b)", "';' is only allowed between the rows of [A, B; C, D]", 3, ""),
    ("x...", "'...' is only allowed in the arguments of a rule", 1, ""),
    ("{i j: A[i,j]}", "expected ',' or ':' between 'i' and 'j'", 3, "write {i,j: A[i,k]*B[k,j]}"),
    ("{i}", "expected ':' after the names of an index form", 2, "write {i,j: A[i,k]*B[k,j]}"),
    ("{i,i: A[i,i]}", "index 'i' is listed twice", 3, ""),
    ("sum{i,i: A[i,i]}", "index 'i' is listed twice", 6, ""),
    ("sum{: c}", "expected an operand before ':'", 4, ""),
    (
        "max{i: x[i]}",
        "'max' takes no indices, only sum does",
        3,
        "write sum{i: x[i]^2}; a product before an index form is max*{...}",
    ),
    ("x\0", "unexpected character '\\x00'", 1, ""),
    ("A.inv", "unexpected character '.'", 1, 'a function is called as inv(X); dialect="numpy" reads X.inv'),
    (
        "exp(-|x - y|)",
        "unexpected character '|'",
        5,
        "write abs(x - y) for magnitudes, det(x - y) for a determinant",
    ),
    (
        "a & b",
        "unexpected character '&'",
        2,
        "there are no logical operators: write where(a > 0, where(b > 0, x, y), y) for two conditions",
    ),
    (
        'norm(X, "one")',
        "unexpected character '\"'",
        8,
        "a formula contains no quoted text; a transpose is A' in the matrix language, A.T in both",
    ),
    (
        "np.exp(x)",
        "unexpected character '.'",
        2,
        'the spelling of NumPy is read with dialect="numpy", on the command line --dialect numpy',
    ),
    (
        "\\frac{1}{2}*x",
        "expected an operand before '\\'",
        0,
        'LaTeX is read with dialect="latex", on the command line --dialect latex',
    ),
    (
        "x^\\top*y",
        "expected an operand after '^', found '\\'",
        2,
        'LaTeX is read with dialect="latex", on the command line --dialect latex',
    ),
    ("x + $", "unexpected character '$'", 4, ""),
    ("1e2000", "a number of more than 1000 digits", 0, ""),
]


@pytest.mark.parametrize(("text", "message", "at", "hint"), FAULTS, ids=[f[0] or "empty" for f in FAULTS])
def test_message(text, message, at, hint):
    with pytest.raises(ParseError) as caught:
        read(text)
    fault = caught.value
    assert (fault.message, fault.at, fault.hint, fault.text) == (message, at, hint, text)


def test_the_line_at_fault_is_shown_with_a_caret():
    with pytest.raises(ParseError) as caught:
        read("a +\n  b*(c")
    assert str(caught.value) == "'(' is never closed\n    b*(c\n      ^\n  expected ')' before the end"
    assert (caught.value.line, caught.value.column) == (2, 5)
