// Bundles the page into dist/: `node build.mjs`, after ../build.
import { build } from "esbuild";
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const here = dirname(fileURLToPath(import.meta.url));
const dist = join(here, "dist");
rmSync(dist, { recursive: true, force: true });
mkdirSync(dist);
// Scripts without modules run from a file, too, and in a worker that is made from a text.
const { metafile } = await build({
  metafile: true,
  absWorkingDir: here,
  entryPoints: ["src/app.js", "src/worker.js", "src/style.css"],
  outdir: dist,
  bundle: true,
  minify: true,
  format: "iife",
  define: { "import.meta.url": '""' },
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

// The whole page in one file that works without a server.
const part = (name) => readFileSync(join(dist, name));
const packed = (name, file) =>
  `<script type="application/gzip" id="packed-${name}">${gzipSync(part(file), { level: 9 }).toString("base64")}</script>\n`;
const inside = (text, open, insert) => {
  if (!text.includes(open)) throw new Error(`index.html has no ${open}`);
  return text.replace(open, () => insert);
};
let page = part("index.html").toString();
page = inside(page, '<link rel="stylesheet" href="style.css">', `<style>${part("style.css")}</style>`);
page = inside(page, '<script defer src="app.js"></script>', "");
const script = part("app.js").toString();
if (/<\/script/i.test(script)) throw new Error("app.js has the end of a script in it");
page = inside(page, "</body>", `${packed("wasm", "oversim.wasm")}${packed("worker", "worker.js")}${packed("notices", "THIRD-PARTY-NOTICES.txt")}<script>${script}</script>\n</body>`);
writeFileSync(join(dist, "playground.html"), page);

// For servers that send files which are compressed in advance: a fifth smaller than gzip.
for (const name of ["oversim.wasm", "app.js"]) {
  const params = { [constants.BROTLI_PARAM_LGWIN]: 24, [constants.BROTLI_PARAM_SIZE_HINT]: part(name).length };
  writeFileSync(join(dist, `${name}.br`), brotliCompressSync(part(name), { params }));
}
