// Questions to matcalc in this browser: a worker runs it. Of each topic the latest counts.

const worker = new Worker("engine.js", { type: "module" });
const waiting = new Map();
let count = 0;
worker.addEventListener("message", ({ data: { number, answer } }) => {
  waiting.get(number)?.(JSON.parse(answer));
  waiting.delete(number);
});
worker.addEventListener("error", (fault) => {
  fault.preventDefault();
  for (const [number, told] of waiting) told({ error: { message: "Python could not be loaded: see how this page is built." } }) || waiting.delete(number);
});

/** There is no server, and so no token. */
export async function takeToken() {}

const asked = new Map();
let under = 0;

/** Count what is under way: the page says that it is busy until nothing is. */
export function busy(change) {
  under += change;
  document.querySelector("main").setAttribute("aria-busy", String(under > 0));
}

/** Return the answer, or null where another question of its topic came after it. */
export async function ask(question) {
  const number = ++count;
  drop(question.topic);
  asked.set(question.topic, number);
  busy(1);
  const answer = await new Promise((told) => { waiting.set(number, told); worker.postMessage({ number, question }); });
  busy(-1);
  return asked.get(question.topic) === number ? answer : null;
}

/** Wait no longer for what is asked on this topic. */
export function drop(topic) {
  asked.delete(topic);
}
