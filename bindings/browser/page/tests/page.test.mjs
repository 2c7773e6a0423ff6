// The page in a real browser: `npm test` after ../build. CHROMIUM names another program.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, statSync } from "node:fs";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { chromium } from "playwright-core";

import { serve } from "../serve.mjs";
import { half } from "../src/look.js";

const shots = new URL("../screenshots/", import.meta.url).pathname;
let [server, browser, address] = [];

before(async () => {
  mkdirSync(shots, { recursive: true });
  server = await serve(0);
  address = `http://127.0.0.1:${server.address().port}/`;
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
      "--disable-component-update", "--disable-sync"],
  });
});

after(async () => {
  await browser?.close();
  server?.close();
});

async function open(hash = "", options = {}) {
  const context = await browser.newContext({ viewport: { width: 1400, height: 1000 }, ...options });
  const page = await context.newPage();
  page.problems = [];
  page.requests = [];
  page.on("pageerror", (error) => page.problems.push(error.message));
  page.on("console", (message) => message.type() === "error" && page.problems.push(message.text()));
  page.on("request", (request) => page.requests.push(request.url()));
  await page.goto(address + hash);
  return page;
}

const state = (page, name, timeout = 60000) =>
  page.waitForFunction((wanted) => document.documentElement.dataset.state === wanted && document.documentElement.dataset.words, name, { timeout });
const digest = (page) => page.evaluate(() => document.documentElement.dataset.digest);

/// Waits until the shown result is another one and complete.
async function another(page, old) {
  await page.waitForFunction((before) => {
    const { dataset } = document.documentElement;
    return dataset.state === "done" && dataset.digest !== before;
  }, old, { timeout: 60000 });
  return digest(page);
}

async function close(page) {
  assert.deepEqual(page.problems, []);
  await page.context().close();
}

