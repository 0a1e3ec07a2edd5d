"""The sources of both targets, by name."""

import numpy as np
import pytest
from codegen.running import kernel
from scipy import special

from matcalc.compiler.runtime.library import load_library
from matcalc.compiler.runtime.modules import load_items


@pytest.fixture(scope="module")
def numba_names():
    return {n: kernel(n) for n, i in load_library("numba").items.items() if i.is_kernel}


@pytest.fixture(scope="module")
def numpy_names():
    modules = load_items("numpy", load_library("numpy").items)
    names = {n: getattr(__import__(m, fromlist=[n]), n) for n, m in modules.items()}
    return names | {"np": np, "special": special}
