"""Formulas as solvers and frameworks call them: functions of flat vectors with exact derivatives."""

from matcalc.solvers.adapters.for_c import low_level
from matcalc.solvers.adapters.for_casadi import casadi
from matcalc.solvers.adapters.for_dask import dask
from matcalc.solvers.adapters.for_jax import jax
from matcalc.solvers.adapters.for_nlopt import nlopt
from matcalc.solvers.adapters.for_nuts import nuts
from matcalc.solvers.adapters.for_pymanopt import pymanopt
from matcalc.solvers.adapters.for_statsmodels import statsmodels
from matcalc.solvers.adapters.for_torch import torch
from matcalc.solvers.over_rows import rows
from matcalc.solvers.packing import Packing
from matcalc.solvers.problem import problem
from matcalc.solvers.systems import least_squares, ode, root

__all__ = [
    "Packing",
    "casadi",
    "dask",
    "jax",
    "least_squares",
    "low_level",
    "nlopt",
    "nuts",
    "ode",
    "problem",
    "pymanopt",
    "root",
    "rows",
    "statsmodels",
    "torch",
]
