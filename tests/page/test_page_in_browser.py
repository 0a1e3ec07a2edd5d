"""The built page without a server, in a browser; a stand-in for Pyodide sends requests to a Python without Numba.

`MATCALC_PYODIDE` names a folder of Pyodide, unpacked: then WebAssembly answers, with the NumPy packages in that folder.
"""

import json
import os
import subprocess
import sys
import zipfile
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock, Thread

import pytest
from hide_packages import COMPILED, hiding, page_builder
from in_browser import NEEDED, axe, fold_out, picture, settled, shown, typed, until

pytestmark = NEEDED
PYODIDE = os.environ.get("MATCALC_PYODIDE", "")
STAND_IN = """\
function sent(path, body) {
  const line = new XMLHttpRequest();
  line.open("POST", path, false);
  line.send(body);
  return line.responseText;
}

export async function loadPyodide({ indexURL }) {
  if (!indexURL.endsWith("/pyodide/")) throw new Error(indexURL);
  return {
    loadPackage: async (names) => sent("/packages", JSON.stringify(names)),
    unpackArchive: (archive, kind, { extractDir }) => sent(`/archive/${kind}${extractDir}`, archive),
    runPython: (text) => { sent("/run", text); },
    globals: { get: (name) => (question) => sent(`/call/${name}`, question) },
  };
}
"""
PYTHON = """\
import json, sys

names = {}
for line in sys.stdin:
    word, text = json.loads(line)
    said = exec(text, names) if word == "run" else names[word](text)
    print(json.dumps(said), flush=True)
"""


class Engine:
    """A Python process that runs the page's archive in place of the browser's Python."""

    def __init__(self, folder):
        self.folder, self.packages, self.line = folder, [], Lock()
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        command = [sys.executable, "-c", hiding(COMPILED) + PYTHON]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=folder, env=environment
        )

    def told(self, path, body):
        if path == "/packages":
            self.packages = json.loads(body)
        elif path == "/archive/zip/engine":
            (self.folder / "engine.zip").write_bytes(body)
            zipfile.ZipFile(self.folder / "engine.zip").extractall(self.folder / "engine")
        else:
            text = body.decode().replace("/engine", str(self.folder / "engine"))
            with self.line:
                self.process.stdin.write(json.dumps([path.rpartition("/")[2], text]) + "\n")
                self.process.stdin.flush()
                return json.loads(self.process.stdout.readline())
        return None


class Files(SimpleHTTPRequestHandler):
    """A file server that passes requests of the stand-in to the engine."""

    engine = None

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        said = (self.engine.told(self.path, body) or "").encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Return the address of the built page, and the engine behind it."""
    folder = tmp_path_factory.mktemp("alone")
    pyodide = Path(PYODIDE) if PYODIDE else folder / "pyodide"
    if not PYODIDE:
        pyodide.mkdir()
        files = {name: {"file_name": f"{name}.whl"} for name in ("numpy", "scipy", "sympy", "mpmath", "elsewhere")}
        (pyodide / "pyodide-lock.json").write_text(json.dumps({"packages": files}))
        (pyodide / "pyodide.mjs").write_text(STAND_IN)
        for name in ("numpy", "scipy", "sympy"):
            (pyodide / f"{name}.whl").touch()
    loaded = page_builder().built(folder / "site", pyodide)
    engine = Engine(folder)
    handler = type("OfEngine", (Files,), {"engine": engine})
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=folder / "site"))
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/", engine, loaded
    server.shutdown()
    server.server_close()
    engine.process.kill()
    engine.process.communicate()


@pytest.fixture
def page(browser, site):
    context, said = browser.new_context(viewport={"width": 1000, "height": 860}), []
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda r: None if r.url.startswith(site[0]) else said.append(r.url))
    page.goto(site[0])
    until(page, "document.querySelectorAll('#blocks .katex').length > 0")
    settled(page)
    yield page
    found = axe(page)
    context.close()
    assert said == [] and found == []


def test_formulas_and_carets(page):
    typed(page, "tr(inv(X)*A)")
    assert shown(page) == [r"-\mathbf{X}^{-\top} \mathbf{A}^\top \mathbf{X}^{-\top}"]
    fold_out(page, "explain")
    assert "rules/linalg.toml" in page.inner_text("#explain")
    typed(page, "norm2(X*w -* y)^2")
    assert page.inner_text("#fault pre").rstrip() == " " * 11 + "^"


def test_what_lies_beside_pyodide_is_loaded_before_the_engine(page, site):
    _, engine, loaded = site
    assert PYODIDE or loaded == engine.packages == ["numpy", "scipy", "sympy"]


def test_numbers_and_code_without_a_server(page, site, tmp_path):
    if "numpy" not in site[2]:
        pytest.skip("NumPy does not lie beside this Pyodide")
    typed(page, "sum(log(1 + exp(-y.*(X*w)))) + lam*w'*w")
    for name in ("convex", "check", "plan", "graph"):
        fold_out(page, name)
    assert "The numbers agree" in page.inner_text("#check") and page.locator("#check polyline").count() == 1
    assert "flops" in page.inner_text("#plan") and page.locator("#graph .node.shared").count() >= 1
    page.click("#compare > summary")
    typed(page, "lam*w - X'*(y.*sigmoid(-y.*(X*w)))", "#other")
    assert "Here the two differ" in page.inner_text("#compare .verdict")
    page.check("input[name=form][value=numpy]", force=True)
    until(page, "document.querySelector('#code').textContent.includes('def f(')")
    settled(page)
    page.click("#copy")
    until(page, "document.querySelector('#said').textContent === 'Copied'")
    file = tmp_path / "f_numpy.py"
    file.write_text(page.evaluate("navigator.clipboard.readText()"))
    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_is_not_in_a_browser_is_said(page, site):
    if "numpy" in site[2]:
        pytest.skip("NumPy is there")
    fold_out(page, "explain")
    picture(page, "page_alone", full_page=True)
    fold_out(page, "check")
    assert "this needs numpy, which is not in the browser" in page.inner_text("#check")


def test_a_python_that_cannot_be_loaded_is_said(browser, site, tmp_path):
    page_builder().built(tmp_path)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Files, directory=tmp_path))
    Thread(target=server.serve_forever, daemon=True).start()
    page = browser.new_page()
    page.goto(f"http://127.0.0.1:{server.server_address[1]}/")
    page.wait_for_selector("#fault p")
    settled(page)
    assert "Python could not be loaded" in page.inner_text("#fault")
    page.close()
    server.shutdown()
    server.server_close()
