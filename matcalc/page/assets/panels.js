// What is folded out: each panel shows the answer on its topic.

import { about, curve, graph } from "./drawing.js";
import { array, arrays, el, reachable, typeset, withFormulas } from "./dom.js";

function labelled(blocks, shown) {
  return blocks.flatMap((block) => [block.label ? el("h3", {}, block.label) : null, shown(block)]).filter(Boolean);
}

/** A line of a derivation, `3. $= ...$ ($rule$, where; ...)`: the formula, then each reason on its own line. */
function step(line) {
  const said = line.replace(/^\d+\. /, "");
  const [, formula, rest] = said.match(/^\$([^$]+)\$(.*)$/) || [null, null, said];
  if (!formula) return el("li", {}, said);
  const why = rest.trim().replace(/^\(/, "").replace(/\)$/, "");
  const reasons = [];
  for (const part of why.split("; ")) {  // a source may hold a semicolon: only what begins anew is a reason
    if (reasons.length && !part.startsWith("$") && !/^(collect|needs|product rule|[A-Z]\w* is)/.test(part)) reasons[reasons.length - 1] += `; ${part}`;
    else if (part) reasons.push(part);
  }
  return el("li", {}, typeset(formula, formula),
    reasons.length ? el("div.why", {}, ...reasons.map((reason) => el("span", {}, ...withFormulas(reason)))) : null);
}

function explain({ blocks }) {
  const shown = labelled(blocks, ({ lines }) => el("ol.steps", {}, ...lines.map(step)));
  requestAnimationFrame(() => document.querySelectorAll("#explain .why").forEach(
    (why) => why.scrollWidth > why.clientWidth && reachable(why, "Rules of this step")));
  return shown;
}

function verdict(isGood, words) {
  return el(`p.verdict.${isGood ? "yes" : "no"}`, {}, `${isGood ? "✓" : "✗"} ${words}`);
}

function compare(answer) {
  if (answer.right) {
    const [first, ...rest] = answer.lines;
    return [verdict(true, `Right: ${first}`), typeset(answer.yours, ""), ...rest.map((line) => el("p.told", {}, line))];
  }
  const made = [verdict(false, answer.data ? "Not right. Here the two differ:" : `Not right: ${answer.lines.slice(1).join(" ")}`)];
  if (answer.data) made.push(arrays(answer.data), arrays(answer.values));
  if (answer.mistake) made.push(el("p.told", {}, `Likely mistake: ${answer.mistake}`));
  made.push(el("dl", {}, el("dt", {}, "yours"), el("dd", {}, typeset(answer.yours, "")), el("dt", {}, "the derivative"), el("dd", {}, typeset(answer.truth, ""))));
  return made;
}

function convex(answer) {
  const [first, ...rest] = answer.lines;
  const made = [el(`p.verdict.${answer.verdict === "convex" ? "yes" : "no"}`, {}, first)];
  if (!answer.values.length) return [...made, ...rest.map((line) => el("p.told", {}, line))];
  return [...made, el("p.told", {}, "At this point"), arrays(answer.data), el("p.told", {}, "in this direction"),
    arrays(answer.direction), el("p.told", {}, rest[2] || ""), ...rest.slice(3).map((line) => el("p.told", {}, line))];
}

function check(answer) {
  const head = ["derivative", "sizes", "against", "error", "allowed", ""];
  const table = el("table.report", {}, el("thead", {}, el("tr", {}, ...head.map((name) => el(name ? "th" : "td", name ? { scope: "col" } : {}, name)))),
    el("tbody", {}, ...answer.rows.map((row) => el("tr", {}, ...row.map((cell) => el("td", {}, cell))))));
  const plot = answer.curve.steps.length ? [el("h3", {}, "Error of differences against their step"), curve(answer.curve)] : [];
  return [verdict(answer.right, answer.right ? "The numbers agree" : "The numbers do not agree"), reachable(el("div.scroll", {}, table), "Numeric check"), ...plot];
}

function plan(answer) {
  return [el("p.told", {}, answer.total), reachable(el("pre", {}, answer.text), "Plan")];
}

function drawn(answer) {
  const place = el("div", { "aria-live": "polite" }, el("p.known", {}, "Choose a node for its value, shape and facts. A blue frame: it is shared, and computed once."));
  return [graph(answer, (node) => place.replaceChildren(about(node, answer.sizes))), place];
}

export const PANELS = { explain, compare, convex, check, plan, graph: drawn };

function shapeOf(shape) {
  if (shape.length < 2) return shape.length ? `vector of length ${shape[0]}` : "a number";
  return `${shape.join(" × ")} ${shape.length > 2 ? "tensor" : "matrix"}`;
}

/** Return a derivative: each block typeset, and what is known of it. */
export function derivative({ blocks }, isNamed) {
  return labelled(blocks, (block) => {
    const known = [shapeOf(block.shape), ...block.facts, ...block.needs.map((need) => `needs ${need}`)].join(" · ");
    return el("div.block", {}, typeset(isNamed ? block.named : block.latex, block.text), el("p.known", {}, known));
  });
}
