"""Arguments and results of the oracle's functions: two-dimensional arrays, real or complex."""

import numpy as np


class NotAnalytic(TypeError):
    """The function has no complex-differentiable form here: use real differences."""


def real_only(x):
    if np.iscomplexobj(x):
        raise NotAnalytic
    return x


def column(values):
    return np.asarray(values).reshape(-1, 1)


def scalar(value):
    return np.asarray(value).reshape(1, 1)


def integer(value) -> int:
    number = np.asarray(value).reshape(()).item()
    if number != round(number.real):
        raise ValueError(f"{number} is no integer")
    return round(number.real)


def is_vector(x) -> bool:
    return x.ndim == 2 and 1 in x.shape
