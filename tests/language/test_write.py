"""Writing: the spelling, and reading back to the same tree, on generated trees."""

import random
from fractions import Fraction

import pytest

from matcalc.errors import ParseError
from matcalc.language import syntax
from matcalc.language.read import read
from matcalc.language.syntax import (
    Ast,
    call,
    leaf_of,
    name,
    negate,
    negative,
    number,
    power,
    product,
    same,
    transpose,
    walk,
)
from matcalc.language.write import ends, placed, text

# Texts that are already in their shortest form come back as they are.
FIXED = [
    "2*X'*(X*w - y)", "inv(S) - inv(S)*C*inv(S)", "A.*B", "-y.*(X*w)", "x.^2", "f(a, b)",
    "[A, B; C, D]", "X[:, 0]", "{i,j: A[i,k]*B[k,j]}", "{: x[i]*y[i]}", "sum{k: x[k]^2}",
    "2*sum{i,k: A[i,k]}^2", "sum{k: -x[k]}'", "{i: sum{k: A[i,k]*[i >= k]}}",
    "{i,j,k,l: 2*(V'*V)[j,l]*eye(m)[i,k]}", "-(a*b)", "(a + b) + c", "a - (b - c)", "(a*b)*c",
    "a*(b*c)", "(-x)^2", "a^-b", "a^--b", "a^(b')", "(a^b)^c", "A'[0]^A'", "A^(T)", "A^T", "A^(T[0])",
    "A^-T", "A.^T", "(x.^2)[0]", "x.^2'", "(1 + x)'", "f(x -> x + 1, a=b)", "--x", "a - -b",
    "1./(2.*x)", "where(x > 0, a, b)", "expm(X, E...)", "A[1:3, ::-1]", "A\\b", "A@B", "n*(n + 1)//2",
    "-(a//b)*c", "f()", "{k < m + n - 1: x[i]*y[j]*[k == i + j]}", "sum{i < 3, j < m: x[i]*y[j] + 1}",
    "{i < 2: x[i]}[0]", "sum{i: ones(n)[j]*x[i]}", "{i: ones(n)[i] + x[i]}", "A'[:, -1]", "A'[i,j]",
    "0.5*x", "1e-30*x", "1000000", "0.001", "1e-5", "3e8*x", "0.0001",
]  # fmt: skip


@pytest.mark.parametrize("written", FIXED)
def test_spelling(written):
    assert text(read(written)) == written


BUILT = [
    (number(-2), "-2"),
    (power(name("x"), number(-1)), "x^-1"),
    (power(number(-2), name("x")), "(-2)^x"),
    (number(Fraction(1, 3)), "1/3"),
    (product([number(Fraction(1, 3)), name("x")], ["*"]), "1/3*x"),
    (product([name("x"), number(Fraction(1, 3))], ["*"]), "x*(1/3)"),
    (power(name("x"), number(Fraction(1, 3))), "x^(1/3)"),
    (number(Fraction(1, 8)), "0.125"),
    (number(Fraction(10**20)), "1e20"),
    (number(Fraction(12345678901234567890)), "12345678901234567890"),
    (syntax.add([name("a"), name("b")], [-1, 1]), "-a + b"),
    (syntax.add([product([name("a"), name("b")], ["*"]), name("c")], [-1, -1]), "-a*b - c"),
    (syntax.add([product([name("a"), name("b")], ["//"]), name("c")], [-1, 1]), "-(a//b) + c"),
    (negate(product([name("a"), name("b")], [".*"])), "-a.*b"),
    (negate(negative(name("a"))), "a"),
    (negate(product([name("a"), name("b")], ["//"])), "-(a//b)"),
    (transpose(negative(name("a"))), "(-a)'"),
    (call("f", syntax.compare(name("a"), ">=", number(0)), axis=number(1)), "f(a >= 0, axis=1)"),
    (syntax.part(name("x"), syntax.slice_of(number(1))), "x[1:]"),
    (syntax.block([[name("a")], [name("b")]]), "[a; b]"),
]


@pytest.mark.parametrize(("ast", "written"), BUILT, ids=[written for _, written in BUILT])
def test_built_tree(ast, written):
    assert text(ast) == written
    read(written)


def test_generated_trees_come_back():
    draw = random.Random(20)
    for size in [1, 2, 3, 5, 8, 13, 30] * 80:
        tree = generate(draw, size)
        written = text(tree)
        assert same(read(written), tree), written


TOKENS = [
    *(
        "A",
        "x",
        "T",
        "2",
        "1.5",
        "+",
        "-",
        "*",
        ".*",
        "/",
        "./",
        "\\",
        "^",
        ".^",
        "'",
        ".T",
        "^T",
        "(",
        ")",
        "[",
    ),
    *("]", "{", "}", ",", ";", ":", "==", ">", "=", "->", "f(", "...", "i:", "x[", "where(", " ", "{i,j:"),
]


