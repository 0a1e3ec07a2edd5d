// matcalc in the browser's own Python. What of NumPy, SciPy and SymPy lies beside Pyodide is loaded; without it there are
// formulas, LaTeX and derivations.

import { loadPyodide } from "./pyodide/pyodide.mjs";

const ready = begun();
ready.then(() => postMessage({ ready: true }), (fault) => postMessage({ fault: String(fault) }));

async function begun() {
  const python = await loadPyodide({ indexURL: new URL("pyodide/", import.meta.url).href });
  const there = await (await fetch("packages.json")).json();
  if (there.length) await python.loadPackage(there, { messageCallback: () => {} });
  python.unpackArchive(await (await fetch("matcalc.zip")).arrayBuffer(), "zip", { extractDir: "/engine" });
  python.runPython("import sys; sys.path.insert(0, '/engine')\nfrom matcalc.page.in_browser import answer, begin\nbegin()");
  return python.globals.get("answer");
}

addEventListener("message", async ({ data: question }) => {
  const answer = await ready;
  postMessage({ answer: answer(JSON.stringify(question)) });
});