const overflow = (page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

test("the page loads less than 1.5 MB, and the single file has less than 3.2 MB", async () => {
  const page = await open();
  await state(page, "done");
  // What the browser has received: compressed, with headers.
  const loaded = await page.evaluate(() => performance.getEntriesByType("resource").filter((one) => /^http/.test(one.name))
    .map((one) => [one.name.replace(/^.*\//, ""), one.transferSize]));
  const all = loaded.reduce((sum, [, size]) => sum + size, 0);
  const dist = new URL("../dist/", import.meta.url).pathname;
  const packed = ["oversim.wasm", "app.js"].map((name) => `${name} ${gzipSync(readFileSync(dist + name), { level: 9 }).length}`);
  const single = statSync(`${dist}playground.html`).size;
  console.log(`loaded: ${all} bytes (${loaded.map((one) => one.join(" ")).join(", ")}); with gzip -9: ${packed.join(", ")}`);
  console.log(`playground.html: ${single} bytes`);
  assert.ok(loaded.some(([name, size]) => name === "oversim.wasm" && size > 1e5), JSON.stringify(loaded));
  assert.ok(all < 1.5e6, `${all} bytes`);
  assert.ok(single < 3.2e6, `${single} bytes`);
  await close(page);
});

test("an interval has the unit and the decimals of its mean", () => {
  const shown = (mean, width) => half({ mean, unit: "s", ci95: [mean - width, mean + width] });
  assert.deepEqual([shown(6.86, 0.25), shown(0.00284, 0.0001), shown(1234, 56), shown(25.55, 0.0003)], ["±0.25 s", "±0.1 ms", "±56 s", ""]);
  assert.equal(half({ mean: 1, unit: "s" }), "");
});

test("the first result shows within two seconds, and nothing is loaded later", async () => {
  const page = await open();
  await state(page, "done");
  const first = Number(await page.evaluate(() => document.documentElement.dataset.first));
  console.log(`first result after ${first} ms`);
  assert.ok(first < Number(process.env.FIRST_RESULT_MS ?? 2000), `${first} ms`);
  const loaded = page.requests.length;
  await page.context().setOffline(true);
  const before = await digest(page);
  await page.locator("#set-threads_per_core").fill("2");
  await another(page, before);
  await page.locator("#scenario").selectOption("thousand_cores");
  await state(page, "running");
  await page.locator("#stop").click();
  await page.locator("#scenario").selectOption("spin_yield_block");
  await state(page, "done");
  assert.deepEqual(page.requests.filter((url) => url.startsWith("http") && !url.startsWith(address)), []);
  assert.deepEqual(page.requests.slice(loaded).filter((url) => url.startsWith("http")), []);
  await page.screenshot({ path: `${shots}first.png`, fullPage: true });
  await close(page);
});

test("the page has the licences of its crates and packages", async () => {
  const page = await open();
  const link = await page.locator("#licences").getAttribute("href");
  const text = await (await fetch(address + link)).text();
  for (const part of [/^wasm-bindgen v/m, /^@codemirror\/view [\d.]+: MIT \(npm\)$/m, /Bitstream Vera/]) assert.match(text, part);
  await close(page);
});

test("results follow a dragged slider", async () => {
  const page = await open("#scenario=seventeen_on_sixteen&set=repeat%3D1");
  await state(page, "done");
  const before = await digest(page);
  const box = await page.locator("[id='set-apps.ep.tasks']").boundingBox();
  await page.mouse.move(box.x + box.width * 0.2, box.y + box.height / 2);
  await page.mouse.down();
  for (let part = 0.2; part <= 0.55; part += 0.05) {
    await page.mouse.move(box.x + box.width * part, box.y + box.height / 2);
    await page.waitForTimeout(20);
  }
  const during = await another(page, before);
  assert.notEqual(during, before);
  await page.mouse.up();
  const tasks = await page.locator("output[for='set-apps.ep.tasks']").textContent();
  await page.waitForFunction((wanted) => document.querySelector("#command").textContent.includes(`apps.ep.tasks=${wanted}`), tasks);
  assert.match(page.url(), /set=apps\.ep\.tasks%3D/);
  const { preview, ms } = await page.evaluate(() => ({ ...document.documentElement.dataset }));
  console.log(`after the last change: bars ${preview} ms, with the timeline ${ms} ms`);
  await close(page);
});

test("text can be edited and completed", async () => {
  const page = await open("#scenario=two_hogs_one_core");
  await state(page, "done");
  const before = await digest(page);
  await page.locator(".cm-line", { hasText: "hog: { work: 2s }" }).click();
  await page.keyboard.press("End");
  for (let key = 0; key < "s } } }".length; key += 1) await page.keyboard.press("ArrowLeft");
  await page.keyboard.type("5");
  await another(page, before);
  assert.match(page.url(), /#yaml=/);
  assert.match(await page.locator("#question").textContent(), /own text/);
  await page.keyboard.press("Control+End");
  await page.keyboard.press("Enter");
  await page.keyboard.type("kern");
  await page.locator(".cm-tooltip-autocomplete li", { hasText: "kernel" }).first().waitFor();
  await page.keyboard.press("Control+Space");
  await page.waitForTimeout(100);
  await page.keyboard.press("Enter");
  await page.keyboard.type("linux-6");
  await page.locator(".cm-tooltip-autocomplete li", { hasText: "linux-6.18" }).first().waitFor();
  await page.screenshot({ path: `${shots}complete.png` });
  await close(page);
});

test("an error shows at its line with its help", async () => {
  const page = await open("#scenario=two_hogs_one_core");
  await state(page, "done");
  await page.locator(".cm-line", { hasText: "machine:" }).click();
  await page.keyboard.press("Home");
  await page.keyboard.press("Delete");
  await state(page, "error");
  const line = await page.locator(".cm-lineNumbers .cm-gutterElement").evaluateAll((all) => all.length);
  assert.ok(line > 5);
  assert.match(await page.locator("#errors").textContent(), /Line \d+, column 1: unknown key `achine`.*did you mean `machine`/);
  assert.equal(await page.locator(".cm-lintRange-error").textContent(), "achine");
  await page.screenshot({ path: `${shots}error.png` });
  await page.keyboard.type("m");
  await state(page, "done");
  assert.equal(await page.locator("#errors").textContent(), "");
  await page.keyboard.press("Control+a");
  await page.keyboard.type("a: [");
  await state(page, "error");
  await close(page);
});

test("a change without effect is reported", async () => {
  const page = await open("#scenario=two_hogs_one_core&set=threads_per_core%3D2");
  await state(page, "done");
  assert.match(await page.textContent("#warnings"), /threads_per_core=2 has no effect/);
  await page.selectOption("#scenario", "spin_yield_block");
  await another(page, await digest(page));
  assert.equal(await page.textContent("#warnings"), "");
  await close(page);
});

test("a long run can be stopped, and the page goes on", async () => {
  const page = await open("#scenario=thousand_cores");
  await state(page, "running");
  await page.waitForTimeout(1000);
  await page.locator("#stop").click();
  assert.equal(await page.evaluate(() => document.documentElement.dataset.state), "stopped");
  await page.locator("#scenario").selectOption("two_hogs_one_core");
  await state(page, "done");
  await close(page);
});

test("a link restores the state", async () => {
  const page = await open("#scenario=spin_yield_block");
  await state(page, "done");
  await page.getByLabel("LOAD", { exact: true }).uncheck();
  await page.locator("[id='set-apps.code.workload.spread']").fill("10");
  await page.locator("#seed").fill("7");
  await page.waitForFunction(() => document.querySelector("#command").textContent.includes("--seed 7"));
  await state(page, "done");
  await page.waitForTimeout(200);
  await state(page, "done");
  const [url, wanted, command] = [page.url(), await digest(page), await page.locator("#command").textContent()];
  assert.equal(command, "oversim run spin_yield_block --policy PIN --set apps.code.workload.spread=50% --seed 7");
  const other = await open(new URL(url).hash);
  await state(other, "done");
  assert.equal(await digest(other), wanted);
  assert.equal(other.url(), url);
  assert.ok(!(await other.getByLabel("LOAD", { exact: true }).isChecked()));
  assert.equal(await other.locator("#seed").inputValue(), "7");
  await close(other);
  const edited = await open("#scenario=two_hogs_one_core");
  await state(edited, "done");
  await edited.locator(".cm-content").click();
  await edited.keyboard.press("Control+End");
  await edited.keyboard.type("# Grüße + / =");
  await edited.waitForFunction(() => location.hash.startsWith("#yaml="));
  await edited.waitForTimeout(300);
  await state(edited, "done");
  const again = await open(new URL(edited.url()).hash);
  await state(again, "done");
  assert.match(await again.locator(".cm-content").textContent(), /# Grüße \+ \/ =/);
  assert.equal(await digest(again), await digest(edited));
  const broken = await open("#yaml=%%%");
  await state(broken, "done");
  assert.match(await broken.locator("#notice").textContent(), /cannot be read/);
  for (const one of [page, edited, again, broken]) await close(one);
});

test("the timeline works by wheel, pointer and keys", async () => {
  const page = await open("#scenario=seventeen_on_sixteen&set=repeat%3D1");
  await state(page, "done");
  const canvas = page.locator("#timeline canvas[tabindex]");
  const range = () => page.locator("#timeline .timeline-range").textContent();
  await canvas.scrollIntoViewIfNeeded();
  const whole = await range();
  const box = await canvas.boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + 60);
  assert.match(await page.locator("#timeline .timeline-text").textContent(), /cpu \d+.*(computes|spins|yields|idle)/);
  await page.mouse.click(box.x + box.width / 2, box.y + 60);
  await page.mouse.wheel(0, -600);
  await page.waitForTimeout(100);
  const zoomed = await range();
  assert.notEqual(zoomed, whole);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 4, box.y + 60, { steps: 5 });
  await page.mouse.up();
  assert.notEqual(await range(), zoomed);
  await canvas.focus();
  await page.keyboard.press("0");
  assert.equal(await range(), whole);
  await page.keyboard.press("+");
  await page.keyboard.press("ArrowRight");
  assert.notEqual(await range(), whole);
  await page.keyboard.press("n");
  assert.match(await page.locator("#timeline .timeline-text").textContent(), /(decision|barrier|migration|end) at/);
  await page.locator("#timeline").screenshot({ path: `${shots}timeline.png` });
  await close(page);
});

test("the keyboard alone is enough", async () => {
  const page = await open("#scenario=seventeen_on_sixteen&set=repeat%3D1");
  await state(page, "done");
  const before = await digest(page);
  let found = false;
  for (let key = 0; key < 40 && !found; key += 1) {
    await page.keyboard.press("Tab");
    found = await page.evaluate(() => document.activeElement.id === "set-apps.ep.tasks");
  }
  assert.ok(found, "Tab reaches the slider");
  await page.keyboard.press("ArrowRight");
  await another(page, before);
  assert.equal(await page.evaluate(() => document.activeElement.id), "set-apps.ep.tasks");
  const unnamed = await page.evaluate(() => [...document.querySelectorAll("button, input, select")]
    .filter((one) => !(one.labels?.length || one.getAttribute("aria-label") || one.textContent.trim())).map((one) => one.outerHTML));
  assert.deepEqual(unnamed, []);
  await close(page);
});

test("dark mode follows the system and the button", async () => {
  const page = await open("#scenario=two_hogs_one_core", { colorScheme: "dark" });
  await state(page, "done");
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  assert.equal(await ground(), "rgb(22, 24, 28)");
  await page.screenshot({ path: `${shots}dark.png`, fullPage: true });
  await page.locator("#theme").click();
  assert.equal(await ground(), "rgb(255, 255, 255)");
  await page.reload();
  await state(page, "done");
  assert.equal(await ground(), "rgb(255, 255, 255)");
  await close(page);
});

test("400 pixels are enough", async () => {
  const page = await open("", { viewport: { width: 400, height: 800 }, reducedMotion: "reduce" });
  await state(page, "done");
  assert.ok((await overflow(page)) <= 0, `${await overflow(page)} pixels too wide`);
  await page.screenshot({ path: `${shots}narrow.png`, fullPage: true });
  await page.setViewportSize({ width: 1000, height: 800 });
  await page.setViewportSize({ width: 400, height: 800 });
  await page.waitForTimeout(100);
  assert.ok((await overflow(page)) <= 0, `${await overflow(page)} pixels too wide after resizing`);
  await close(page);
});

test("the page prints", async () => {
  const page = await open("#scenario=seventeen_on_sixteen&set=repeat%3D1", { colorScheme: "dark" });
  await state(page, "done");
  await page.pdf({ path: `${shots}page.pdf`, format: "A4", printBackground: false });
  assert.ok(statSync(`${shots}page.pdf`).size > 20000);
  await close(page);
});

test("all built-in scenarios open without an error", async () => {
  const page = await open("#scenario=two_hogs_one_core");
  await state(page, "done");
  const names = await page.locator("#scenario option").evaluateAll((all) => all.map((one) => one.value).filter(Boolean));
  for (const name of names) {
    await page.evaluate(() => { document.documentElement.dataset.state = "none"; });
    await page.locator("#scenario").selectOption(name);
    await page.waitForFunction(() => document.querySelector("#bars table") && document.documentElement.dataset.state !== "none");
    await page.waitForFunction(() => document.querySelector("#controls").children.length > 1);
    assert.notEqual(await page.evaluate(() => document.documentElement.dataset.state), "error", name);
  }
  await close(page);
});
