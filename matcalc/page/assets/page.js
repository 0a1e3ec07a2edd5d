// The page: fields make the state, the state makes questions, answers are shown.

import { ask, busy, drop, takeToken } from "./ask.js";
import { $, el, reachable, showFault, typeset } from "./dom.js";
import { derivative, PANELS } from "./panels.js";
import { fieldsOf, fragmentOf, restored } from "./state.js";
import { chip, redeclared } from "./symbols.js";

const HOW = { gradient: "Gradient", jacobian: "Jacobian", hessian: "Hessian", differential: "Differential", hvp: "Hessian × vector" };
const FORM = { text: "Text", latex: "LaTeX", sympy: "SymPy", numba: "Python (Numba)", numpy: "Python (NumPy)", c: "C" };
const PART = { formula: "the formula", derivative: "its derivative" };
const OF_SCALARS = ["gradient", "hessian", "hvp"];
const LIKELY = ["w", "x", "W", "X", "theta", "beta", "S", "U"];
const FIELDS = ["formula", "declarations", "dialect", "other"];

let state = restored({});
let known = null; // what was read of the formula, null while it cannot be read

// ---- choices

/** Show choices and what is chosen; those that stand there stay, and with them the keyboard's place. */
function pills(name, choices, type = "radio") {
  const place = $(name);
  const there = [...place.querySelectorAll("input")];
  const chosen = type === "radio" ? [name === "how" ? how() : state[name]] : state[name].split(",");
  if (there.map((input) => input.value).join() === Object.keys(choices).join()) {
    for (const input of there) input.checked = chosen.includes(input.value);
    return;
  }
  place.querySelectorAll(".pill").forEach((pill) => pill.remove());
  for (const [value, text] of Object.entries(choices)) {
    const input = el("input", { type, name, value, checked: chosen.includes(value), onchange: () => choose(name) });
    place.append(el("label.pill", {}, input, el("span", {}, text)));
  }
}

function choose(name) {
  const chosen = [...$(name).querySelectorAll("input:checked")].map((input) => input.value);
  if (!chosen.length) return pills(name, Object.fromEntries(known.symbols.map((s) => [s.name, s.name])), "checkbox");
  set({ [name]: chosen.join(",") });
  if (name === "form") return write();
  return name === "part" ? panel("graph") : derive();
}

function set(changes) {
  state = { ...state, ...changes };
  history.replaceState(null, "", fragmentOf(state));
}

// ---- reading

let waiting = 0;
let awaited = null;

/** Run when nothing was typed for a moment; reading, which ends in all else, is not given up for another. */
function later(run, moment) {
  if (!waiting) busy(1);
  clearTimeout(waiting);
  awaited = waiting && awaited === read ? read : run;
  waiting = setTimeout(() => { now(); awaited(); }, moment);
}

function now() {
  if (waiting) busy(-1);
  clearTimeout(waiting);
  waiting = 0;
}

async function read() {
  now();
  set(Object.fromEntries(FIELDS.map((name) => [name, $(name).value])));
  if (!state.formula.trim()) return refuse(null);
  const answer = await ask({ topic: "read", ...only("formula", "declarations", "dialect") });
  if (!answer) return;
  if (answer.error) return refuse(answer.error);
  refuse(null);
  known = answer;
  $("shown").replaceChildren(typeset(answer.latex, answer.text));
  stale(false);
  showSymbols();
  derive();
}

function refuse(error) {
  known = error || !state.formula.trim() ? null : known;
  if (error && error.symbols && error.symbols.length) showChips(error.symbols);
  const inDeclarations = error && error.text !== undefined && error.text !== state.formula && error.text === state.declarations;
  showFault($("formula"), $("fault"), inDeclarations ? { message: "The declarations cannot be read." } : error, error ? mends(error) : []);
  showFault($("declarations"), $("declarations-fault"), inDeclarations ? error : null);
  if (inDeclarations) $("more-declarations").open = true;
  if (error || !state.formula.trim()) stale(true);
}

