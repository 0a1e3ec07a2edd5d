// Symbols as chips: kind, sizes and facts, declared or inferred, that can be changed.

import { el } from "./dom.js";

const KINDS = { scalar: "", vector: "n", matrix: "m, n", tensor: "m, n, k", index: "" };

/** Return the text of declarations in which `name` is declared so; the others stay. */
export function redeclared(declarations, name, text) {
  const pieces = declarations.split(/[;\n]/).map((piece) => piece.trim()).filter(Boolean);
  const kept = pieces.map((piece) => {
    const [names, ...rest] = piece.split(":");
    const others = names.split(",").map((n) => n.trim()).filter((n) => n !== name);
    return others.length && rest.length ? `${others.join(", ")}:${rest.join(":")}` : rest.length ? "" : piece;
  });
  return [...kept, text].filter(Boolean).join("; ");
}

function declared({ name, kind, sizes, facts }) {
  const shape = sizes.trim() && kind !== "scalar" ? `(${sizes.trim()})` : "";
  return [`${name}: ${kind}${shape}`, ...facts].join(" ");
}

/** Return the chip of a symbol; `change` is called with its new declaration, or with "" to have it inferred. */
export function chip(symbol, isOpen, change) {
  const shape = symbol.sizes && symbol.kind !== "scalar" ? `(${symbol.sizes})` : "";
  const facts = symbol.facts.length ? el("em", {}, ` ${symbol.facts.join(" ")}`) : null;
  const title = [symbol.inferred ? "inferred" : "declared", symbol.known.length ? `so also ${symbol.known.join(", ")}` : ""];
  const summary = el("summary", { title: title.filter(Boolean).join("; ") },
    el("b", {}, symbol.name), ` ${symbol.kind}${shape}`, facts, symbol.inferred && symbol.kind !== "?" ? el("i", {}, " inferred") : null);
  const told = (changes) => change(declared({ ...symbol, ...changes }));
  const kinds = [...(symbol.kind in KINDS ? [] : [symbol.kind]), ...Object.keys(KINDS)].map((kind) => el("option", { value: kind, selected: kind === symbol.kind }, kind));
  const kind = el("select", { onchange: () => told({ kind: kind.value, sizes: KINDS[kind.value], facts: [] }) }, ...kinds);
  const sizes = el("input", { type: "text", value: symbol.sizes, size: "10", onchange: () => told({ sizes: sizes.value }) });
  const boxes = symbol.may.map((fact) => {
    const box = el("input", {
      type: "checkbox", checked: symbol.facts.includes(fact), "data-fact": fact,
      onchange: () => told({ facts: box.checked ? [...symbol.facts, fact] : symbol.facts.filter((f) => f !== fact) }),
    });
    return el("label", {}, box, ` ${fact}`);
  });
  const edit = el("div.edit", {}, el("label", {}, "kind", kind),
    ["scalar", "?"].includes(symbol.kind) ? null : el("label", {}, "sizes", sizes),
    boxes.length ? el("div.facts", { role: "group", "aria-label": `facts of ${symbol.name}` }, ...boxes) : null,
    symbol.inferred ? null : el("button", { type: "button", onclick: () => change("") }, "Let it be inferred"));
  const made = el("details.chip", { "data-name": symbol.name, open: isOpen }, summary, edit);
  if (symbol.inferred) made.classList.add("inferred");
  return made;
}
