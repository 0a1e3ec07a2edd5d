"""Formulas of the rulebook evaluated by brute force: the parser's tree, NumPy, oracles of the operations.

There are no nodes and no index algebra: vectors are columns, and an index form is a loop over all indices. The
evaluation is slow, and independent of all code that compiles formulas.
"""

import itertools
import math

import numpy as np

from matcalc.language.read import read
from matcalc.language.syntax import Ast, call_keywords, call_name
from matcalc.rulebook.oracle import oracle

RANKS = {"scalar": (0,), "vector": (1,), "matrix": (2,), "array": (0, 1, 2), "entry": (0, 1, 2)}


def evaluate(book, text, scope, shape=None):
    """Return the value of a formula: scalar of rank 0, column, or matrix; `shape` is an index form's."""
    return value_of(book, read(text), scope, shape)


def column(x):
    """Return an array in this module's form, a vector as a column."""
    x = np.asarray(x, float)
    return x[:, None] if x.ndim == 1 else x


def plain(x):
    """Return a value with columns as one-dimensional arrays."""
    return x[:, 0] if np.ndim(x) == 2 and x.shape[1] == 1 else x


def rank(x):
    return min(np.ndim(x), 1) if np.ndim(x) < 2 else 1 if x.shape[1] == 1 else 2


def value_of(book, node, scope, shape=None):
    if node.head == "number":
        return np.float64(node.value)
    if node.head == "name":
        if node.value in scope:
            return scope[node.value]
        return np.float64(np.pi) if node.value == "pi" else as_function(book, node.value)
    if node.head == "function":
        return lambda x, k=0: sloped(lambda y: body(book, node, scope, y), np.asarray(x, float), k)
    if node.head == "call":
        return call(book, node, scope)
    if node.head == "index_form":
        return index_form(book, node, scope, shape)
    if node.head == "index_sum":
        return index_form(book, Ast("index_form", node.args, ()), scope, ())
    if node.head == "part":
        return part(book, node, scope)
    values = [value_of(book, arg, scope, shape) for arg in node.args if arg.head != "row"]
    if node.head == "block":
        return np.block([[np.atleast_2d(value_of(book, e, scope)) for e in row.args] for row in node.args])
    if node.head == "sum":
        return sum(sign * v for sign, v in zip(node.value, values, strict=True))
    if node.head == "negative":
        return -values[0]
    if node.head == "transpose":
        return values[0].T
    if node.head == "power":
        return powered(node.value, *values)
    if node.head in ("condition", "compare"):
        left, right = values
        return {"==": left == right, ">=": left >= right, ">": left > right}[node.value] * 1.0
    return multiplied(node.value, values)


def body(book, node, scope, x):
    return np.reshape(value_of(book, node.args[0], {**scope, node.value: x}), np.shape(x))


def sloped(f, x, k, h=1e-2):
    """Return the k-th derivative of f at x, by central differences of three widths, extrapolated."""
    if k == 0:
        return f(x)
    a, b, c = ((sloped(f, x + w, k - 1) - sloped(f, x - w, k - 1)) / (2 * w) for w in (h, h / 2, h / 4))
    a, b = (4 * b - a) / 3, (4 * c - b) / 3
    return (16 * b - a) / 15


def multiplied(operators, values):
    result = values[0]
    for operator, v in zip(operators, values[1:], strict=True):
        if operator == "*" and np.ndim(result) and np.ndim(v):
            result = result @ v
            result = result[0, 0] if result.shape == (1, 1) else result
        elif operator in ("*", ".*"):
            result = result * v
        elif operator in ("/", "./"):
            result = result / v
        else:
            result = {"%": np.mod, "//": np.floor_divide}[operator](result, v)
    return result


def powered(operator, base, exponent):
    if operator == ".^" or np.ndim(base) == 0:
        return np.power(base, exponent)
    return np.linalg.matrix_power(base, int(exponent))


def part(book, node, scope):
    base = value_of(book, node.args[0], scope)

    def subscript(tree):
        if tree.head != "slice":
            return int(value_of(book, tree, scope))
        bounds = (None if t.head == "empty" else int(value_of(book, t, scope)) for t in tree.args)
        return slice(*bounds)

    at = tuple(map(subscript, node.args[1:]))
    at = (*at, 0) if len(at) == 1 and rank(base) == 1 and isinstance(at[0], int) else at
    return column(base[at])


