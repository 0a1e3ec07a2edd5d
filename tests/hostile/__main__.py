"""Runs `python tests/hostile 20000 [seed]`: that many hostile texts through all public text parameters.

`python tests/hostile names [numpy] [numba]` tries every name of generated code as symbol, size and function.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

if __name__ == "__main__":
    from hostile.trying import main

    sys.exit(main(sys.argv[1:]))
