"""Evaluates a text on data: everything is a two-dimensional array, a scalar is 1 x 1, a vector a column.

Only an index form makes tensors of other orders. Inside one, an index is a number and `Indexed` sums the indices that
are not listed by plain enumeration.
"""

import itertools
from functools import lru_cache

import numpy as np

from oracle import rulebook
from oracle.arrays import integer, is_vector, scalar
from oracle.functions import ALIASES, CONSTANTS, FUNCTIONS
from oracle.kinds import REDUCED, settled
from oracle.linear_algebra import divided_difference, matfun, matrix_power
from oracle.reading import read


class Mismatch(ValueError):
    """The shapes of operands do not fit: the reference text would be wrong."""


def evaluate(text: str, data: dict, sizes: dict | None = None) -> np.ndarray:
    """Return the value of `text`; `data` are arrays in NumPy's shapes, `sizes` the size names as integers."""
    env = {name: standard(value) for name, value in data.items()}
    scope = {name: scalar(float(value)) for name, value in (sizes or {}).items()}
    ranks = frozenset((name, np.ndim(value)) for name, value in data.items())
    return value_of(settled(read(text, frozenset(env)), ranks), {**CONSTANTS_2D, **scope, **env})


def standard(value) -> np.ndarray:
    """Return a NumPy value in the evaluator's form."""
    array = np.asarray(value)
    array = array.astype(complex if np.iscomplexobj(array) else float)
    return array.reshape(1, 1) if array.ndim == 0 else array.reshape(-1, 1) if array.ndim == 1 else array


