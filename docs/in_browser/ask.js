// Questions to matcalc in this browser: a worker runs it, one after the other. Of each topic the latest counts.

const SECONDS = 30;
const LOADING = "Python is being loaded: ten seconds, the first time more.";
const STOPPED = `This took longer than ${SECONDS} seconds, and was stopped. \`matcalc serve\` on your machine is faster.`;

const SHOWN = document.getElementById("shown");
const queue = []; // { question, given }: the first is under way once Python is ready
let isReady = false;
let isRunning = false;
let fault = "";
let watch = 0;
let before = [];
let worker = begun();

function begun() {
  isReady = isRunning = false;
  const made = new Worker("engine.js", { type: "module" });
  made.addEventListener("message", ({ data }) => {
    if (data.fault) return fail(data.fault);
    if (data.answer) answered(JSON.parse(data.answer));
    else SHOWN.replaceChildren(...before);
    isReady = true;
    next();
  });
  made.addEventListener("error", (event) => { event.preventDefault(); fail(event.message || "it is not there"); });
  before = [...SHOWN.childNodes];
  SHOWN.textContent = LOADING;
  return made;
}

function next() {
  if (!isReady || isRunning || !queue.length) return;
  isRunning = true;
  watch = setTimeout(stop, SECONDS * 1000);
  worker.postMessage(queue[0].question);
}

function answered(answer) {
  clearTimeout(watch);
  isRunning = false;
  queue.shift().given(answer);
}

/** End what takes too long, and load Python anew for what comes after it. */
function stop() {
  worker.terminate();
  answered({ error: { message: STOPPED } });
  worker = begun();
}

function fail(why) {
  fault = `Python could not be loaded: ${why.trim().split("\n").pop()}`;
  SHOWN.replaceChildren(...before);
  while (queue.length) answered({ error: { message: fault } });
}

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
  drop(question.topic);
  if (fault) return { error: { message: fault } };
  asked.set(question.topic, question);
  busy(1);
  const answer = await new Promise((given) => { queue.push({ question, given }); next(); });
  busy(-1);
  return asked.get(question.topic) === question ? answer : null;
}

/** Wait no longer for what is asked on this topic. */
export function drop(topic) {
  asked.delete(topic);
  const at = queue.findIndex(({ question }, k) => question.topic === topic && (k > 0 || !isRunning));
  if (at >= 0) queue.splice(at, 1)[0].given(null);
}
