"""`python -m matcalc` is the command `matcalc`."""

import sys

from matcalc.cli import main

sys.exit(main())
