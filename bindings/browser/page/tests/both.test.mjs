// What the page does, in Chromium and in Firefox: `npm test` after ../build. CHROMIUM and FIREFOX name the programs.
import assert from "node:assert/strict";
import { existsSync, mkdirSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import puppeteer from "puppeteer-core";

import { serve } from "../serve.mjs";

const PROGRAMS = {
  chrome: process.env.CHROMIUM ?? "/usr/bin/chromium",
  firefox: process.env.FIREFOX ?? "/usr/bin/firefox-esr",
};
const shots = fileURLToPath(new URL("../screenshots/", import.meta.url));
const file = new URL("../dist/playground.html", import.meta.url).href;
/// Until a result is complete on a busy computer, in milliseconds.
const LONG = 60000;

for (const [browserName, program] of Object.entries(PROGRAMS)) {
  describe(browserName, { skip: !existsSync(program) && `no ${program}` }, () => {
    let [server, browser, address] = [];

    before(async () => {
      mkdirSync(shots, { recursive: true });
      server = await serve(0);
      address = `http://127.0.0.1:${server.address().port}/`;
      browser = await puppeteer.launch({
        browser: browserName, executablePath: program, headless: true,
        args: browserName === "chrome" ? ["--no-sandbox", "--disable-gpu", "--disable-quic"] : [],
      });
    });

    after(async () => {
      await browser?.close();
      server?.close();
    });

    async function open(hash = "", { width = 1280, height = 800, base = address, early } = {}) {
      const page = await browser.newPage();
      page.problems = [];
      page.on("pageerror", (error) => page.problems.push(error.message));
      await page.setViewport({ width, height });
      if (early) await page.evaluateOnNewDocument(early);
      await page.goto(base + hash);
      await state(page, "done");
      return page;
    }

    const state = (page, name) =>
      page.waitForFunction((wanted) => document.documentElement.dataset.state === wanted && document.documentElement.dataset.words, { timeout: LONG, polling: 50 }, name);
    const digest = (page) => page.evaluate(() => document.documentElement.dataset.digest);
    const text = (page, selector) => page.$eval(selector, (one) => one.textContent);
    const another = async (page, old) => {
      await page.waitForFunction((was) => document.documentElement.dataset.state === "done"
        && document.documentElement.dataset.digest !== was, { timeout: LONG, polling: 50 }, old);
      return digest(page);
    };
    const until = (page, what, ...given) => page.waitForFunction(what, { timeout: LONG, polling: 50 }, ...given);
    async function close(page) {
      assert.deepEqual(page.problems, []);
      await page.close();
    }

    test("the first screen says what is best, what to avoid and why", async () => {
      const page = await open();
      assert.equal(await text(page, "#command"),
        "oversim run spin_yield_block --policy PIN --set threads_per_core=2");
      const said = await page.$$eval("#said dt", (all) => Object.fromEntries(all.map((dt) => [dt.textContent, dt.nextSibling.textContent])));
      assert.match(said.Best, /by run time: PIN with .*runtime=yield/);
      assert.match(said.Avoid, /PIN with .*runtime=spin: 2\.\d+ s/);
      assert.match(said.Why, /waiting \+\d+/);
      const low = await page.$eval(".said", (one) => one.getBoundingClientRect().bottom);
      assert.ok(low < 400, `the answer ends at ${low} pixels`);
      // The timeline shows the two cases of the answer, the worse one above.
      const label = await page.$eval("#timeline canvas[tabindex]", (one) => one.getAttribute("aria-label"));
      assert.ok(label.indexOf("runtime=spin") >= 0 && label.indexOf("runtime=spin") < label.lastIndexOf("runtime=yield"), label);
      assert.match(await text(page, "#setting"), /Machine barcelona \(16 cpus\), kernel linux-6\.18/);
      await page.screenshot({ path: `${shots}${browserName}-first.png` });
      await close(page);
    });

    test("no words of the command line outside of the command and the text", async () => {
      for (const name of ["spin_yield_block", "seventeen_on_sixteen"]) {
        const page = await open(`#scenario=${name}`);
        const shown = await page.evaluate(() => ["#said", "#bars", "#timelines", "#warnings", "#status"]
          .map((one) => document.querySelector(one).textContent).join("\n"));
        assert.doesNotMatch(shown, /--[a-z]/);
        await close(page);
      }
    });

    test("the wheel scrolls the page until the timeline is clicked", async () => {
      const page = await open("#scenario=seventeen_on_sixteen&set=repeat%3D1");
      const range = () => text(page, ".timeline-range");
      const place = async () => {
        await page.$eval("#timeline canvas[tabindex]", (one) => one.scrollIntoView({ block: "center" }));
        const box = await (await page.$("#timeline canvas[tabindex]")).boundingBox();
        return { x: box.x + box.width / 2, y: Math.min(box.y + 70, 700) };
      };
      const whole = await range();
      const at = await place();
      await page.mouse.move(at.x, at.y);
      const before = await page.evaluate(() => scrollY);
      await page.mouse.wheel({ deltaY: -300 });
      await until(page, (was) => scrollY < was - 100, before);
      assert.equal(await range(), whole);
      assert.match(await text(page, "#timeline .timeline-text"), /Ctrl/);
      const there = await place();
      await page.mouse.click(there.x, there.y);
      const clicked = await page.evaluate(() => scrollY);
      await page.mouse.wheel({ deltaY: -300 });
      await until(page, (was) => document.querySelector(".timeline-range").textContent !== was, whole);
      assert.equal(await page.evaluate(() => scrollY), clicked);
      await page.keyboard.press("0");
      assert.equal(await range(), whole);
      // Where it cannot zoom out further, the page scrolls on.
      await page.mouse.wheel({ deltaY: 300 });
      await until(page, (was) => scrollY > was + 100, clicked);
      await page.evaluate(() => document.activeElement.blur());
      const last = await place();
      await page.mouse.move(last.x, last.y);
      await page.keyboard.down("Control");
      await page.mouse.wheel({ deltaY: -300 });
      await page.keyboard.up("Control");
      await until(page, (was) => document.querySelector(".timeline-range").textContent !== was, whole);
      await close(page);
    });

    test("names explain themselves by mouse and keyboard", async () => {
      const page = await open();
      const shown = () => page.$eval("#words", (one) => one.open);
      await page.click("#said .word");
      await until(page, () => /round-robin/.test(document.querySelector("#words-body").textContent));
      assert.equal(await text(page, "#words-title"), "PIN");
      await page.screenshot({ path: `${shots}${browserName}-words.png` });
      await page.keyboard.press("Escape");
      assert.equal(await shown(), false);
      await page.focus("#setting .word");
      await page.keyboard.press("Enter");
      await until(page, () => /EEVDF|eligible/i.test(document.querySelector("#words-body").textContent));
      await page.click("#words-close");
      assert.equal(await shown(), false);
      for (const [selector, heading] of [["#metric-mark .mark", "run_time"], ["#bars .keys .word", "fair-share"], ["legend .mark", "Policies"], ["#terms", "Terms"]]) {
        await page.$eval(selector, (one) => one.click());
        assert.equal(await text(page, "#words-title"), heading);
        assert.ok((await text(page, "#words-body")).length > 20);
        await page.click("#words-close");
      }
      // The description of a control, without a pointer.
      await page.focus("[aria-label='What is Threads per core?']");
      await page.keyboard.press("Enter");
      assert.equal(await page.$eval("#help-threads_per_core", (one) => one.hidden), false);
      await close(page);
    });

    test("one file works without a server", async () => {
      const served = await open("#scenario=two_hogs_one_core");
      const page = await open("#scenario=two_hogs_one_core", { base: file });
      assert.equal(await digest(page), await digest(served));
      const old = await digest(page);
      await page.focus("[id='set-apps.hogs.tasks']");
      await page.keyboard.press("ArrowRight");
      await another(page, old);
      assert.match(page.url(), /^file:.*set=apps\.hogs\.tasks%3D/);
      await page.select("#scenario", "thousand_cores");
      await state(page, "running");
      await page.click("#stop");
      await page.select("#scenario", "two_hogs_one_core");
      await state(page, "done");
      await page.$eval("#licences", (one) => one.click());
      await until(page, () => /wasm-bindgen v/.test(document.querySelector("#words-body").textContent));
      const outside = await page.evaluate(() => performance.getEntriesByType("resource").map((one) => one.name).filter((name) => /^http/.test(name)));
      assert.deepEqual(outside, []);
      await close(served);
      await close(page);
    });

    test("a frame of another page shows a fixed state", async () => {
      const page = await open("#scenario=two_hogs_one_core");
      await page.evaluate((source) => {
        const frame = document.createElement("iframe");
        Object.assign(frame, { src: source, width: 600, height: 500, id: "frame" });
        document.body.replaceChildren(frame);
      }, `${address}?frame#scenario=two_hogs_one_core&set=apps.hogs.tasks%3D3&embed=1`);
      await until(page, () => document.querySelector("#frame").contentDocument?.documentElement.dataset.state === "done");
      const inner = await page.evaluate(() => {
        const { contentDocument: root, contentWindow: view } = document.querySelector("#frame");
        const seen = (selector) => root.querySelector(selector).getClientRects().length > 0;
        return {
          seen: ["header", "#text-fold", "#command-fold", "#control-fold", "#said", "#bars", "#timeline canvas"].map(seen),
          full: root.querySelector("#full").href, wide: root.documentElement.scrollWidth - view.innerWidth,
          command: root.querySelector("#command").textContent,
        };
      });
      assert.deepEqual(inner.seen, [false, false, false, true, true, true, true]);
      assert.match(inner.full, /set=apps\.hogs\.tasks%3D3/);
      assert.doesNotMatch(inner.full, /embed/);
      assert.match(inner.command, /--set apps\.hogs\.tasks=3/);
      assert.ok(inner.wide <= 0, `${inner.wide} pixels too wide`);
      await close(page);
    });

    test("a link holds a sweep, which is drawn as a curve", async () => {
      const page = await open("#scenario=two_hogs_one_core&sweep=apps.hogs.tasks%3D1,2,4,8");
      assert.match(await text(page, "#command"), /--sweep apps\.hogs\.tasks=1,2,4,8$/);
      assert.equal(await page.$$eval("#curves circle", (all) => all.length), 4);
      const heights = await page.$$eval("#curves circle", (all) => all.map((one) => Number(one.getAttribute("cy"))));
      assert.deepEqual(heights, [...heights].sort((a, b) => b - a), "more tasks take longer");
      assert.equal(await page.$eval("#sweep-values", (one) => one.value), "1,2,4,8");
      await page.screenshot({ path: `${shots}${browserName}-sweep.png`, fullPage: true });
      const old = await digest(page);
      await page.select("#sweep-path", "apps.hogs.workload.work");
      await another(page, old);
      assert.match(decodeURIComponent(page.url()), /sweep=apps\.hogs\.workload\.work=10ms,/);
      const again = await open(new URL(page.url()).hash);
      assert.equal(await digest(again), await digest(page));
      const swept = await digest(page);
      await page.select("#sweep-path", "");
      await another(page, swept);
      assert.doesNotMatch(page.url(), /sweep/);
      assert.equal(await page.$$eval("#curves circle", (all) => all.length), 0);
      await close(again);
      await close(page);
    });

    test("two settings stand side by side, also from a link", async () => {
      const page = await open("#scenario=two_hogs_one_core&set=apps.hogs.tasks%3D2");
      await page.click("#keep");
      const old = await digest(page);
      await page.focus("[id='set-apps.hogs.tasks']");
      await page.keyboard.press("ArrowRight");
      await another(page, old);
      const both = () => page.$$eval("#sides td.value", (all) => all.map((one) => one.textContent));
      const [then, now, factor] = await both();
      assert.match(then, /^4\.01 s$/);
      assert.match(now, /^6\.01 s$/);
      assert.equal(factor, "1.5 times");
      assert.equal(await page.$$eval("#timelines canvas[tabindex]", (all) => all.length), 2);
      assert.match(await text(page, "#kept-words"), /tasks=2/);
      assert.match(await text(page, "#now-words"), /tasks=3/);
      await page.screenshot({ path: `${shots}${browserName}-kept.png`, fullPage: true });
      const again = await open(new URL(page.url()).hash);
      await until(again, () => document.documentElement.dataset.compared === "true");
      assert.deepEqual(await again.$$eval("#sides td.value", (all) => all.map((one) => one.textContent)), [then, now, factor]);
      await again.click("#swap");
      await until(again, (wanted) => document.documentElement.dataset.digest === wanted, old);
      assert.equal(await again.$eval("#compare", (one) => one.hidden), true);
      await close(again);
      await close(page);
    });

    test("a change leaves the earlier value behind the new bar", async () => {
      const page = await open("#scenario=two_hogs_one_core&set=apps.hogs.tasks%3D2");
      assert.equal(await page.$$eval("#bars .bar s", (all) => all.length), 0);
      const old = await digest(page);
      await page.focus("[id='set-apps.hogs.workload.work']");
      await page.keyboard.press("ArrowRight");
      await another(page, old);
      const [bar, ghost] = await page.$eval("#bars .bar", (one) => ["i", "s"].map((name) => one.querySelector(name).getBoundingClientRect().width));
      assert.ok(Math.abs(ghost / bar - 0.5) < 0.02, `${ghost} of ${bar}`);
      assert.match(await text(page, "#bars .earlier"), /^4\.01 s$/);
      await close(page);
    });

    test("sliders for cores, work, slice and nice where the scenario has them", async () => {
      const page = await open("#scenario=two_hogs_one_core&set=apps.hogs.tasks%3D2");
      for (const [path, shown] of [["kernel.latency", /us|ms/], ["apps.hogs.workload.work", /s/], ["machine", /core:2/]]) {
        const old = await digest(page);
        await page.focus(`[id='set-${path}']`);
        await page.keyboard.press("ArrowRight");
        await another(page, old);
        assert.match(await text(page, `output[for='set-${path}']`), shown);
        assert.ok((await text(page, "#command")).includes(`--set ${path}=`));
      }
      await page.select("#scenario", "cg_ft_share");
      await until(page, () => document.querySelectorAll("[id$='.nice']").length > 1);
      await page.click("#stop").catch(() => {});
      await close(page);
    });

    test("intervals lie inside the bars, and the axis has ticks", async () => {
      const page = await open("#scenario=spin_yield_block");
      const outside = await page.$$eval("#bars .bar", (all) => all.filter((bar) => {
        const line = bar.querySelector("b");
        return line && line.getBoundingClientRect().right > bar.getBoundingClientRect().right + 1;
      }).length);
      assert.equal(outside, 0);
      const cut = await page.$$eval("#bars .bar", (all) => all.filter((bar) => {
        const [line, fill] = [bar.querySelector("b"), bar.querySelector("i")].map((one) => one?.getBoundingClientRect());
        return line && line.width > 3 && line.right <= fill.right;
      }).length);
      assert.equal(cut, 0, "an interval reaches to both sides of the mean");
      assert.ok((await page.$$eval("#bars .axis span", (all) => all.map((one) => one.textContent))).length >= 3);
      await close(page);
    });

    test("the controls stay on the screen, and on a phone the answer does", async () => {
      const page = await open();
      await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
      const box = await page.$eval("#input", (one) => one.getBoundingClientRect().toJSON());
      assert.ok(box.top < 800 && box.bottom > 300, JSON.stringify(box));
      await close(page);
      const phone = await open("", { width: 400 });
      const top = await phone.$eval("#said", (one) => one.getBoundingClientRect().top);
      assert.ok(top < 700, `the answer begins at ${top} pixels`);
      await phone.screenshot({ path: `${shots}${browserName}-phone.png`, fullPage: true });
      await phone.click("#control-fold summary");
      await phone.$eval("#controls", (one) => one.scrollIntoView());
      const brief = await phone.$eval("#brief", (one) => one.getBoundingClientRect().toJSON());
      assert.ok(brief.height > 10 && brief.bottom <= 800 && brief.top >= 0, JSON.stringify(brief));
      assert.match(await text(phone, "#brief"), /Best by run time/);
      const wide = await phone.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(wide <= 0, `${wide} pixels too wide`);
      await close(phone);
    });

    test("what to watch for is folded, and a link can ask for a prediction first", async () => {
      const page = await open("#scenario=spin_yield_block&policy=PIN&set=repeat%3D1&predict=1");
      const seen = (selector) => page.$eval(selector, (one) => one.getClientRects().length > 0);
      const lines = await text(page, ".cm-content");
      assert.match(lines, /Watch for/);
      assert.doesNotMatch(lines, /1\.14 s/);
      assert.deepEqual([await seen("#said"), await seen("#bars"), await seen("#predict")], [false, false, true]);
      await page.click("#reveal");
      assert.deepEqual([await seen("#said"), await seen("#bars"), await seen("#predict")], [true, true, false]);
      assert.match(await text(page, ".cm-content"), /1\.14 s/);
      await until(page, () => !location.hash.includes("predict"));
      const long = await page.$eval(".cm-scroller", (one) => one.scrollWidth - one.clientWidth);
      assert.ok(long <= 0, `lines of the editor are ${long} pixels too long`);
      await close(page);
    });

    test("zoomed in, slices have the numbers of their threads, and the address has the moment", async () => {
      const early = () => {
        globalThis.written = [];
        const { fillText } = CanvasRenderingContext2D.prototype;
        CanvasRenderingContext2D.prototype.fillText = function write(...all) {
          globalThis.written.push(all[0]);
          return fillText.apply(this, all);
        };
      };
      const page = await open("#scenario=two_hogs_one_core&set=apps.hogs.tasks%3D2", { early });
      await page.focus("#timeline canvas[tabindex]");
      for (let times = 0; times < 4; times += 1) await page.keyboard.press("+");
      await page.evaluate(() => { globalThis.written = []; });
      await page.keyboard.press("ArrowRight");
      const written = await page.evaluate(() => globalThis.written);
      assert.ok(written.includes("0") && written.includes("1"), written.join(" "));
      await until(page, () => /at=\d+-\d+/.test(location.hash));
      const range = await text(page, "#timeline .timeline-range");
      const again = await open(new URL(page.url()).hash);
      assert.equal(await text(again, "#timeline .timeline-range"), range);
      await again.focus("#timeline canvas[tabindex]");
      await again.keyboard.press("0");
      await until(again, () => !/at=/.test(location.hash));
      await close(again);
      await close(page);
      const broken = await open("#scenario=two_hogs_one_core&at=9-3");
      assert.match(await text(broken, "#notice"), /at=1000-2000, not 9-3/);
      await close(broken);
    });

    test("a player goes through the decisions with reason and queue", async () => {
      const page = await open("#scenario=two_hogs_one_core&set=apps.hogs.tasks%3D2");
      const press = (label) => page.evaluate((wanted) => [...document.querySelectorAll("#player button")].find((one) => one.textContent === wanted).click(), label);
      const place = () => text(page, "#player .timeline-range");
      await press("Go through the decisions");
      await until(page, () => /^1 of \d+/.test(document.querySelector("#player .timeline-range").textContent));
      const seen = new Set();
      let queue = null;
      for (let one = 0; one < 12; one += 1) {
        seen.add(await text(page, ".decision"));
        const heads = await page.$$eval("#player .queue th[scope=col]", (all) => all.map((head) => head.textContent));
        const rows = await page.$$eval("#player .queue th[scope=row]", (all) => all.map((row) => row.textContent));
        if (heads.length > 2 && rows.length === 2) queue = { heads, rows };
        await press("Next decision");
      }
      assert.match(await place(), /^13 of/);
      assert.ok(seen.size > 3, [...seen].join("\n"));
      assert.ok(queue && queue.rows.every((name) => /^hogs\.\d/.test(name)), JSON.stringify(queue));
      await press("Back");
      assert.match(await place(), /^12 of/);
      await press("Play");
      await until(page, () => /^13 of/.test(document.querySelector("#player .timeline-range").textContent));
      await press("Pause");
      await page.screenshot({ path: `${shots}${browserName}-player.png`, fullPage: true });
      // The decision is marked in the timeline.
      assert.match(await text(page, "#timeline .timeline-text"), /LOAD, cpu 0, /);
      await close(page);
    });

    test("numbers and pictures can be saved", async () => {
      const early = () => {
        globalThis.saved = [];
        const { createObjectURL } = URL;
        URL.createObjectURL = (blob) => {
          globalThis.saved.push(blob);
          return createObjectURL.call(URL, blob);
        };
        HTMLAnchorElement.prototype.click = () => {};
      };
      const page = await open("#scenario=two_hogs_one_core", { early });
      await page.evaluate(() => { globalThis.saved = []; });
      for (const [id, type, starts] of [["csv", "text/csv", /policy.*\n/], ["svg", "image/svg+xml", /^<(svg|\?xml)/], ["png", "image/png", /PNG/]]) {
        await page.click(`#save-${id}`);
        await until(page, (wanted) => globalThis.saved.some((one) => one.type === wanted), type);
        const content = await page.evaluate((wanted) => globalThis.saved.find((one) => one.type === wanted).text(), type);
        assert.match(content, starts);
      }
      await close(page);
    });
  });
}

test("a tap explains a name", { skip: !existsSync(PROGRAMS.chrome) && "no Chromium" }, async () => {
  const server = await serve(0);
  const browser = await puppeteer.launch({ executablePath: PROGRAMS.chrome, args: ["--no-sandbox", "--disable-gpu"] });
  try {
    const page = await browser.newPage();
    await page.setViewport({ width: 400, height: 800, hasTouch: true, isMobile: true });
    await page.goto(`http://127.0.0.1:${server.address().port}/#scenario=two_hogs_one_core`);
    await page.waitForFunction(() => document.documentElement.dataset.words && document.documentElement.dataset.state === "done", { timeout: LONG, polling: 50 });
    await page.tap("#setting .word");
    assert.equal(await page.$eval("#words", (one) => one.open), true);
    await page.tap("#words-close");
    // Two fingers zoom the timeline.
    const range = () => page.$eval(".timeline-range", (one) => one.textContent);
    const whole = await range();
    await page.$eval("#timeline canvas[tabindex]", (one) => one.scrollIntoView({ block: "center" }));
    const box = await (await page.$("#timeline canvas[tabindex]")).boundingBox();
    const y = box.y + 50;
    const first = await page.touchscreen.touchStart(box.x + 150, y);
    const second = await page.touchscreen.touchStart(box.x + 200, y);
    await first.move(box.x + 80, y);
    await second.move(box.x + 280, y);
    await first.end();
    await second.end();
    assert.notEqual(await range(), whole);
  } finally {
    await browser.close();
    server.close();
  }
});
