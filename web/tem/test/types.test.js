// index.d.ts is what index.js has: a program that uses every call is checked by TypeScript and run.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as all from "../index.js";

const folder = new URL("..", import.meta.url).pathname;

test("tsc --noEmit", () => {
  const done = spawnSync("node_modules/.bin/tsc", ["--noEmit", "--strict", "--target", "es2022",
    "--module", "nodenext", "--moduleResolution", "nodenext", "test/uses.ts"],
  { cwd: folder, encoding: "utf8" });
  assert.equal(done.status, 0, done.stdout);
});

test("the examples of README.md run", () => {
  const examples = [...readFileSync(`${folder}/README.md`, "utf8").matchAll(/```js\n(.*?)```/gs)];
  assert.equal(examples.length, 2);
  for (const [, example] of examples) {
    const done = spawnSync(process.execPath, ["--input-type=module", "-e",
      example.replace('"tem-privacy"', '"./index.js"')], { cwd: folder, encoding: "utf8" });
    assert.equal(done.status, 0, done.stderr);
    assert.ok(done.stdout.trim().split(" ").length >= 5);
  }
});

test("the names of statuses are those of tem.h", () => {
  const header = readFileSync(`${process.env.TEM_SOURCE}/src/api/api_names.c`, "utf8");
  const names = [...header.matchAll(/\[TEM_(?:OK|ERR_\w+)\] = "([a-z]+)"/g)].map((one) => one[1]);
  const source = readFileSync(`${folder}/index.js`, "utf8").match(/STATUS = \[(.*?)\]/s)[1];
  assert.deepEqual([...source.matchAll(/"([a-z]+)"/g)].map((one) => one[1]), names);
});

test("the package exports what it declares", () => {
  for (const name of ["load", "TemError", "LINE_END"]) assert.ok(name in all);
});
