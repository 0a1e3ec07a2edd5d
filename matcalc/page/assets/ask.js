// Questions to the server. Of each topic the latest counts: what was asked before it is dropped.

let token = "";

/** Keep the token that the address came with, out of sight and for other tabs; links are shared without it. */
export function takeToken(fields) {
  if (fields.token) localStorage.setItem("token", fields.token);
  token = fields.token || localStorage.getItem("token") || "";
}

async function send(question) {
  try {
    const headers = { "Content-Type": "application/json", "X-Matcalc-Token": token };
    const answer = await fetch("/ask", { method: "POST", headers, body: JSON.stringify(question) });
    return await answer.json();
  } catch {
    return { error: { message: "The server does not answer: start it again with `matcalc serve`." } };
  }
}

const asked = new Map();

/** Return the answer, or null where another question of its topic came after it. One at a time is under way. */
export async function ask(question) {
  const mine = { question };
  const before = asked.get(question.topic);
  asked.set(question.topic, mine);
  if (before) await before.answer;
  if (asked.get(question.topic) !== mine) return null;
  mine.answer = send(question);
  const answer = await mine.answer;
  return asked.get(question.topic) === mine ? answer : null;
}

/** Drop what is asked on this topic. */
export function drop(topic) {
  const before = asked.get(topic);
  if (before) asked.set(topic, { answer: before.answer });
}
