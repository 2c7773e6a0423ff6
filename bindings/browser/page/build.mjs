// Bundles the page into dist/: `node build.mjs`, after ../build.
import { build } from "esbuild";
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const dist = join(here, "dist");
rmSync(dist, { recursive: true, force: true });
mkdirSync(dist);
const { metafile } = await build({
  metafile: true,
  absWorkingDir: here,
  entryPoints: ["src/app.js", "src/worker.js", "src/style.css"],
  outdir: dist,
  bundle: true,
  minify: true,
  format: "esm",
  target: ["chrome111", "firefox115", "safari16.4"],
  logLevel: "warning",
});
copyFileSync(join(here, "src/index.html"), join(dist, "index.html"));
copyFileSync(join(here, "../pkg/web/oversim_browser_bg.wasm"), join(dist, "oversim.wasm"));

// The licences of what the page contains: the crates of the simulator, then the packages of the bundle.
const packages = Object.keys(metafile.inputs).map((file) => /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(file)?.[0]);
const notices = [...new Set(packages.filter(Boolean))].sort().map((folder) => {
  const { name, version, license } = JSON.parse(readFileSync(join(here, folder, "package.json")));
  const texts = readdirSync(join(here, folder)).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file));
  if (texts.length === 0) throw new Error(`${name} has no file with its licence`);
  const text = texts.map((file) => readFileSync(join(here, folder, file), "utf8").trim()).join("\n\n");
  return `\n${"=".repeat(80)}\n${name} ${version}: ${license} (npm)\n\n${text}\n`;
});
const crates = readFileSync(join(here, "../THIRD-PARTY-NOTICES.txt"), "utf8");
writeFileSync(join(dist, "THIRD-PARTY-NOTICES.txt"), crates + notices.join(""));
