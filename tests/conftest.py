"""Settings of the whole test run: one BLAS thread, and a cache of compiled code that belongs to the run."""

import os
import tempfile

# Set before NumPy is first imported.
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
if "MATCALC_CACHE" not in os.environ:
    os.environ["MATCALC_CACHE"] = tempfile.mkdtemp(prefix="matcalc-tests-")
