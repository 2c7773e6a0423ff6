// The same bytes in WebAssembly and in the command-line program: every built-in scenario that takes less than a second
// there, with one replicate. `node tests/same_bytes.mjs PROGRAM`, after `./build`.
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";

const program = process.argv[2] ?? "../../target/release/oversim";
globalThis.oversimProgress = () => {};
const oversim = createRequire(import.meta.url)("../pkg/node/oversim_browser.js");

/// Scenarios that take longer natively are left out, in milliseconds.
const LONGEST = 1000;

let compared = 0;
const [different, leftOut] = [[], []];
for (const { name, text } of JSON.parse(oversim.scenarios())) {
  const native = spawnSync(program, ["run", name, "--repeat", "1", "--format", "json", "--quiet", "--jobs", "1"], {
    timeout: LONGEST,
    maxBuffer: 1 << 28,
  });
  if (native.error?.code === "ETIMEDOUT") {
    leftOut.push(name);
    continue;
  }
  compared += 1;
  if (oversim.json(text, JSON.stringify({ name, repeat: 1 })) !== native.stdout.toString()) {
    different.push(name);
  }
}
console.log(`${compared} scenarios compared; left out because of their length: ${leftOut.join(", ") || "none"}`);
if (different.length > 0 || compared < 40) {
  console.error(`different: ${different.join(", ") || "none"}`);
  process.exit(1);
}
