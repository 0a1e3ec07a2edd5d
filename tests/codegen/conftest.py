"""Fixtures: the sources of both targets, by name."""

import numpy as np
import pytest
from codegen.running import kernel
from scipy import special

from matcalc.compiler.kernels.library import load_library
from matcalc.compiler.kernels.modules import load_items


class Kernels(dict):
    """The kernels of the numba sources by name, each compiled on first use."""

    def __missing__(self, name):
        self[name] = kernel(name)
        return self[name]


@pytest.fixture(scope="session")
def numba_names():
    return Kernels()


@pytest.fixture(scope="module")
def numpy_names():
    modules = load_items("numpy", load_library("numpy").items)
    names = {n: getattr(__import__(m, fromlist=[n]), n) for n, m in modules.items()}
    return names | {"np": np, "special": special}
