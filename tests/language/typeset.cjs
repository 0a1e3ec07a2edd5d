// Typeset LaTeX by KaTeX and, where a folder of mathjax-full is named, by MathJax; write what they refuse.
// node typeset.cjs KATEX FORMULAS.json [MATHJAX]: KATEX is katex.min.js.

const [katexFile, formulasFile, mathjax] = process.argv.slice(2);
const katex = require(katexFile);
const formulas = JSON.parse(require("fs").readFileSync(formulasFile, "utf-8"));
const refused = [];
const commands = new Set();

for (const latex of formulas) {
  for (const command of latex.match(/\\([A-Za-z]+|.)/gs) || []) commands.add(command);
  try {
    katex.renderToString(latex, { displayMode: true, throwOnError: true, strict: "error", trust: false });
  } catch (fault) {
    refused.push(["KaTeX", String(fault.message), latex]);
  }
}

if (mathjax) {
  const at = (path) => require(`${mathjax}/js/${path}`);
  const adaptor = at("adaptors/liteAdaptor.js").liteAdaptor();
  at("handlers/html.js").RegisterHTMLHandler(adaptor);
  for (const name of ["base/BaseConfiguration.js", "ams/AmsConfiguration.js", "boldsymbol/BoldsymbolConfiguration.js"]) at(`input/tex/${name}`);
  const { TeX } = at("input/tex.js");
  const raised = { formatError: (_, fault) => { throw fault; } };
  const InputJax = new TeX({ packages: ["base", "ams", "boldsymbol"], ...raised });
  const document = at("mathjax.js").mathjax.document("", { InputJax });
  for (const latex of formulas) {
    try {
      document.convert(latex, { display: true, end: at("core/MathItem.js").STATE.CONVERT });
    } catch (fault) {
      refused.push(["MathJax", String(fault.message), latex]);
    }
  }
}
process.stdout.write(JSON.stringify({ refused, commands: [...commands].sort() }));
