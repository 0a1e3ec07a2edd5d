"""Random NumPy programs: text that runs on arrays and on symbols.

A step is a template of Python text with the shapes that it accepts. A program grows depth first. Each step runs on data
as it is chosen, so the expected result is known before any symbol is involved, and values stay near 1.
"""

import random
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from scipy import linalg, special, stats
from scipy.spatial.distance import cdist

FIXED = "X: matrix(4, 3); Y: matrix(4, 3); A: matrix(3, 3); w: vector(3); y: vector(4); T: tensor(2, 4, 3); s: scalar"
OPEN = "X: matrix(m, n); Y: matrix(m, n); A: matrix(n, n); w: vector(n); y: vector(m); T: tensor(k, m, n); s: scalar"
SIZES = {"m": 4, "n": 3, "k": 2}
OTHERS = {"m": 5, "n": 7, "k": 4}
AXES = {"X": "mn", "Y": "mn", "A": "nn", "w": "n", "y": "m", "T": "kmn", "s": ""}
LARGEST = 200
"""Entries of the largest intermediate array."""


def rank(*ranks: int) -> Callable[..., bool]:
    return lambda *shapes: all(len(shape) in ranks for shape in shapes)


def least(count: int) -> Callable[..., bool]:
    return lambda *shapes: all(len(shape) >= count for shape in shapes)


def square(shape: tuple[int, ...]) -> bool:
    return len(shape) >= 2 and shape[-1] == shape[-2]


def matrix(shape: tuple[int, ...]) -> bool:
    return len(shape) == 2 and shape[0] == shape[1]