def index_form(book, node, scope, shape):
    listed = node.value
    lengths = dict(zip(listed, shape or (), strict=False))
    terms = node.args[0].args if node.args[0].head == "sum" else node.args
    signs = node.args[0].value if node.args[0].head == "sum" else (1,)
    for term in terms:
        measure(book, term, scope, lengths)
    result = np.zeros([lengths[i] for i in listed])
    for sign, term in zip(signs, terms, strict=True):
        measure(book, term, scope, lengths)
        here = names_in(term) & lengths.keys()
        indices = [*listed, *sorted(here - set(listed))]
        for at in itertools.product(*(range(lengths[i]) for i in indices)):
            result[at[: len(listed)]] += sign * value_of(book, term, {**scope, **dict(zip(indices, at, strict=True))})
    return column(result) if listed else result[()]


def measure(book, root, scope, lengths):
    """Record the lengths of the indices that occur in parts below `root`."""
    stack = [root]
    while stack:
        node = stack.pop()
        stack.extend(node.args)
        if node.head == "part":
            base = value_of(book, node.args[0], scope)
            for axis, subscript in enumerate(node.args[1:]):
                if subscript.head == "name" and subscript.value not in scope:
                    lengths[subscript.value] = base.shape[axis]


def names_in(root):
    found, stack = set(), [root]
    while stack:
        node = stack.pop()
        stack.extend(node.args)
        if node.head == "name":
            found.add(node.value)
    return found


def call(book, node, scope):
    name, args = call_name(node), list(node.args)
    if args and args[0].head == "compare":
        name, args[:1] = name + args[0].value, args[0].args
    values = []
    for arg in args:
        if arg.head == "spread":
            (slot,) = names_in(arg)
            values.extend(value_of(book, arg.args[0], {**scope, slot: e}) for e in scope[f"{slot}..."])
        else:
            values.append(value_of(book, arg, scope))
    keywords = {key: value_of(book, tree, scope) for key, tree in call_keywords(node)}
    if name in scope:
        return scope[name](*values)
    if "axis" in keywords:
        applied_to = lambda x: plain(apply(book, name, [column(x)]))  # noqa: E731
        along = np.apply_along_axis(applied_to, int(keywords["axis"]), *values)
        return along if np.ndim(along) == np.ndim(values[0]) else column(along)
    return apply(book, name, values, keywords)


def apply(book, name, values, keywords=()):
    for candidate in book.candidates(name):
        rule, output, index = candidate.rule, candidate.output, candidate.index
        parameters = rule.signatures[index].parameters
        ordered = [*values, *(keywords[d.name] for d in parameters[len(values) :] if d.name in keywords)]
        if fits(parameters, ordered):
            return applied(book, rule, output, index, ordered)
    raise AssertionError(f"{name} of ranks {[rank(v) for v in values]}")


def fits(parameters, values):
    repeated = bool(parameters) and parameters[-1].repeated
    fixed = parameters[:-1] if repeated else parameters
    if len(values) < len(fixed) or (len(values) > len(fixed) and not repeated):
        return False
    kinds = [d.kind for d in fixed] + [parameters[-1].kind] * (len(values) - len(fixed)) * repeated
    return all(
        callable(v) if k == "function" else rank(v) in RANKS.get(k, (0,)) for k, v in zip(kinds, values, strict=True)
    )


def applied(book, rule, output, index, values):
    """Return a rule's value by its oracle; arguments and result are in this module's form."""
    function = oracle(book, rule, index)
    if function is None:
        return evaluate(
            book,
            rule.definition(index),
            {d.name: v for d, v in zip(rule.signatures[index].parameters, values, strict=True)},
        )
    kinds = [d.kind for d in rule.signatures[index].parameters]
    kinds += kinds[-1:] * (len(values) - len(kinds))
    given = [
        int(v) if kind == "integer" else plain(v) if kind in ("vector", "array") else v
        for kind, v in zip(kinds, values, strict=False)
    ]
    result = function(*given)
    if isinstance(result, tuple):
        result = result[rule.outputs.index(output)]
    return column(result)


def as_function(book, name):
    """Return an elementwise operation as f(x, k=0), derivatives by Cauchy's integral or differences."""
    if name == "sqrt":
        return lambda x, k=0: math.prod(0.5 - i for i in range(k)) * np.power(x, 0.5 - k)
    value = oracle(book, book.get(name))
    kinked = name in ("abs", "sign", "step", "relu")
    circle = np.exp(2j * np.pi * np.arange(32) / 32)

    def function(x, k=0):
        if k == 0:
            return value(x)
        radius = 0.4 * np.minimum(1.0, np.abs(x))
        if kinked:
            derivative = (value(x + radius) - value(x - radius)) / np.where(x == 0, 1.0, 2 * radius)
            return derivative if k == 1 else 0.0 * x
        radius = np.asarray(np.where(radius == 0, 0.4, radius))[..., None]
        samples = value(np.asarray(x)[..., None] + radius * circle)
        return math.factorial(k) * np.real(np.mean(samples * circle**-k, axis=-1)) / radius[..., 0] ** k

    return function
