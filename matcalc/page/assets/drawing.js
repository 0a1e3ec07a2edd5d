// Drawings: the graph of a formula, and the error of differences against their step.

import { array, el, reachable, svg, typeset } from "./dom.js";

const HEIGHT = 30;

/** Return the graph; `choose` is called with a node that is clicked, or chosen by Enter or Space. */
export function graph(answer, choose) {
  const edges = answer.edges.map((edge) => line(edge.points));
  const notes = answer.edges.filter((edge) => edge.note && edge.note !== "1").map(({ points: [a, b], note }) =>
    svg("text", { class: "note", x: String(a[0] * 0.45 + b[0] * 0.55), y: String(a[1] * 0.45 + b[1] * 0.55), "text-anchor": "middle" }, note));
  const nodes = answer.nodes.map((node, k) => box(node, (event) => {
    const before = event.currentTarget.parentNode.querySelector(".chosen");
    if (before) before.classList.remove("chosen");
    event.currentTarget.classList.add("chosen");
    choose(answer.nodes[k]);
  }));
  const size = { width: String(answer.width), height: String(answer.height), viewBox: `0 0 ${answer.width} ${answer.height}` };
  const drawn = svg("svg", { ...size, role: "group", "aria-label": `Graph of ${answer.nodes.length} nodes` }, ...edges, ...notes, ...nodes);
  return reachable(el("div.drawing", {}, drawn), "Graph");
}

function line(points) {
  const [first, ...rest] = points.map(([x, y], k) => [x, y + (k === 0 ? HEIGHT / 2 : k === points.length - 1 ? -HEIGHT / 2 : 0)]);
  let path = `M${first}`;
  let [, py] = first;
  let px = first[0];
  for (const [x, y] of rest) {
    const middle = (py + y) / 2;
    path += ` C${px},${middle} ${x},${middle} ${x},${y}`;
    [px, py] = [x, y];
  }
  return svg("path", { class: "edge", d: path });
}

function box(node, choose) {
  const kinds = ["node", node.uses > 1 ? "shared" : "", ["symbol", "number", "size", "constant"].includes(node.kind) ? "leaf" : ""];
  const shape = node.shape.length ? `shape ${node.shape.join(" by ")}` : "a number";
  const uses = node.uses > 1 ? `, used ${node.uses} times` : "";
  const told = (event) => { if (["Enter", " "].includes(event.key)) { event.preventDefault(); choose(event); } };
  return svg("g", { class: kinds.join(" "), role: "button", tabindex: "0", "aria-label": `${node.name}: ${node.text || node.says}, ${shape}${uses}`, onclick: choose, onkeydown: told },
    svg("rect", { x: String(node.x - node.width / 2), y: String(node.y - HEIGHT / 2), width: String(node.width), height: String(HEIGHT), rx: "7" }),
    svg("text", { x: String(node.x), y: String(node.y + 4.5), "text-anchor": "middle" }, node.name));
}

/** Return what is known of a node. */
export function about(node, sizes) {
  const at = Object.entries(sizes).map(([name, length]) => `${name} = ${length}`).join(", ");
  const rows = {
    formula: node.latex ? typeset(node.latex, node.text) : node.says,
    "as it is held": el("code", {}, node.says),
    shape: node.shape.length ? `(${node.shape.join(", ")})` : "a number",
    facts: node.facts.join(", ") || "none",
    used: node.uses > 1 ? `${node.uses} times, computed once` : node.uses ? "once" : "it is the result",
    [`value${at ? ` at ${at}` : ""}`]: node.value === null ? "too large to show, or none" : array(node.value),
  };
  return el("dl", {}, ...Object.entries(rows).flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
}

const [WIDE, HIGH, LEFT, BOTTOM, TOP, RIGHT] = [560, 250, 62, 42, 12, 26];

/** Return the plot of errors against steps, both in powers of ten. */
export function curve({ steps, errors }) {
  const [low, high] = [-14, 0];
  const floor = -17, roof = Math.max(1, Math.ceil(Math.log10(Math.max(...errors))));
  const x = (h) => LEFT + ((high - Math.log10(h)) / (high - low)) * (WIDE - LEFT - RIGHT);
  const y = (e) => TOP + ((roof - Math.log10(e)) / (roof - floor)) * (HIGH - TOP - BOTTOM);
  const points = steps.map((h, k) => [x(h), y(errors[k])].map((v) => v.toFixed(1)));
  const made = [];
  for (let k = -16; k <= roof; k += 4) {
    made.push(svg("line", { class: "axis", x1: String(LEFT), x2: String(WIDE - RIGHT), y1: String(y(10 ** k)), y2: String(y(10 ** k)) }),
      svg("text", { class: "small", x: String(LEFT - 6), y: String(y(10 ** k) + 4), "text-anchor": "end" }, power(k)));
  }
  for (let k = high; k >= low; k -= 2)
    made.push(svg("text", { class: "small", x: String(x(10 ** k)), y: String(HIGH - BOTTOM + 18), "text-anchor": "middle" }, power(k)));
  made.push(svg("polyline", { class: "curve", points: points.map((p) => p.join()).join(" ") }),
    ...points.map(([px, py]) => svg("circle", { class: "dot", cx: px, cy: py, r: "2.6" })),
    svg("text", { class: "small", x: String((WIDE + LEFT) / 2), y: String(HIGH - 6), "text-anchor": "middle" }, "step of the difference"),
    svg("text", { class: "small", transform: `translate(14 ${HIGH / 2 - 10}) rotate(-90)`, "text-anchor": "middle" }, "relative error"));
  const least = Math.min(...errors).toExponential(0);
  const label = `Relative error of central differences against the derivative, for steps from 1 to 1e-14: the least is ${least}`;
  return svg("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, width: String(WIDE), role: "img", "aria-label": label }, ...made);
}

function power(k) {
  return k === 0 ? "1" : `1e${k}`;
}
