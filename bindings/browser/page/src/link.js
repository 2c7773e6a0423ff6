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

/// The fragment of a state { scenario: NAME | null, text, policies: [..] | null, set: Map, seed: N | null }.
export async function fragment(state) {
  const parameters = new URLSearchParams();
  if (state.scenario) parameters.set("scenario", state.scenario);
  else parameters.set("yaml", await packed(state.text));
  if (state.policies) parameters.set("policy", state.policies.join(","));
  for (const [path, value] of state.set) parameters.append("set", `${path}=${value}`);
  if (state.seed !== null) parameters.set("seed", String(state.seed));
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
  return {
    scenario: code === null ? parameters.get("scenario") : null,
    text,
    policies: parameters.get("policy")?.split(",").filter(Boolean) ?? null,
    set: new Map(parameters.getAll("set").map((one) => {
      const at = one.indexOf("=");
      return at < 0 ? [one, ""] : [one.slice(0, at), one.slice(at + 1)];
    })),
    seed: seed === null ? null : Number(seed),
  };
}

const quoted = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

/// The equal command of the command-line program.
export function command(state) {
  const words = ["oversim", "run", state.scenario ?? "scenario.yaml"];
  if (state.policies) words.push("--policy", state.policies.join(","));
  for (const [path, value] of state.set) words.push("--set", `${path}=${value}`);
  if (state.seed !== null) words.push("--seed", String(state.seed));
  return words.map(quoted).join(" ");
}
