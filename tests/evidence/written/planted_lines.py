"""What of the sources each result of the panel reaches, as JSON: the results by line, and by kernel or function.

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
ROOMS = tuple(f"{TREE}/{room}/" for room in ("matcalc/tensor", "matcalc/calculus", "matcalc/compiler"))
MOST = 60
"""Results that are kept for a line: the first that reach it."""

lines: dict[str, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
now = [""]


def entered(frame: FrameType, event: str, arg: Any) -> Any:
    """Trace a function of a room that faults are planted in."""
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


def words(function: Any, target: str) -> set[str]:
    """Return the kernels and functions of `codegen/` that a compiled function reaches."""
    from matcalc.compiler.kernels.library import closure, free_names, load_library

    used = closure(load_library(target), free_names(function.source))
    planned = {found for line in function.plan.split("\n") for found in re.findall(r"\b(\w+)\(", line)}
    return {item.name for item in used} | planned


def main() -> None:
    import planted_panel as panel

    kernels: dict[str, list[str]] = defaultdict(list)
    for result in panel.results():
        now[0] = result.label
        target, _, text = result.label.partition(": ")
        sys.settrace(None if target == "numba" and text in panel.KERNELS else entered)
        try:
            result.numbers(False)
            sys.settrace(None)
            for word in words(result.function(), target) if result.function else ():
                kernels[word].append(result.label)
        except Exception as error:  # noqa: BLE001 - said, and looked at by whom it concerns
            print(result.label, error, file=sys.stderr)
    sys.settrace(None)
    print(json.dumps({"lines": lines, "kernels": kernels, "labels": [result.label for result in panel.results()]}))


if __name__ == "__main__":
    main()
