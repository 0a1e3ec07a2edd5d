"""What of the sources the panel reaches: prints the results that reach each line, and each kernel, as JSON.

python tests/evidence/written/planted_lines.py TREE
"""

import json
import re
import sys
from collections import defaultdict
from pathlib import Path
from types import FrameType
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

TREE = sys.argv[1]
ROOMS = tuple(f"{TREE}/{room}/" for room in ("matcalc/tensor", "matcalc/calculus", "matcalc/compiler", "codegen"))
MOST = 16
"""Results that are kept for a line: the first that reach it."""

lines: dict[str, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
kernels: dict[str, list[str]] = defaultdict(list)
now = [""]


def entered(frame: FrameType, event: str, arg: Any) -> Any:
    """Trace a function of a room that changes are planted in."""
    name = frame.f_code.co_filename
    if not name.startswith(ROOMS) or frame.f_code.co_name == "<module>":
        return None
    here = lines[name.removeprefix(f"{TREE}/")]

    def stepped(frame: FrameType, event: str, arg: Any) -> Any:
        reached = here[frame.f_lineno]
        if len(reached) < MOST and (not reached or reached[-1] != now[0]):
            reached.append(now[0])
        return stepped

    return stepped(frame, event, arg)


def main() -> None:
    import planted_panel as panel

    known: set[str] = set()
    sys.settrace(entered)
    rows = panel.results(False, None)
    for label, run in rows:
        now[0] = label
        try:
            run()
        except Exception as error:  # noqa: BLE001 - said, and looked at by whom it concerns
            print(label, error, file=sys.stderr)
        made = {name.split(".generated.")[1] for name in sys.modules if ".generated." in name} - known
        known |= made
        for name in made:
            kernels[re.sub(r"_[0-9a-f]{8,}$", "", name)].append(label)
    sys.settrace(None)
    print(
        json.dumps({"lines": lines, "kernels": kernels, "labels": [label for label, _ in panel.results(False, None)]})
    )


if __name__ == "__main__":
    main()