/** Return what would mend an error, where it says so: another dialect, or kinds that fit. */
function mends({ hint = "" }) {
  const [, dialect] = hint.match(/dialect="(\w+)"/) || [];
  const [, fits] = hint.match(/(?:it fits with|declare it, as in) {2}(.*)$/m) || [];
  const named = dialect ? [[`Read it as ${$("dialect").querySelector(`[value=${dialect}]`).textContent}`, () => { $("dialect").value = dialect; }]] : [];
  const declared = (fits || "").split(" | ").filter((text) => text && text !== "...").map((text) => [`Declare ${text}`, () => {
    for (const one of text.split("; ")) $("declarations").value = redeclared($("declarations").value, one.split(":")[0], one);
  }]);
  return [...named, ...declared].map(([words, run]) => [words, () => { run(); $("formula").focus(); read(); }]);
}

function stale(isStale) {
  if (isStale && $("blocks").childElementCount) $("result-title").textContent = `${$("result-title").dataset.text}, of the formula before`;
  for (const place of [$("shown"), $("blocks"), $("code"), ...document.querySelectorAll(".panel .body")]) place.classList.toggle("stale", isStale);
}

function showChips(symbols) {
  const open = $("symbols").querySelector("details[open]");
  const focused = document.activeElement && document.activeElement.dataset ? document.activeElement.dataset.fact : null;
  $("symbols").replaceChildren(...symbols.map((symbol) =>
    chip(symbol, Boolean(open) && open.dataset.name === symbol.name, (text) => declare(symbol.name, text))));
  if (focused) $("symbols").querySelector(`[open] [data-fact="${focused}"]`)?.focus();
}

function showSymbols() {
  showChips(known.symbols);
  const names = known.symbols.map((symbol) => symbol.name);
  const kept = state.wrt.split(",").filter((name) => names.includes(name));
  const likely = LIKELY.find((name) => names.includes(name)) || names[0] || "";
  set({ wrt: kept.join(",") || likely });
  pills("wrt", Object.fromEntries(names.map((name) => [name, name])), "checkbox");
  pills("how", HOW);
  for (const input of $("how").querySelectorAll("input")) input.disabled = known.shape.length > 0 && OF_SCALARS.includes(input.value);
}

function declare(name, text) {
  $("declarations").value = redeclared(state.declarations, name, text);
  read();
}

// ---- answers

function only(...names) {
  return Object.fromEntries(names.map((name) => [name, state[name]]));
}

function question(topic, ...more) {
  return { topic, ...only("formula", "declarations", "dialect", "wrt", ...more), how: how() };
}

/** The derivative that is shown: of what is no number, the Jacobian stands for those that only numbers have. */
function how() {
  return known && known.shape.length && OF_SCALARS.includes(state.how) ? "jacobian" : state.how;
}

function title() {
  return state.wrt ? `${HOW[how()]} in ${state.wrt.replaceAll(",", ", ")}` : "Derivative";
}

async function derive() {
  if (!known) return;
  $("result-title").textContent = $("result-title").dataset.text = title();
  for (const name of ["write", ...Object.keys(PANELS)]) drop(name);
  if (!state.wrt) {
    $("blocks").replaceChildren(el("p.known", {}, "There is no variable in it."));
    return emptied();
  }
  const answer = await ask(question("derive"));
  if (!answer) return;
  show($("blocks"), answer, (found) => derivative(found, Boolean(state.named)));
  if (answer.error && !answer.error.kind) return emptied(); // it was stopped, as all that needs it would be
  write();
  for (const name of Object.keys(PANELS)) panel(name);
}

function emptied() {
  for (const place of [$("code"), ...document.querySelectorAll(".panel .body")]) place.replaceChildren();
}

