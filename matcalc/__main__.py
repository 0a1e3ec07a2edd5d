"""`python -m matcalc` is the command `matcalc`."""

import sys

from matcalc.commands.cli import main

sys.exit(main())
