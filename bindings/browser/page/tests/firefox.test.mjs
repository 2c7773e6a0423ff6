// The same page in Firefox, if there is one: FIREFOX names the program, /usr/bin/firefox-esr unless given.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "node:test";
import puppeteer from "puppeteer-core";

import { serve } from "../serve.mjs";

const program = process.env.FIREFOX ?? "/usr/bin/firefox-esr";

test("Firefox: results, a slider, an error, a stopped run, a link, 400 pixels", { skip: !existsSync(program) && `no ${program}` }, async () => {
  const server = await serve(0);
  const browser = await puppeteer.launch({ browser: "firefox", executablePath: program, headless: true });
  try {
    const page = await browser.newPage();
    const problems = [];
    page.on("pageerror", (error) => problems.push(error.message));
    const address = `http://127.0.0.1:${server.address().port}/`;
    const state = (name) => page.waitForFunction((wanted) => document.documentElement.dataset.words && document.documentElement.dataset.state === wanted, { timeout: 60000 }, name);
    const digest = () => page.evaluate(() => document.documentElement.dataset.digest);
    await page.setViewport({ width: 400, height: 800 });
    await page.goto(`${address}#scenario=seventeen_on_sixteen&set=repeat%3D1`);
    await state("done");
    const first = await digest();
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth), false);
    await page.click("#control-fold summary");
    await page.focus("[id='set-apps.ep.tasks']");
    await page.keyboard.press("ArrowRight");
    await page.waitForFunction((old) => document.documentElement.dataset.state === "done" && document.documentElement.dataset.digest !== old, {}, first);
    const url = page.url();
    const changed = await digest();
    assert.match(url, /set=apps\.ep\.tasks%3D/);
    await page.screenshot({ path: new URL("../screenshots/firefox.png", import.meta.url).pathname });
    const other = await browser.newPage();
    await other.goto(url);
    await other.waitForFunction(() => document.documentElement.dataset.state === "done", { timeout: 60000 });
    assert.equal(await other.evaluate(() => document.documentElement.dataset.digest), changed);
    await other.close();
    await page.click("#text-fold summary");
    await page.focus(".cm-content");
    await page.keyboard.type("x: [\n");
    await state("error");
    assert.match(await page.$eval("#errors", (one) => one.textContent), /Line \d+/);
    await page.select("#scenario", "thousand_cores");
    await state("running");
    await new Promise((ready) => { setTimeout(ready, 500); });
    await page.click("#stop");
    await state("stopped");
    assert.deepEqual(problems, []);
  } finally {
    await browser.close();
    server.close();
  }
});