function show(place, answer, shown) {
  place.classList.remove("stale");
  place.replaceChildren(...(answer.error ? [el("p.problem", {}, answer.error.shown || answer.error.message)] : shown(answer)));
}

async function write() {
  if (!known) return;
  pills("form", FORM);
  const form = state.form === "text" && state.named ? "named" : state.form;
  const answer = await ask({ ...question("write"), form });
  if (!answer) return;
  show($("code"), answer, (found) => [found.text]);
  $("code").classList.toggle("wrapped", !["numba", "numpy", "c"].includes(state.form));
}

async function panel(name) {
  if (!known || !$(name).open) return;
  const place = $(name).querySelector(".body");
  if (name === "graph") pills("part", PART);
  if (name === "compare") {
    showFault($("other"), $("other-fault"), null);
    if (!state.other.trim()) return place.replaceChildren(el("p.known", {}, "A wrong one is answered with the smallest numbers at which it differs."));
  }
  if (!place.childElementCount) place.replaceChildren(el("p.known", {}, "…"));
  const answer = await ask({ ...question(name), ...(name === "compare" ? only("other") : {}), ...(name === "graph" ? only("part") : {}) });
  if (!answer) return;
  if (name === "compare" && answer.error && answer.error.text === state.other) {
    place.replaceChildren();
    return showFault($("other"), $("other-fault"), answer.error);
  }
  show(place, answer, PANELS[name]);
}

// ---- fields and keys

async function copy(text, said) {
  await navigator.clipboard.writeText(text);
  $("said").textContent = said;
  return true;
}

function flash(button, text) {
  const before = button.dataset.text || button.textContent;
  button.dataset.text = before;
  button.textContent = text;
  setTimeout(() => { button.textContent = before; }, 1400);
}

function fill() {
  for (const name of FIELDS) $(name).value = state[name];
  $("named").checked = Boolean(state.named);
  $("more-declarations").open = Boolean(state.declarations) && $("more-declarations").open;
  for (const name of Object.keys(PANELS)) $(name).open = state.open.split(",").includes(name);
  pills("how", HOW);
  pills("form", FORM);
  read();
}

async function gallery() {
  const examples = await (await fetch("gallery.json")).json();
  const place = $("gallery");
  place.append(...examples.map((example, k) => el("option", { value: String(k) }, example.name)));
  place.addEventListener("change", () => {
    const { name, ...fields } = examples[Number(place.value)] || {};
    if (name) { state = restored({ ...only("form", "open", "named"), ...fields }); fill(); }
  });
}

function keys(event) {
  const isTyping = ["TEXTAREA", "SELECT"].includes(event.target.tagName) || event.target.type === "text";
  if (event.key === "/" && !isTyping) { event.preventDefault(); $("formula").focus(); }
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); $("copy").click(); }
}

async function start() {
  const fields = fieldsOf(location.hash);
  await takeToken(fields);
  state = restored(fields);
  for (const name of ["formula", "declarations"]) $(name).addEventListener("input", () => later(read, 180));
  $("dialect").addEventListener("change", read);
  $("other").addEventListener("input", () => { set({ other: $("other").value }); later(() => panel("compare"), 250); });
  $("named").addEventListener("change", () => { set({ named: $("named").checked ? "1" : "" }); derive(); });
  for (const name of Object.keys(PANELS)) $(name).addEventListener("toggle", () => {
    set({ open: Object.keys(PANELS).filter((panelName) => $(panelName).open).join(",") });
    panel(name);
  });
  $("copy").addEventListener("click", async () => await copy($("code").textContent, "Copied") && flash($("copy"), "Copied"));
  $("link").addEventListener("click", async () => await copy(`${location.origin}${location.pathname}${fragmentOf(state)}`, "Link copied") && flash($("link"), "Link copied"));
  document.addEventListener("keydown", keys);
  window.addEventListener("hashchange", () => { state = restored(fieldsOf(location.hash)); fill(); });
  gallery();
  fill();
}

start();
