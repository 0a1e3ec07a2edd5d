"""What solvers want of a formula: flat vectors in, values and derivatives out."""

from matcalc.solvers.packing import Packing
from matcalc.solvers.problem import problem
from matcalc.solvers.systems import least_squares, ode, root

__all__ = ["Packing", "least_squares", "ode", "problem", "root"]
