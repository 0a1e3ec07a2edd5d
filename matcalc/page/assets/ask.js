// Questions to the server. Of each topic the latest counts: what was asked before it is dropped.

let token = "";

/** Keep the token that the address came with, or its key is exchanged for, out of sight and for other tabs. */
export async function takeToken(fields) {
  const entered = fields.once ? await send({}, new AbortController().signal, "/enter", fields.once) : {};
  const given = fields.token || entered.token;
  if (given) localStorage.setItem("token", given);
  token = given || localStorage.getItem("token") || "";
}

async function send(question, signal, path = "/ask", key = token) {
  try {
    const headers = { "Content-Type": "application/json", "X-Matcalc-Token": key };
    const answer = await fetch(path, { method: "POST", headers, body: JSON.stringify(question), signal });
    return await answer.json();
  } catch {
    if (signal.aborted) return null;
    return { error: { message: "The server does not answer: start it again with `matcalc serve`." } };
  }
}

const asked = new Map();
let under = 0;

/** Count what is under way: the page says that it is busy until nothing is. */
export function busy(change) {
  under += change;
  document.querySelector("main").setAttribute("aria-busy", String(under > 0));
}

/** Return the answer, or null where another question of its topic came after it, which ends this one. */
export async function ask(question) {
  drop(question.topic);
  const line = new AbortController();
  asked.set(question.topic, line);
  busy(1);
  const answer = await send(question, line.signal);
  busy(-1);
  return asked.get(question.topic) === line ? answer : null;
}

/** Wait no longer for what is asked on this topic. */
export function drop(topic) {
  asked.get(topic)?.abort();
  asked.delete(topic);
}
