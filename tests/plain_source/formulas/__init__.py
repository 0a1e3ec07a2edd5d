"""The formulas with their hand-written code, by subject."""

from plain_source.formulas import classes, factors, gaussians, likelihoods, points, regression, robust, spectra
from plain_source.formulas.table import FORMULAS, LARGE, SECOND, SIZES, Formula

__all__ = [
    "FORMULAS",
    "LARGE",
    "SECOND",
    "SIZES",
    "Formula",
    "classes",
    "factors",
    "gaussians",
    "likelihoods",
    "points",
    "regression",
    "robust",
    "spectra",
]
