// What the tests of the page share: the browser, an opened page, its worker, and the native
// command.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const { TEM_BUILD: build, TEM_WEB: web } = process.env; // run-page sets them
process.env.XDG_STATE_HOME = join(web, "state"); // who built web.tem trusts it
const require = createRequire(join(web, "modules/package.json"));
const { chromium } = require("playwright-core");

export const pagePath = join(web, "page.html");
export const pageUrl = pathToFileURL(pagePath).href;
export const screens = join(web, "screens");
export const webModel = join(web, "web.tem");
export const webLanguage = join(web, "web.temlm");
export const axeSource = require.resolve("axe-core/axe.min.js");

export function native(...args) {
  const input = args.at(-1)?.input;
  const words = input === undefined ? args : args.slice(0, -1);
  return execFileSync(join(build, "tem"), words, {
    input,
    encoding: "utf-8",
    stdio: ["pipe", "pipe", "ignore"],
  });
}

// One browser with a directory of its own, which is removed at the end.
export async function startBrowser() {
  const directory = mkdtempSync(join(tmpdir(), "tem-page-"));
  const context = await chromium.launchPersistentContext(directory, {
    executablePath: "/usr/bin/chromium",
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
    viewport: { width: 1280, height: 900 },
    acceptDownloads: true,
  });
  const browser = context.browser();
  const stop = async () => {
    await context.close();
    rmSync(directory, { recursive: true, force: true });
  };
  return { browser, context, stop };
}

// A new tab with the page, ready to use; word by word, unless the options say isFluent. `seen` has what the page asked for and what its policy
// refused, from the first byte on.
export async function openPage(browser, { isFluent, ...options } = {}, url = pageUrl) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  const seen = { requests: [], violations: [], errors: [] };
  page.on("request", (request) => {
    if (!/^(blob|data):/.test(request.url())) seen.requests.push(request.url());
  });
  page.on("pageerror", (error) => seen.errors.push(error.message));
  await page.exposeFunction("reportViolation", (name) => seen.violations.push(name));
  await page.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", (event) => {
      globalThis.reportViolation(event.effectiveDirective);
    });
  });
  await page.goto(url);
  await page.waitForSelector("body.ready", { timeout: 60000 });
  await finished(page);
  if (!isFluent && url.endsWith(".html") && (await page.locator("[name=draw]").count()) > 0) {
    await page.getByLabel("Word by word").check();
    await finished(page);
  }
  return { page, seen, close: () => context.close() };
}

// Waits until the page shows the draws of the text as it is now.
export async function finished(page) {
  await page.waitForSelector("#words[aria-busy=false]", { timeout: 90000 });
}

export async function setText(page, text) {
  await page.locator("#original").fill(text);
  await finished(page);
}

export const shownWords = (page) =>
  page.locator("#words [role=option]").evaluateAll((options) => options.map((o) => o.textContent));

// Calls the worker of the page as the page itself does, and returns the answer.
export function askWorker(page, call, ...args) {
  return page.workers()[0].evaluate(
    ({ call: name, args: values }) =>
      new Promise((resolve, reject) => {
        const id = `test ${Math.random()}`;
        const usual = self.postMessage;
        const revived = JSON.parse(values, (key, value) =>
          typeof value === "string" && /^\d+n$/.test(value) ? BigInt(value.slice(0, -1)) : value,
        );
        self.postMessage = (message, ...rest) => {
          if (message.id !== id) return usual.call(self, message, ...rest);
          self.postMessage = usual;
          return message.error ? reject(new Error(message.error)) : resolve(message.result);
        };
        self.dispatchEvent(
          new MessageEvent("message", { data: { id, call: name, args: revived } }),
        );
      }),
    { call, args: JSON.stringify(args) },
  );
}

// What a download of the private text has.
export async function downloadText(page) {
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("#download")]);
  const stream = await download.createReadStream();
  const parts = [];
  for await (const part of stream) parts.push(part);
  return Buffer.concat(parts).toString("utf-8");
}