def shaped(value: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Return a result in the shape that the language defines for it."""
    if [n for n in value.shape if n != 1] != [n for n in shape if n != 1]:
        raise Mismatch(f"a result of shape {value.shape} where {tuple(shape)} was expected")
    return value.reshape(shape)


CONSTANTS_2D = {name: scalar(value) for name, value in CONSTANTS.items()}


def value_of(tree: tuple, env: dict) -> np.ndarray:
    head = tree[0]
    if head == "number":
        return scalar(tree[1])
    if head == "name":
        if tree[1] not in env:
            raise KeyError(tree[1])
        return env[tree[1]]
    if head == "negative":
        return -value_of(tree[1], env)
    if head == "matrix":
        return value_of(tree[1], env)
    if head == "'":
        return value_of(tree[1], env).T
    if head in ("+", "-", ".+", ".-", "*", ".*", "./", "/", "//", "\\", "%"):
        return binary(head, value_of(tree[1], env), value_of(tree[2], env))
    if head in ("^", ".^"):
        return power(head, value_of(tree[1], env), value_of(tree[2], env))
    if head == "compare":
        return np.asarray(COMPARE[tree[1]](*spread(value_of(tree[2], env), value_of(tree[3], env))), float)
    if head == "call":
        return call(tree, env)
    if head == "part":
        return part(value_of(tree[1], env), tree[2], env)
    if head == "block":
        return np.vstack([np.hstack([value_of(entry, env) for entry in row]) for row in tree[1]])
    if head == "index":
        return Indexed(env).tensor(tree)
    if head == "total":
        return scalar(Indexed(env).total(tree, {}, {}))
    raise NotImplementedError(head)


COMPARE = {
    "<": lambda a, b: a.real < b.real,
    "<=": lambda a, b: a.real <= b.real,
    ">": lambda a, b: a.real > b.real,
    ">=": lambda a, b: a.real >= b.real,
    "==": lambda a, b: a.real == b.real,
    "!=": lambda a, b: a.real != b.real,
}


def spread(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Check that two operands have equal shapes or one is a scalar."""
    if a.shape != b.shape and a.size != 1 and b.size != 1:
        raise Mismatch(f"{a.shape} against {b.shape}")
    return a, b


def binary(operator: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    if operator == "*" and a.size != 1 and b.size != 1:
        if a.shape[1] != b.shape[0]:
            raise Mismatch(f"{a.shape} * {b.shape}")
        return a @ b
    if operator == "\\":
        return b / a if a.size == 1 else np.linalg.solve(a, b)
    if operator == "/" and b.size != 1:
        raise Mismatch("division by a matrix")
    if operator in (".+", ".-"):  # columns and rows are arrays of two axes, which NumPy repeats
        return a + b if operator == ".+" else a - b
    a, b = spread(a, b)
    if operator == "+":
        return a + b
    if operator == "-":
        return a - b
    if operator == "//":
        return a // b
    if operator == "%":
        return a % b
    return a * b if operator in ("*", ".*") else a / b


def power(operator: str, base: np.ndarray, exponent: np.ndarray) -> np.ndarray:
    if operator == "^" and base.size != 1:
        return matrix_power(base, exponent.reshape(()).item().real)
    base, exponent = spread(base, exponent)
    if np.isrealobj(exponent) and exponent.size == 1 and exponent.item() == round(exponent.item()):
        return base ** round(exponent.item())
    return base**exponent


def call(tree: tuple, env: dict) -> np.ndarray:
    _, name, positional, keywords = tree
    if name in APPLIED and (name != "svdfun" or len(positional) == 2):
        function = scalar_function(positional[0], env)
        return np.asarray(APPLIED[name](function, *(value_of(argument, env) for argument in positional[1:])))
    if name in ("max", "min") and len(positional) > 1:
        name += "imum"
    name = ALIASES.get(name, name)
    if name == "svdfun" or (name not in FUNCTIONS and rulebook.knows(name)):
        given = [a[1] if a[0] == "name" and a[1] in rulebook.CYCLES else value_of(a, env) for a in positional]
        return rulebook.called(name, given, *(value_of(value, env) for key, value in keywords if key == "axis"))
    function = FUNCTIONS[name]
    values = [value_of(argument, env) for argument in positional]
    if name in REDUCED and keywords and is_vector(values[0]) and positional[0][0] != "matrix":
        keywords = ()
    result = np.asarray(function(*values, **{key: value_of(value, env) for key, value in keywords}))
    return result if result.ndim >= 2 else result.reshape(-1, 1)


APPLIED = {
    "matfun": matfun,
    "dd": divided_difference,
    "svdfun": FUNCTIONS["svdfun"],
    "svdsum": FUNCTIONS["svdsum"],
}
"""Functions with a function as an argument."""


def scalar_function(tree: tuple, env: dict):
    """Return a function argument, a name or `x -> body`, as a Python function of each entry of an array."""
    if tree[0] == "name" and tree[1] in FUNCTIONS:
        return FUNCTIONS[tree[1]]
    if tree[0] == "function":

        def entry(v):
            return value_of(tree[2], {**env, tree[1]: np.reshape(v, (1, 1))}).item()

        return lambda x: np.reshape([entry(v) for v in np.ravel(x)], np.shape(x))
    raise NotImplementedError(f"{tree[0]} as a function")


def part(base: np.ndarray, subscripts: tuple, env: dict) -> np.ndarray:
    found = [subscript(s, env) for s in subscripts]
    if len(found) == 1 and base.ndim == 2:
        found = [found[0], 0] if base.shape[1] == 1 else [0, found[0]]
        return np.atleast_1d(base[tuple(found)]).reshape(-1, 1)
    value = base[tuple(found)]
    return value if value.ndim >= 2 else value.reshape(-1, 1)


def subscript(tree: tuple, env: dict):
    if tree[0] != "slice":
        return integer(value_of(tree, env))
    return slice(*(None if end is None else integer(value_of(end, env)) for end in tree[1:]))


class Indexed:
    """The meaning of `{i,j: body}`: entry by entry, an unlisted index summed where its occurrences meet."""

    def __init__(self, env: dict, listed: frozenset = frozenset()) -> None:
        self.env = env
        self.listed = listed
        self.memo: dict[int, np.ndarray] = {}

    def tensor(self, tree: tuple) -> np.ndarray:
        _, names, body = tree
        outer = {name: value for name, value in self.env.items() if name not in names}
        inner = Indexed(outer, frozenset(names))
        sizes = inner.lengths(body, set(names))
        shape = tuple(sizes[name] for name in names)
        entries = np.empty(shape, dtype=complex)
        for place in itertools.product(*map(range, shape)):
            entries[place] = inner.entry(body, dict(zip(names, place, strict=True)), sizes)
        if not np.iscomplexobj(np.asarray([v.sum() for v in outer.values() if v.dtype == complex] or [0.0])):
            entries = entries.real
        return entries if entries.ndim >= 2 else entries.reshape(-1, 1)

    def lengths(self, tree: tuple, names: set[str]) -> dict[str, int]:
        """Return the length of each index, listed or not, from an axis at which it occurs."""
        here = unsettled(tree)
        zero = {name: scalar(0.0) for name in indices(tree) if name in names or name in here - set(self.env)}
        found: dict[str, int] = {}
        for node, hidden in subtrees(tree, frozenset()):
            if node[0] != "part":
                continue
            standing = [(axis, s[1]) for axis, s in enumerate(node[2]) if s[0] == "name" and s[1] in zero]
            if not any(name not in hidden for _, name in standing):
                continue
            shape = value_of(node[1], {**self.env, **zero, **{name: scalar(0.0) for name in hidden}}).shape
            shape = tuple(n for n in shape if n != 1) if len(node[2]) == 1 and len(shape) == 2 else shape
            for axis, name in standing:
                length = shape[axis] if shape else 1
                if name not in hidden and found.setdefault(name, length) != length:
                    raise Mismatch(f"index {name} has lengths {found[name]} and {length}")
        return found

    def closed(self, tree: tuple) -> np.ndarray:
        if id(tree) not in self.memo:
            self.memo[id(tree)] = value_of(tree, self.env)
        return self.memo[id(tree)]

    def free(self, tree: tuple, bound: dict[str, int], sizes: dict[str, int]) -> set[str]:
        return {name for name in unsettled(tree) if name in sizes and name not in bound}

    def entry(self, tree: tuple, bound: dict[str, int], sizes: dict[str, int]):
        """Return one number: `tree` with the indices in `bound` fixed, the others summed where they meet."""
        if tree[0] in ("+", "-"):
            left, right = self.entry(tree[1], bound, sizes), self.entry(tree[2], bound, sizes)
            return left + right if tree[0] == "+" else left - right
        if tree[0] == "negative":
            return -self.entry(tree[1], bound, sizes)
        parts = factors(tree)
        owned = [self.free(factor, bound, sizes) for _, factor in parts]
        here = set().union(*owned) if len(parts) == 1 and tree[0] == "part" else shared(owned)
        if not here:
            return self.product(parts, bound, sizes)
        total = 0.0
        order = sorted(here)
        for place in itertools.product(*(range(sizes[name]) for name in order)):
            total = total + self.product(parts, {**bound, **dict(zip(order, place, strict=True))}, sizes)
        return total

    def total(self, tree: tuple, bound: dict[str, int], sizes: dict[str, int]):
        """Return `sum{i,j: body}` with the indices in `bound` fixed."""
        _, names, body = tree
        outside = {name: value for name, value in self.env.items() if name not in names}
        inner = Indexed(outside, self.listed | set(names))
        outer = {name: k for name, k in bound.items() if name not in names}
        lengths = {**sizes, **inner.lengths(body, set(names))}
        places = itertools.product(*(range(lengths[name]) for name in names))
        return sum(inner.entry(body, {**outer, **dict(zip(names, place, strict=True))}, lengths) for place in places)

    def product(self, parts: list, bound: dict[str, int], sizes: dict[str, int]):
        value = 1.0
        for inverted, factor in parts:
            number = self.factor(factor, bound, sizes)
            value = value / number if inverted else value * number
        return value

    def factor(self, tree: tuple, bound: dict[str, int], sizes: dict[str, int]):
        head = tree[0]
        if head in ("+", "-", "negative"):
            return self.entry(tree, bound, sizes)
        if head in ("^", ".^"):
            return self.entry(tree[1], bound, sizes) ** self.entry(tree[2], bound, sizes)
        if head == "total":
            return self.total(tree, bound, sizes)
        if head == "name" and tree[1] in bound:
            return float(bound[tree[1]])
        if head == "compare":
            left, right = (np.asarray(self.entry(side, bound, sizes)) for side in tree[2:])
            return float(COMPARE[tree[1]](left, right))
        if head == "part" and self.free(tree, bound, sizes):
            return self.entry(tree, bound, sizes)
        if head == "part" and self.mentions(tree, bound):
            base = self.inside(tree[1], bound)
            value = part(base, tree[2], self.scope(bound))
            return value.reshape(()).item() if value.size == 1 else value
        if head == "call" and (self.mentions(tree, bound) or self.free(tree, bound, sizes)):
            values = [
                self.inside(argument, bound) if argument[0] == "index" else scalar(self.entry(argument, bound, sizes))
                for argument in tree[2]
            ]
            return np.asarray(FUNCTIONS[ALIASES.get(tree[1], tree[1])](*values)).reshape(()).item()
        value = self.closed(tree)
        return value.reshape(()).item()

    def inside(self, tree: tuple, bound: dict[str, int]) -> np.ndarray:
        """Return the value of a tree by itself: an index that it sums is distinct from one of the same name outside."""
        own = unsettled(tree) | self.listed
        here = {name: k for name, k in bound.items() if name in own}
        return value_of(tree, self.scope(here)) if self.mentions(tree, here) else self.closed(tree)

    def scope(self, bound: dict[str, int]) -> dict:
        return {**self.env, **{name: scalar(float(k)) for name, k in bound.items()}}

    def mentions(self, tree: tuple, bound: dict[str, int]) -> bool:
        return any(name in bound for name in indices(tree))


def factors(tree: tuple) -> list[tuple[bool, tuple]]:
    """Split a product or quotient of index-form entries into (inverted, factor)."""
    if tree[0] in ("*", ".*"):
        return factors(tree[1]) + factors(tree[2])
    if tree[0] in ("/", "./"):
        return factors(tree[1]) + [(True, tree[2])]
    return [(False, tree)]


def shared(owned: list[set[str]]) -> set[str]:
    """Return the indices that occur in two factors at least."""
    return {name for i, names in enumerate(owned) for name in names if any(name in o for o in owned[i + 1 :])}


def subtrees(tree, hidden: frozenset[str]):
    """Yield every tuple node of `tree` with the indices that inner index forms hide there."""
    if not isinstance(tree, tuple):
        return
    if tree and isinstance(tree[0], str):
        yield tree, hidden
        if tree[0] in ("index", "total"):
            hidden = hidden | set(tree[1])
    for child in tree:
        yield from subtrees(child, hidden)


@lru_cache(maxsize=10_000)
def indices(tree) -> frozenset[str]:
    """Return all names in `tree`, also those inside nested index forms that do not list them."""
    if not isinstance(tree, tuple):
        return frozenset()
    if len(tree) == 2 and tree[0] == "name":
        return frozenset([tree[1]])
    if tree and tree[0] in ("index", "total"):
        return indices(tree[2]) - set(tree[1])
    return frozenset().union(*map(indices, tree))


@lru_cache(maxsize=10_000)
def unsettled(tree) -> frozenset[str]:
    """Return the names in `tree` except those that a nested index form lists or sums by itself."""
    if not isinstance(tree, tuple):
        return frozenset()
    if len(tree) == 2 and tree[0] == "name":
        return frozenset([tree[1]])
    if tree and tree[0] in ("index", "total"):
        return frozenset(n for n in unsettled(tree[2]) - set(tree[1]) if not settles(tree[2], n))
    return frozenset().union(*map(unsettled, tree))


def settles(tree: tuple, name: str) -> bool:
    """Return whether the products in `tree` repeat a name at each of its occurrences."""
    holders = [factor for _, factor in factors(tree) if name in unsettled(factor)]
    if len(holders) > 1:
        return True
    (tree,) = holders
    if tree[0] == "part":
        here = sum(s == ("name", name) for s in tree[2]) + (name in unsettled(tree[1]))
        return here > 1 or (("name", name) not in tree[2] and settles(tree[1], name))
    if tree[0] in ("name", "compare"):
        return False
    inner = [t for t in flattened(tree[1:]) if name in unsettled(t)]
    return bool(inner) and all(settles(t, name) for t in inner)


def flattened(parts):
    """Yield the trees among the parts of a tree, also those in tuples of arguments."""
    for part in parts:
        if isinstance(part, tuple) and part and isinstance(part[0], str):
            yield part
        elif isinstance(part, tuple):
            yield from flattened(part)
