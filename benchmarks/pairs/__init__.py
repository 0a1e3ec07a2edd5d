"""Tests every operation inside every other: `python -m benchmarks.pairs`. The reference is the tests' evaluator."""

import os
import sys
from pathlib import Path

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")  # before NumPy is imported
sys.path.append(str(Path(__file__).resolve().parents[2] / "tests"))  # the evaluator, which shares no code with matcalc
