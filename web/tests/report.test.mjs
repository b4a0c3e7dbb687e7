// Tests of the HTML report in a real browser: valid HTML, nothing loaded, readable and printable.
// `make test-page` runs them; tests/check-report has the tests that need no browser.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { axeSource, startBrowser } from "./browser.mjs";

const { TEM_BUILD: build, TEM_WEB: web } = process.env; // run-page sets them
const require = createRequire(join(web, "modules/package.json"));
const { HtmlValidate, StaticConfigLoader } = require("html-validate");

const HOSTILE = "</td><script>document.title='run'</script><img src=x onerror=alert(1)>";
const PHONE = { width: 360, height: 740 };

let browser;
let stop;
let folder;
const pages = {}; // path by name

const tem = (...args) =>
  execFileSync(join(build, "tem"), args, { cwd: folder, stdio: ["pipe", "pipe", "ignore"] });

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "tem-report-"));
  const records = [`id,${HOSTILE},e-mail`, "1,the movie was wonderful,a@example.com"];
  writeFileSync(join(folder, "in.csv"), `${records.join("\n")}\n`);
  const run = ["privatize", "-q", "--epsilon", "2", "--format", "csv", "--field", HOSTILE, "in.csv"];
  tem(...run, "-o", "a.csv", "--report", "private.html", "--probe", "cancer london");
  tem(...run, "-o", "b.csv", "--report", "seeded.html", "--insecure-seed", "1");
  tem("audit", "-q", "--epsilon", "1.2", "--calibrated", "--html", "audit.html");
  for (const name of ["private", "seeded", "audit"]) pages[name] = join(folder, `${name}.html`);
  ({ browser, stop } = await startBrowser());
});
after(async () => {
  rmSync(folder, { recursive: true, force: true });
  await stop?.();
});

async function withReport(name, options, use) {
  const context = await browser.newContext({ viewport: { width: 1000, height: 800 }, ...options });
  const page = await context.newPage();
  const seen = { requests: [], errors: [] };
  page.on("request", (request) => seen.requests.push(request.url()));
  page.on("pageerror", (error) => seen.errors.push(error.message));
  page.on("console", (message) => seen.errors.push(message.text()));
  page.on("dialog", (dialog) => seen.errors.push(dialog.message()));
  try {
    const url = pathToFileURL(pages[name]).href;
    await page.goto(url);
    await use(page);
    assert.deepEqual(seen, { requests: [url], errors: [] });
  } finally {
    await context.close();
  }
}

test("a report is valid HTML", async () => {
  const validator = new HtmlValidate(
    new StaticConfigLoader({ extends: ["html-validate:recommended"] }),
  );
  for (const path of Object.values(pages)) {
    const { results } = await validator.validateFile(path);
    assert.deepEqual(
      results.flatMap((result) => result.messages.map((m) => `${m.line}: ${m.ruleId}`)),
      [],
    );
  }
});

test("a report asks for nothing and runs nothing, whatever its fields are called", () =>
  withReport("private", {}, async (page) => {
    assert.equal(await page.title(), "Privacy report of a text release");
    assert.equal(await page.locator("script, img, a, iframe").count(), 0);
    assert.match(await page.locator("#released").textContent(), /onerror=alert/);
    assert.match(await page.locator("#released").textContent(), /look like e-mail addresses/);
  }));

test("a run without a bound has a warning on the first screen", () =>
  withReport("seeded", {}, async (page) => {
    const box = await page.locator(".warning").first().boundingBox();
    assert.ok(box.y + box.height < 800);
    assert.match(await page.locator(".warning").first().textContent(), /not private/);
  }));

test("pictures are there and have names", () =>
  withReport("audit", {}, async (page) => {
    assert.equal(await page.locator("svg[role=img] > title").count(), 2);
    for (const picture of await page.locator("svg").all()) {
      const box = await picture.boundingBox();
      assert.ok(box.width > 300 && box.height > 150);
    }
  }));

for (const colorScheme of ["light", "dark"])
  test(`axe finds nothing, ${colorScheme}`, async () => {
    for (const name of Object.keys(pages))
      // axe is a script, which the report itself would refuse
      await withReport(name, { colorScheme, bypassCSP: true }, async (page) => {
        await page.addScriptTag({ path: axeSource });
        const { violations } = await page.evaluate(() => globalThis.axe.run());
        assert.deepEqual(
          violations.map((v) => `${v.id}: ${v.nodes[0].html}`),
          [],
        );
      });
  });

test("a phone shows a report without scrolling sideways, in letters of 10.5 pixels or more", () =>
  withReport("private", { viewport: PHONE }, async (page) => {
    const [width, smallest] = await page.evaluate(() => {
      const svg = document.querySelector("svg");
      const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
      return [document.documentElement.scrollWidth, 12 * scale];
    });
    assert.ok(width <= PHONE.width, `${width} pixels wide`);
    assert.ok(smallest >= 10.5, `${smallest} pixels high`);
  }));

test("a report prints on a few pages", () =>
  withReport("private", {}, async (page) => {
    const pdf = (await page.pdf({ format: "A4" })).toString("latin1");
    const sheets = pdf.match(/\/Type\s*\/Page\b(?!s)/g).length;
    assert.ok(pdf.startsWith("%PDF") && sheets >= 3 && sheets <= 8, `${sheets} pages`);
  }));
