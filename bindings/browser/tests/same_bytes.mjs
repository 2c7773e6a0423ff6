// The same bytes in WebAssembly and in the command-line program: every built-in scenario that takes less than a second there,
// with one replicate. `node tests/same_bytes.mjs PROGRAM` after `./build`; `node tests/same_bytes.mjs PROGRAM PLAYGROUND` tests
// the module in the playground of a release, with the JavaScript beside it.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";

const here = dirname(fileURLToPath(import.meta.url));
const program = process.argv[2] ?? join(here, "../../../target/release/oversim");
const playground = process.argv[3];
const [script, file] = playground
  ? [join(playground, "oversim.js"), join(playground, "oversim.wasm")]
  : [join(here, "../pkg/web/oversim_browser.js"), join(here, "../pkg/web/oversim_browser_bg.wasm")];
if (!existsSync(program)) throw new Error(`there is no program ${program}`);

const module = readFileSync(file);
if (playground) {
  // The page in one file contains the module, too.
  const page = readFileSync(join(playground, "playground.html"), "utf8");
  const packed = /id="packed-wasm">([^<]*)</.exec(page)?.[1] ?? "";
  if (!gunzipSync(Buffer.from(packed, "base64")).equals(module)) throw new Error("playground.html has another module");
}
globalThis.oversimProgress = () => {};
// Older versions of Node.js take a file of this name for a script without exports.
const oversim = await import(`data:text/javascript;base64,${readFileSync(script).toString("base64")}`);
oversim.initSync({ module });

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
  if (native.status > 1 || native.stdout.length === 0) {
    different.push(`${name} (exit status ${native.status})`);
  } else if (oversim.json(text, JSON.stringify({ name, repeat: 1 })) !== native.stdout.toString()) {
    different.push(name);
  }
}
if (leftOut.length > 0) console.log(`left out because of their length: ${leftOut.join(", ")}`);
console.log(`${compared - different.length} of ${compared} scenarios give the same bytes`);
if (different.length > 0 || compared < 40) {
  console.error(`different: ${different.join(", ") || "none"}`);
  process.exit(1);
}
