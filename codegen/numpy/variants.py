"""Multiplies several matrices in the order with the fewest flops."""

import numpy as np


def in_best_order(shape, costs, functions, *operands):
    """Return the product of the operands by the function of least cost, which writes into its first argument."""
    result = np.empty(shape)
    functions[min(range(len(costs)), key=costs.__getitem__)](result, *operands)
    return result


def low_rank_first(shapes, fits, limits, short, direct, *given):
    """Return the results of `short` if sizes fit and losses are within their limits, else those of `direct`."""
    results = [np.empty(shape) for shape in shapes]
    losses = [np.empty(1) for _ in limits]
    if not (
        fits
        and _succeeds(short, *results, *losses, *given)
        and all(0 < loss[0] <= most for loss, most in zip(losses, limits, strict=True))
    ):
        direct(*results, *given)
    return tuple(results) if len(results) > 1 else results[0]


def _succeeds(function, *arguments):
    """Call a function; return whether it found no singular matrix."""
    try:
        with np.errstate(all="ignore"):
            return function(*arguments) == 0
    except np.linalg.LinAlgError:
        return False
