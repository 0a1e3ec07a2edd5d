"""What solvers want of a formula: flat vectors in, values and derivatives out."""

from matcalc.solvers.for_jax import jax
from matcalc.solvers.for_torch import torch
from matcalc.solvers.packing import Packing
from matcalc.solvers.problem import problem
from matcalc.solvers.systems import least_squares, ode, root

__all__ = ["Packing", "jax", "least_squares", "ode", "problem", "root", "torch"]
