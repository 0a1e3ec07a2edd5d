"""Times the first formula in an empty environment for each entry point: the table of docs/entry_points.md.

    python benchmarks/entry_points.py

creates an environment, installs this checkout and Jupyter's kernel in it, and uses each entry point twice. The page
needs Playwright and Chromium on this machine.
"""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FORMULA, ANSWER = "norm2(X*w - y)^2", "2*X'*(X*w - y)"
CELL = f"import matcalc as mc\nmc.gradient({FORMULA!r}, 'w')"


def timed(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


class Environment:
    """An environment of its own, and its cache."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.bin = folder, folder / "venv" / "bin"
        self.variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        self.variables["MATCALC_CACHE"] = str(folder / "cache")

    def run(self, *command: object, given: str = "") -> str:
        return subprocess.run(
            [str(word) for word in command],
            input=given, capture_output=True, text=True, check=True, env=self.variables, cwd=self.folder,
        ).stdout  # fmt: skip

    def command_line(self) -> None:
        assert ANSWER in self.run(self.bin / "matcalc", "gradient", FORMULA, "--wrt", "w")

    def prompt(self) -> None:
        ours, theirs = pty.openpty()
        with subprocess.Popen([self.bin / "matcalc"], stdin=theirs, stdout=theirs, stderr=theirs, env=self.variables):
            os.write(ours, f"{FORMULA}\ngradient w\nquit\n".encode())
            said = b""
            while ANSWER.encode() not in said:
                said += os.read(ours, 4096)
        os.close(ours)
        os.close(theirs)

    def library(self) -> None:
        assert ANSWER in self.run(self.bin / "python", "-c", CELL.replace("mc.g", "print(mc.g") + ")")

    def notebook(self) -> None:
        program = f"""
import nbformat
from nbclient import NotebookClient
made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell({CELL!r})])
NotebookClient(made, kernel_name="python3").execute()
assert "text/latex" in made.cells[0].outputs[0]["data"]
"""
        self.run(self.bin / "python", "-c", program)

    def page(self) -> None:
        from playwright.sync_api import sync_playwright

        command = [str(self.bin / "matcalc"), "serve", "--no-open", "--port", "0"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=self.variables) as server:
            assert server.stdout is not None
            address = server.stdout.readline().strip()
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
                page = browser.new_page()
                page.goto(address)
                page.wait_for_selector("#blocks .katex")
                browser.close()
            server.terminate()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        made = Environment(Path(folder))
        print(f"python -m venv   {timed(lambda: made.run(sys.executable, '-m', 'venv', made.bin.parent)):6.1f} s")
        pip = (made.bin / "python", "-m", "pip", "install", "--quiet")
        print(f"pip install      {timed(lambda: made.run(*pip, ROOT)):6.1f} s", flush=True)
        made.run(*pip, "ipykernel", "nbclient")
        for way in (made.command_line, made.prompt, made.library, made.notebook, made.page):
            shutil.rmtree(Path(folder) / "cache", ignore_errors=True)
            first, second = timed(way), timed(way)
            print(f"{way.__name__.replace('_', ' '):16} {first:6.1f} s, then {second:.1f} s", flush=True)


if __name__ == "__main__":
    main()
