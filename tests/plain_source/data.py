"""Draws random data for the formulas from their declarations, without matcalc."""

import re

import numpy as np

KINDS = re.compile(r"(\w+): (scalar|vector|matrix|tensor|index)(?:\(([^)]*)\))?((?: \w+)*)")


def shapes(formula, sizes):
    """Return the shape of each declared symbol, with sizes as numbers."""
    found = {}
    for name, _, dims, _ in declared(formula):
        found[name] = tuple(int(eval(d, {}, dict(sizes))) for d in dims.split(",")) if dims else ()
    return found


def declared(formula):
    """Return name, kind, sizes and facts of each symbol that the declarations name."""
    return [m.groups() for m in map(KINDS.fullmatch, formula.declarations.split("; "))]


def drawn(formula, sizes, seed):
    """Return random arguments by name, with the declared facts and by the recipes of the formula.

    A direction `v` has the shape of the variable, a cotangent `G` that of the value.
    """
    rng = np.random.default_rng(seed)
    sizes = sizes | formula.sizes
    of = shapes(formula, sizes)
    values = {}
    for name, _, _, facts in declared(formula):
        recipe = formula.data.get(name) or next(iter(facts.split()), "normal")
        values[name] = draw(recipe, of[name], sizes, rng)
    if formula.gives == "hvp":
        shape = of[formula.wrt[0]]
        values["v"] = draw("normal", shape, sizes, rng)
        if re.search(rf"\b{formula.wrt[0]}: matrix\([^)]*\) (spd|symmetric)", formula.declarations):
            values["v"] = (values["v"] + values["v"].T) / 2
    if formula.gives == "vjp":
        values["G"] = draw("normal", of[formula.wrt[0]], sizes, rng)
    return values


def draw(recipe, shape, sizes, rng):
    """Return a random array (a float for a scalar) by a recipe."""
    if recipe.startswith("below "):
        return rng.integers(0, sizes[recipe.removeprefix("below ")], shape)
    x = rng.standard_normal(shape)
    return RECIPES[recipe](x) if shape else float(RECIPES[recipe](x))


def symmetric(x):
    """Return the symmetric part."""
    return (x + x.T) / 2


def spd(x):
    """Return a positive definite matrix of moderate condition."""
    return x @ x.T / len(x) + np.eye(len(x))


def one_hot(x):
    """Return rows with a single one."""
    return np.eye(x.shape[1])[np.argmax(x, axis=1)]


def distances(x):
    """Return squared distances of random points."""
    points = x[:, :2]
    return np.sum((points[:, None] - points) ** 2, axis=2)


def affinities(x):
    """Return symmetric weights of pairs with sum 1 and a diagonal of zeros."""
    weights = np.abs(symmetric(x))
    np.fill_diagonal(weights, 0)
    return weights / weights.sum()


def grid(x):
    """Return points of a line, moved at random, so that no two are close."""
    return x / 5 + 1.2 * np.arange(len(x))[:, None]


RECIPES = {
    "normal": lambda x: x,
    "positive": lambda x: np.abs(x) + 0.5,
    "nonnegative": np.abs,
    "fraction": lambda x: 0.1 + 0.8 / (1 + np.exp(-x)),
    "signs": lambda x: np.where(x > 0, 1.0, -1.0),
    "mask": lambda x: (x > 0).astype(float),
    "scaled": lambda x: x / np.sqrt(x.shape[-1]),
    "onehot": one_hot,
    "symmetric": symmetric,
    "spd": spd,
    "lower": np.tril,
    "triangular": lambda x: np.tril(x) / len(x) + np.eye(len(x)) * 1.5,
    "dominant": lambda x: x / np.sqrt(len(x)) + 3 * np.eye(len(x)),
    "distances": distances,
    "affinities": affinities,
    "grid": grid,
}