def alike(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    return a == b and len(a) > 0


def wide(shape: tuple[int, ...]) -> bool:
    return len(shape) > 0 and shape[-1] > 1


def any_shape(*shapes: tuple[int, ...]) -> bool:
    return True


UNARY = [
    (any_shape, "np.exp(np.tanh({0}))"),
    (any_shape, "np.sin({0})"),
    (any_shape, "np.cos({0})"),
    (any_shape, "np.tanh({0})"),
    (any_shape, "np.sqrt(1 + {0}**2)"),
    (any_shape, "np.log1p({0}**2)"),
    (any_shape, "np.log(1.5 + np.abs({0}))"),
    (any_shape, "np.absolute({0})"),
    (any_shape, "np.square(np.arctan({0}))"),
    (any_shape, "np.expm1(np.tanh({0}))"),
    (any_shape, "np.sinc({0})"),
    (any_shape, "np.sinh(np.tanh({0}))"),
    (any_shape, "np.arcsinh({0})"),
    (any_shape, "np.negative({0})"),
    (any_shape, "np.reciprocal(2 + np.tanh({0}))"),
    (any_shape, "np.maximum({0}, 0.3)"),
    (any_shape, "np.minimum(0.4, {0})"),
    (any_shape, "np.clip({0}, -0.5, 0.6)"),
    (any_shape, "np.where({0} > 0.1, {0}, -0.5*{0})"),
    (any_shape, "np.where(({0} > -1) & ~({0} >= 0.5), {0}, 1.0)"),
    (any_shape, "2.0**np.tanh({0})"),
    (any_shape, "np.power(1.5 + np.tanh({0}), 1.5)"),
    (any_shape, "({0} > 0)*{0}"),
    (any_shape, "np.float_power({0}, 3)/10"),
    (any_shape, "np.exp2(np.sin({0}))"),
    (any_shape, "np.log2(3 + np.sin({0}))"),
    (any_shape, "np.ones_like({0}) - {0}"),
    (any_shape, "np.full_like({0}, 0.5)*{0}"),
    (any_shape, "np.sum({0})/{0}.size"),
    (any_shape, "np.mean({0})"),
    (any_shape, "{0}.max()"),
    (any_shape, "np.min({0})"),
    (any_shape, "np.linalg.norm(np.ravel({0}))"),
    (any_shape, "np.std({0})"),
    (any_shape, "np.var({0})"),
    (any_shape, "np.median({0})"),
    (any_shape, "np.ravel({0})"),
    (any_shape, "np.expand_dims({0}, 0)"),
    (any_shape, "{0}[..., None]"),
    (any_shape, "{0}[None]"),
    (any_shape, "np.squeeze({0})"),
    (any_shape, "{0}.T"),
    (any_shape, "np.atleast_2d({0})"),
    (any_shape, "np.repeat({0}, 2)"),
    (any_shape, "np.tile({0}, (2, 1))"),
    (any_shape, "np.flip({0})"),
    (any_shape, "np.diagflat({0})"),
    (any_shape, "np.add.reduce(np.atleast_1d({0}))"),
    (least(1), "np.mean({0}, axis=0)"),
    (least(1), "np.sum({0}, axis=-1, keepdims=True)/{0}.shape[-1]"),
    (least(1), "np.max({0}, axis=-1, keepdims=True)"),
    (least(1), "np.min({0}, axis=0)"),
    (least(1), "np.prod(np.tanh({0}), axis=-1)"),
    (least(1), "{0}.var(axis=0, keepdims=True)"),
    (least(1), "np.std({0}, axis=-1)"),
    (least(1), "np.median({0}, axis=0)"),
    (least(1), "np.ptp({0}, axis=-1)"),
    (least(1), "np.cumsum({0}, axis=-1)"),
    (least(1), "np.cumprod(np.tanh({0}), axis=0)"),
    (least(1), "np.sort({0})"),
    (least(1), "np.sort({0}, axis=0)"),
    (least(1), "np.cumsum({0})/{0}.size"),
    (least(1), "np.linalg.norm({0}, axis=-1)"),
    (least(1), "np.average({0}, axis=0)"),
    (least(1), "np.flip({0}, 0)"),
    (least(1), "np.roll({0}, 1, axis=-1)"),
    (least(1), "{0}[::-1]"),
    (least(1), "{0}[0]"),
    (least(1), "{0}[..., -1]"),
    (least(1), "np.roll({0}, 1)"),
    (least(1), "{0} - np.mean({0}, axis=-1, keepdims=True)"),
    (least(1), "np.logaddexp.reduce({0}, axis=0)"),
    (least(1), "np.maximum.reduce({0})"),
    (least(1), "np.concatenate([{0}, 2*{0}], axis=0)"),
    (least(1), "np.tril({0})"),
    (least(1), "np.triu({0}, 1)"),
    (least(1), "np.repeat({0}, 2, axis=0)"),
    (least(1), "np.linalg.norm({0}.reshape(-1), 1)/{0}.size"),
    (least(1), "np.linalg.norm({0}, np.inf, axis=0)"),
    (least(1), "np.linalg.norm({0}, 3, axis=0)"),
    (least(1), "np.outer({0}, {0})"),
    (least(1), "np.vdot({0}, {0})/{0}.size"),
    (least(1), "np.broadcast_to({0}, (2, *{0}.shape))"),
    (least(1), "np.reshape({0}, (1, -1))"),
    (least(1), "np.add.accumulate({0}, axis=0)"),
    (least(1), "np.multiply.outer(np.sum({0}, axis=0), {0})"),
    (wide, "np.diff({0})"),
    (wide, "{0}[..., 1:]"),
    (wide, "np.trapezoid({0})"),
    (wide, "{0}[..., :-1]"),
    (least(2), "np.swapaxes({0}, 0, -1)"),
    (least(2), "np.moveaxis({0}, -1, 0)"),
    (least(2), "np.linalg.matrix_transpose({0})"),
    (least(2), "np.sum({0}, axis=(0, 1))/10"),
    (least(2), "np.trace({0})"),
    (least(2), "np.diagonal({0})"),
    (least(2), "np.max({0}, axis=(0, -1), keepdims=True)"),
    (least(2), "{0}[0, 1:]"),
    (least(2), "np.rot90({0})"),
    (least(2), "np.reshape({0}, ({0}.shape[0], -1))"),
    (least(2), "np.fliplr({0})"),
    (least(2), "np.linalg.norm({0}, axis=(0, 1))"),
    (least(2), "np.einsum('...ij->...ji', {0})"),
    (least(2), "np.einsum('ij...->j...', {0})/3"),
    (rank(1), "np.diag({0})"),
    (rank(1), "np.convolve({0}, {0})/3"),
    (rank(1), "np.vander(np.tanh({0}), 3)"),
    (rank(2), "np.linalg.norm({0})"),
    (rank(2), "np.linalg.norm({0}, 'fro')"),
    (rank(2), "np.linalg.norm({0}, 1)"),
    (rank(2), "np.linalg.norm({0}, 2)"),
    (rank(2), "np.linalg.norm({0}, 'nuc')"),
    (rank(2), "{0} @ {0}.T/{0}.shape[1]"),
    (rank(2), "np.linalg.svd({0}, full_matrices=False)[1]"),
    (rank(2), "np.cov({0}, bias=True)"),
    (rank(2), "np.corrcoef({0})"),
    (rank(2), "np.cov({0}[:1], {0}[:1]**2)"),
    (rank(2), "np.heaviside({0}, 0.5)"),
    (rank(2), "np.nansum({0}, axis=0)"),
    (matrix, "np.diag({0})"),
    (matrix, "np.linalg.eigvalsh({0} + {0}.T)"),
    (matrix, "np.linalg.matrix_power(np.tanh({0})/2, 3)"),
    (square, "np.linalg.inv(np.tanh({0}) + 4*np.eye({0}.shape[-1]))"),
    (square, "np.linalg.det(np.tanh({0}) + 2*np.eye({0}.shape[-1]))/9"),
    (square, "np.linalg.slogdet(np.tanh({0}) + 3*np.eye({0}.shape[-1]))[1]"),
]
BINARY = [
    "{0} + {1}",
    "{0} - {1}",
    "{0}*{1}",
    "{0}/(2 + np.tanh({1}))",
    "np.maximum({0}, {1})",
    "np.minimum({0}, {1})",
    "np.hypot({0}, {1})",
    "np.logaddexp({0}, {1})",
    "np.arctan2({0}, 2 + np.cos({1}))",
    "np.where({0} < {1}, {0}, {1})",
    "np.fmax({0}, 0.5*{1})",
    "{0} @ {1}",
    "np.dot({0}, {1})",
    "np.inner({0}, {1})",
    "np.matmul({0}, {1})",
    "np.outer({0}, {1})",
    "np.kron({0}, {1})",
    "np.tensordot({0}, {1}, 1)",
    "np.vdot({0}, {1})",
    "np.stack([{0}, {1}])",
    "np.stack([{0}, {1}], axis=-1)",
    "np.concatenate([{0}, {1}])",
    "np.concatenate([{0}, {1}], axis=-1)",
    "np.hstack([{0}, {1}])",
    "np.vstack([{0}, {1}])",
    "np.column_stack([{0}, {1}])",
    "np.block([{0}, {1}])",
    "np.einsum('ij,ij->i', {0}, {1})",
    "np.einsum('ij,kj->ik', {0}, {1})",
    "np.einsum('i,i->', {0}, {1})",
    "np.einsum('i,j->ij', {0}, {1})",
    "np.einsum('...i,...i', {0}, {1})",
    "np.add.outer({0}, {1})",
    "np.append({0}, {1})",
    "np.linalg.multi_dot([{0}, {1}])",
    "np.linalg.solve(np.tanh({0}) + 4*np.eye({0}.shape[-1]), {1})",
    "np.average({0}, axis=0, weights=np.exp(np.tanh({1})))",
    "np.cross({0}, {1})",
    "np.vecdot({0}, {1})",
    "np.trapezoid({0}, {1})",
    "np.clip({0}, -np.abs({1}), np.abs({1}))",
]
"""Steps: of one operand with the shapes that each accepts, of two operands wherever NumPy accepts them."""
CODE = [
    (least(1), "{0}[[0, -1, 0]]"),
    (least(1), "{0}[..., [0, -1]]"),
    (least(1), "{0}[[[0], [-1]], ...]"),
    (least(1), "{0}[np.array([-1, 0])]"),
    (least(1), "np.take({0}, [0, -1], axis=-1)"),
    (least(1), "np.take({0}, [[0, -1]], axis=0)"),
    (least(1), "{0}[np.arange(len({0}))]"),
    (least(1), "{0}[np.arange(len({0}) - 1) + 1]"),
    (least(1), "{0}[len({0}) - 1]"),
    (least(1), "{0}[-1:]"),
    (least(1), "{0}[: len({0}) - 1] - {0}[1:]"),
    (least(1), "{0}[np.arange({0}.shape[0]) % 2 == 0]"),
    (least(1), "{0}[::2]"),
    (least(1), "np.zeros({0}.shape) - {0}"),
    (least(1), "np.zeros_like({0}) + np.tanh({0})"),
    (least(1), "np.full({0}.shape, 0.5)*{0}"),
    (least(1), "np.ones((2, len({0}))) @ {0}"),
    (least(1), "np.arange(len({0})) @ {0}/9"),
    (least(1), "np.linspace(0, 1, {0}.shape[0]) @ {0}"),
    (least(1), "np.identity(len({0})) @ {0}"),
    (least(1), "sum({0})/len({0})"),
    (least(1), "{0}.reshape({0}.shape[0], -1)"),
    (least(1), "np.array([{0}, 2*{0}])"),
    (least(1), "np.asarray({0}, dtype=float)/2"),
    (least(1), "put({0}, 0, 0.5)"),
    (least(1), "put({0}, slice(1, None), 0.25)"),
    (least(1), "put({0}, [0, -1], 0.3)"),
    (least(1), "put({0}, (..., [0]), np.tanh({0}[..., [-1]]))"),
    (least(1), "put({0}, np.arange(len({0})), np.sin({0}))"),
    (least(1), "put({0}, np.arange({0}.shape[0]) % 2 == 0, 0.1)"),
    (least(1), "put({0}, (0, ...), np.cos({0}[-1]))"),
    (least(1), "added({0}, [0, 0, -1], 0.2)"),
    (least(1), "in_place({0})"),
    (least(1), "through_views({0})"),
    (least(1), "grown({0})"),
    (least(1), "special.logsumexp({0}, axis=0)"),
    (least(1), "special.softmax({0}, axis=-1)"),
    (least(1), "special.log_softmax({0}, axis=0)"),
    (any_shape, "stats.norm.logpdf({0}, 0.1, 2)"),
    (any_shape, "stats.norm.cdf({0})"),
    (any_shape, "special.expit({0}) + special.ndtr({0})"),
    (any_shape, "special.gammaln({0}**2 + 1)/9"),
    (rank(2), "cdist({0}, {0}[:2])"),
    (rank(2), "cdist({0}, {0} + 1, 'sqeuclidean')/9"),
    (matrix, "filled_diagonal({0})"),
    (matrix, "put({0}, np.diag_indices_from({0}), 0.5)"),
    (matrix, "linalg.solve_triangular(np.tanh({0}) + 4*np.identity(len({0})), {0}, lower=True)"),
    (matrix, "linalg.cho_solve(linalg.cho_factor({0} @ {0}.T + np.identity(len({0}))), {0})"),
    (matrix, "linalg.expm({0}/20)"),
]
"""Steps with sizes, known places, masks, writes to arrays and SciPy's functions."""
WITH_NUMBERS = ("np.eye(", "% 2 == 0", "[::2]")
"""Steps that need numeric sizes, since NumPy builds these arrays from integers only."""


@dataclass(frozen=True)
class Program:
    """The text of a function's body, its value on the data, and the declarations of its arguments."""

    text: str
    value: np.ndarray
    declarations: str

    def function(self) -> Callable[..., object]:
        """Return the function of the data's names whose body is the text."""
        scope: dict[str, object] = dict(SCOPE)
        exec(f"def program({', '.join(AXES)}):\n    return {self.text}", scope)
        made = scope["program"]
        assert callable(made)
        return made


Data = dict[str, np.ndarray]


def data(seed: int, sizes: Mapping[str, int] = SIZES) -> Data:
    rng = np.random.default_rng(seed)
    return {name: rng.standard_normal([sizes[axis] for axis in axes]) for name, axes in AXES.items()}


def put(a, at, value):
    b = a.copy()
    b[at] = value
    return b


def added(a, at, value):
    b = np.zeros(a.shape)
    b += a
    np.add.at(b, at, value)
    return b


def in_place(a):
    b = a + 0.5
    same = b
    b *= 0.5
    same -= np.mean(a)
    return b


def through_views(a):
    b = np.sin(a)
    first, last = b[0:1], b[-1:]
    first += 1
    b[:1] *= 2
    return b + 0.1 * first - last


def grown(a):
    rows = []
    for k in range(2):
        rows.append(a * k + 0.1)
    return np.array(rows)


def filled_diagonal(a):
    b = a.copy()
    np.fill_diagonal(b, 0.5)
    b.flat[:: len(b) + 1] += 1
    return b


SCOPE: dict[str, object] = {
    "np": np, "special": special, "stats": stats, "linalg": linalg, "cdist": cdist, "put": put, "added": added,
    "in_place": in_place, "through_views": through_views, "grown": grown, "filled_diagonal": filled_diagonal,
}  # fmt: skip
"""The names in a program."""


def programs(count: int, depth: int = 6, seed: int = 0, code: bool = False) -> Iterator[Program]:
    """Yield programs, alternately with fixed and with open sizes; with `code` every second step is one of CODE."""
    for number in range(count):
        rng = random.Random(f"{seed} {number}")
        given = [data(number), *([data(number, OTHERS)] if number % 2 else [])]
        text, value = _grown(rng, given, depth, code)
        yield Program(text, value, OPEN if number % 2 else FIXED)


def _grown(rng: random.Random, given: list[Data], depth: int, code: bool = False) -> tuple[str, np.ndarray]:
    """Return a text and its value on the first data; the text also runs on the other data, of other sizes."""
    if depth == 0:
        name = rng.choice(sorted(given[0]))
        return name, given[0][name]
    text, value = _grown(rng, given, depth - 1, code)
    for _ in range(200):
        if rng.random() < 0.35:
            other, _ = _grown(rng, given, rng.randrange(max(depth - 2, 1)), code)
            made = rng.choice(BINARY).format(*map(_whole, rng.sample([text, other], 2)))
        else:
            taken, template = rng.choice(CODE if code and rng.random() < 0.6 else UNARY)
            if not taken(np.shape(value)):
                continue
            made = template.format(_whole(text))
        if len(given) > 1 and any(one in made for one in WITH_NUMBERS):
            continue
        results = [run(made, one) for one in given]
        if all(result is not None for result in results):
            return made, results[0]
    return text, value


def _whole(text: str) -> str:
    return text if text.isidentifier() else f"({text})"


def run(text: str, given: Data) -> np.ndarray | None:
    """Return NumPy's value of a text; None where NumPy raises or the value is far from 1."""
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("error", DeprecationWarning)
            made = np.asarray(eval(text, {**SCOPE, **given}), dtype=float)
    except (ValueError, TypeError, IndexError, AttributeError, Warning):
        return None
    fits = made.size <= LARGEST and made.ndim <= 4 and made.size and np.all(np.isfinite(made))
    return made if fits and np.max(np.abs(made)) < 50 else None
