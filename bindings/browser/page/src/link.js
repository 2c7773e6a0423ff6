// The state of the page as the fragment of its address, and as a command.

async function through(stream, bytes) {
  const body = new Blob([bytes]).stream().pipeThrough(stream);
  return new Uint8Array(await new Response(body).arrayBuffer());
}

async function packed(text) {
  const bytes = await through(new CompressionStream("deflate-raw"), new TextEncoder().encode(text));
  const letters = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

async function unpacked(code) {
  const letters = atob(code.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
  return new TextDecoder("utf-8", { fatal: true }).decode(await through(new DecompressionStream("deflate-raw"), bytes));
}

/// The fragment of a state { scenario: NAME | null, text, policies: [..] | null, set: Map, sweep: Map, seed: N | null,
/// metric, show, at: [FROM, TO] in nanoseconds | null, kept: another fragment without # | "", embed: bool, predict: bool }.
export async function fragment(state) {
  const parameters = new URLSearchParams();
  if (state.scenario) parameters.set("scenario", state.scenario);
  else parameters.set("yaml", await packed(state.text));
  if (state.policies) parameters.set("policy", state.policies.join(","));
  for (const [path, value] of state.set) parameters.append("set", `${path}=${value}`);
  for (const [path, values] of state.sweep) parameters.append("sweep", `${path}=${values}`);
  if (state.seed !== null) parameters.set("seed", String(state.seed));
  for (const key of ["metric", "show", "kept"]) if (state[key]) parameters.set(key, state[key]);
  if (state.at) parameters.set("at", state.at.map(Math.round).join("-"));
  for (const key of ["embed", "predict"]) if (state[key]) parameters.set(key, "1");
  return `#${parameters}`;
}

/// The state of a fragment; `text` is null for built-in scenarios. Throws a sentence if the link is broken.
export async function parse(hash) {
  const parameters = new URLSearchParams(hash.replace(/^#/, ""));
  const code = parameters.get("yaml");
  let text = null;
  if (code !== null) {
    try {
      text = await unpacked(code);
    } catch {
      throw new Error("The scenario in the link cannot be read: part of the link is missing or changed.");
    }
  }
  const seed = parameters.get("seed");
  if (seed !== null && !/^\d{1,15}$/.test(seed)) throw new Error(`The seed in the link must be a whole number, not ${seed}.`);
  const pairs = (key) => new Map(parameters.getAll(key).map((one) => {
    const at = one.indexOf("=");
    return at < 0 ? [one, ""] : [one.slice(0, at), one.slice(at + 1)];
  }));
  const at = /^(\d{1,15})-(\d{1,15})$/.exec(parameters.get("at") ?? "");
  if (parameters.get("at") && (!at || Number(at[1]) >= Number(at[2]))) {
    throw new Error(`The moment in the link must be two times in nanoseconds, such as at=1000-2000, not ${parameters.get("at")}.`);
  }
  return {
    scenario: code === null ? parameters.get("scenario") : null,
    text,
    policies: parameters.get("policy")?.split(",").filter(Boolean) ?? null,
    set: pairs("set"),
    sweep: pairs("sweep"),
    metric: parameters.get("metric") ?? "",
    show: parameters.get("show") ?? "",
    kept: parameters.get("kept") ?? "",
    at: at ? [Number(at[1]), Number(at[2])] : null,
    embed: parameters.get("embed") === "1",
    predict: parameters.get("predict") === "1",
    seed: seed === null ? null : Number(seed),
  };
}

const quoted = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

/// The equal command of the command-line program.
export function command(state) {
  const words = ["oversim", "run", state.scenario ?? "scenario.yaml"];
  if (state.policies) words.push("--policy", state.policies.join(","));
  for (const [path, value] of state.set) words.push("--set", `${path}=${value}`);
  for (const [path, values] of state.sweep) words.push("--sweep", `${path}=${values}`);
  if (state.seed !== null) words.push("--seed", String(state.seed));
  return words.map(quoted).join(" ");
}
