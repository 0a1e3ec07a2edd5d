"""Formats source by ruff and counts its lines of code: the text of both sides of a comparison is treated alike."""

import ast
import subprocess
import sys
from pathlib import Path

RUFF = Path(sys.executable).with_name("ruff")
WIDTH = 88


def formatted(source):
    """Return the text as `ruff format` writes it, 88 columns wide."""
    command = [RUFF, "format", "--isolated", "--no-cache", f"--line-length={WIDTH}", "-"]
    return subprocess.run(command, input=source, capture_output=True, text=True, check=True).stdout


def lines_by_function(source):
    """Return the number of code lines of each function, without its docstring, comments and decorators."""
    text = formatted(source)
    lines = text.splitlines()
    counts = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef):
            first, last = node.lineno, node.end_lineno
            described = docstring_lines(node)
            counted = [n for n in range(first, last + 1) if n not in described and not blank(lines[n - 1])]
            counts[node.name] = len(counted)
    return counts


def docstring_lines(function):
    """Return the line numbers of a function's docstring."""
    head = function.body[0]
    is_text = isinstance(head, ast.Expr) and isinstance(head.value, ast.Constant) and isinstance(head.value.value, str)
    return range(head.lineno, head.end_lineno + 1) if is_text else range(0)


def blank(line):
    """Tell whether a line is empty or a comment."""
    return not line.strip() or line.strip().startswith("#")