@pytest.mark.whole
def test_any_text_is_refused_or_comes_back():
    draw = random.Random(7)
    read_well = 0
    for _ in range(4000):
        written = "".join(draw.choice(TOKENS) for _ in range(draw.randint(1, 9)))
        try:
            tree = read(written)
        except ParseError:
            continue
        read_well += 1
        assert same(read(text(tree)), tree), written
    assert read_well > 50


@pytest.mark.whole
def test_deep_tree():
    n = 10_000
    deep = name("x")
    for _ in range(n):
        deep = transpose(negative(deep))
    assert text(deep) == "(-" * n + "x" + ")'" * n
    parts = name("x")
    for _ in range(n):
        parts = syntax.part(parts, number(0))
    assert text(parts) == "x" + "[0]" * n


NAMES = ["A", "x", "T", "lambda", "λ", "x_1", "e"]
OPERATORS = ["*", "@", ".*", "./", "/", "\\", "//", "%"]
VALUES = [Fraction(v) for v in ("0", "1", "2", "0.5", "1.25", "1e-7", "1e20", "1234567.5")]


def generate(draw: random.Random, size: int, inside: bool = False) -> Ast:
    """Return a tree of about `size` nodes that the parser can make, with conditions only `inside` an index form."""
    if size <= 1:
        return number(draw.choice(VALUES)) if draw.random() < 0.3 else name(draw.choice(NAMES))
    return draw.choice(MAKERS)(draw, size - 1, inside)


def several(draw, size, inside, least=2):
    count = draw.randint(least, 4)
    return [generate(draw, size // max(count, 1), inside) for _ in range(count)]


def make_sum(draw, size, inside):
    terms = several(draw, size, inside)
    return syntax.add(terms, [1] + [draw.choice([1, -1]) for _ in terms[1:]])


def make_product(draw, size, inside):
    factors = several(draw, size, inside)
    return product(factors, [draw.choice(OPERATORS) for _ in factors[1:]])


def make_negative(draw, size, inside):
    return negative(generate(draw, size, inside))


def make_power(draw, size, inside):
    return power(*(generate(draw, size // 2, inside) for _ in range(2)), draw.random() < 0.5)


def make_transpose(draw, size, inside):
    return Ast("transpose", (generate(draw, size, inside),), draw.choice([None, None, "^T"]))


def make_call(draw, size, inside):
    arguments = several(draw, size, inside, 0)
    wrap = draw.choice([lambda x: x, lambda x: syntax.compare(x, draw.choice(["<", "!="]), x), syntax_spread])
    arguments = [wrap(x) if k == 0 else x for k, x in enumerate(arguments)]
    if draw.random() < 0.3:
        arguments.append(syntax.function("t", generate(draw, size // 4, inside)))
    keywords = {"axis": generate(draw, 1)} if draw.random() < 0.3 else {}
    return call(draw.choice(["f", "sum", "T"]), *arguments, **keywords)


def syntax_spread(x):
    return Ast("spread", (x,))


def make_part(draw, size, inside):
    base, *subscripts = several(draw, size, inside)
    bounds = [draw.choice([None, x]) for x in [*subscripts, None, None]][:3]
    return syntax.part(base, *(x if draw.random() < 0.6 else syntax.slice_of(*bounds) for x in subscripts))


def make_block(draw, size, inside):
    return syntax.block([several(draw, size // 2, inside, 1) for _ in range(draw.randint(1, 2))])


def make_index_form(draw, size, inside):
    body = generate(draw, size, True)
    if draw.random() < 0.5:
        body = product([body, syntax.condition(name("k"), draw.choice(["==", ">="]), generate(draw, 1))], ["*"])
    return syntax.index_form(draw.choice([(), ("i",), ("i", "j")]), body)


MAKERS = [
    make_sum,
    make_product,
    make_negative,
    make_power,
    make_transpose,
    make_call,
    make_part,
    make_block,
    make_index_form,
]


@pytest.mark.parametrize("formula", FIXED)
def test_placed_parts_stand_where_they_are_said_to(formula):
    written, tree = placed(read(formula))
    assert written == text(read(formula)) and same(tree, read(formula))
    for part in walk(tree):
        begin, end = part.span
        assert begin == end or written[begin:end].strip("()") == text(part).strip("()")


def test_a_given_value_is_written_as_its_tree():
    total, other = (leaf_of(object(), lambda: read("a + b")) for _ in range(2))
    tree = call("f", product([total, name("c")], ["*"]), transpose(other))
    assert text(tree) == "f((a + b)*c, (a + b)')"
    assert ends(tree, 16, 5) == "f((a + ...  b)')"
    assert placed(tree)[1].args[0].args[0].span == (2, 9)
