// What the page shows, as text fields that stand in the fragment of its address: a link brings them back.

export const START = {
  formula: "norm2(X*w - y)^2", declarations: "", dialect: "matrix", wrt: "", how: "gradient", form: "text", other: "",
  part: "formula", named: "", open: "",
};

export function fieldsOf(fragment) {
  return Object.fromEntries(new URLSearchParams(fragment.replace(/^#/, "")));
}

/** Return the state of a fragment; what it does not say is as at the start. */
export function restored(fields) {
  const known = Object.entries(fields).filter(([name]) => name in START);
  return { ...START, ...Object.fromEntries(known) };
}

/** Return the fragment of a state: what differs from the start. */
export function fragmentOf(state) {
  const told = Object.entries(state).filter(([name, value]) => value !== START[name] || name === "formula");
  return "#" + new URLSearchParams(told);
}
