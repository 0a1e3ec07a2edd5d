// Elements, typeset formulas, arrays. Text becomes text nodes, never markup.

export const $ = (id) => document.getElementById(id);

/** Make an element: `el("p.told", {id: ...}, child, ...)`; what is not an element becomes text. */
export function el(kind, given = {}, ...children) {
  const [tag, ...classes] = kind.split(".");
  const made = document.createElement(tag);
  if (classes.length) made.className = classes.join(" ");
  return filled(made, given, children);
}

const SVG = "http://www.w3.org/2000/svg";

export function svg(tag, given = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), given, children);
}

function filled(made, given, children) {
  for (const [name, value] of Object.entries(given)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name in made && typeof value !== "string") made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/** Typeset LaTeX, with MathML for screen readers; `text` stands where it cannot be set, or is too long to be looked at. */
export function typeset(latex, text, displayMode = true) {
  const place = el(displayMode ? "div.math" : "span");
  if (latex.length > 20000) return el("pre.wrapped", {}, text);
  try {
    katex.render(latex, place, { displayMode, throwOnError: true, trust: false, strict: false, maxExpand: 2000 });
  } catch {
    return el("pre.wrapped", {}, text || latex);
  }
  if (displayMode) requestAnimationFrame(() => place.scrollWidth > place.clientWidth && reachable(place, "Formula"));
  return place;
}

/** Let the keyboard scroll what is wider than the page. */
export function reachable(place, label) {
  place.tabIndex = 0;
  place.setAttribute("role", "region");
  place.setAttribute("aria-label", label);
  return place;
}

/** Return Markdown of a derivation as nodes: formulas between dollar signs, and words. */
export function withFormulas(markdown, displayMode = false) {
  return markdown.split(/\$([^$]+)\$/).map((part, k) => (k % 2 ? typeset(part, part, displayMode) : part));
}

const short = (v) => (typeof v === "number" ? String(Number(v.toPrecision(5))) : String(v));

/** Return a number, vector or matrix to look at. */
export function array(value) {
  if (!Array.isArray(value)) return el("code", {}, short(value));
  const rows = value.length && Array.isArray(value[0]) ? value : value.map((v) => [v]);
  if (rows.some((row) => row.some(Array.isArray))) return el("code", {}, JSON.stringify(value));
  if (!rows.length || !rows[0].length) return el("code", {}, "empty");
  return el("table.grid", { role: "presentation" }, el("tbody", {}, ...rows.map(
    (row) => el("tr", {}, ...row.map((v) => el("td", {}, short(v)))))));
}

/** Return arrays by name, side by side. */
export function arrays(byName) {
  return el("div.values", {}, ...Object.entries(byName).map(
    ([name, value]) => el("div.value", {}, el("b", {}, name), "=", array(value))));
}

const MENDS = /^ *((it fits with|declare it, as in) {2}.*|.*dialect="\w+".*)$\n?/gm; // lines of a hint that are offered as buttons

/** Show an error below the field that it is about: the caret below the character, where the line fits.
 *  `mends`: what would mend it, as pairs of words and of what to do. */
export function showFault(field, place, error, mends = []) {
  place.replaceChildren();
  field.setAttribute("aria-invalid", String(Boolean(error)));
  if (!error) return;
  if (error.at !== undefined) place.append(el("pre", {}, caretLines(field, error)));
  place.append(el("p", {}, error.message));
  const hint = (mends.length ? (error.hint || "").replace(MENDS, "") : error.hint || "").replace(/^ +/gm, "").trim();
  if (hint) place.append(el("p.hint", {}, hint));
  if (mends.length) place.append(el("p.mends.row", {}, ...mends.map(([words, run]) => el("button", { type: "button", onclick: run }, words))));
}

function caretLines(field, error) {
  const whole = field.value;
  const style = getComputedStyle(field);
  const room = field.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
  if (error.text === whole && !whole.includes("\n") && textWidth(whole, style) <= room) {
    const below = Array.from({ length: Array.from(whole).length + 1 }, () => " ");
    for (const [begin, end] of error.marks) below.fill("~", begin, Math.min(end, below.length));
    below[error.at] = "^";
    return below.join("").trimEnd();
  }
  const lines = error.shown.split("\n");
  const caret = lines.findIndex((line) => /^ *[~ ]*\^[~ ]*$/.test(line));
  return caret > 0 ? lines.slice(caret - 1, caret + 1).map((line) => line.slice(2)).join("\n") : "";
}

function textWidth(text, style) {
  const context = document.createElement("canvas").getContext("2d");
  context.font = style.font;
  return context.measureText(text).width;
}
