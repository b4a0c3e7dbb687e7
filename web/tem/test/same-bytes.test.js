// A seed gives the same bytes as the native program.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { command, sequence, source, tem, texts } from "./native.js";

// The bytes of the native program, without the line end of its one document.
function native(text, args) {
  return command(["privatize", ...args], `${text}\n`).slice(0, -1);
}

function compare(text, mechanism, args, seed, options = {}) {
  const expected = native(text, [...args, "--no-verify", "--insecure-seed", String(seed)]);
  const found = mechanism.privatize(text, { ...options, insecureSeed: seed }).text;
  assert.equal(found, expected);
}

const mechanisms = [
  [{ epsilon: 0.5 }, ["--epsilon", "0.5"]],
  [{ epsilon: 1 }, ["--epsilon", "1"]],
  [{ epsilon: 3 }, ["--epsilon", "3"]],
  [{ epsilon: 8 }, ["--epsilon", "8"]],
  [{ epsilon: 2, beta: 0.05 }, ["--epsilon", "2", "--beta", "0.05"]],
  [{ epsilon: 2.5, gamma: 6 }, ["--epsilon", "2.5", "--gamma", "6"]],
  [{ epsilon: 1, calibrated: true }, ["--epsilon", "1", "--calibrated"]],
  [{ epsilon: 2, calibrated: true }, ["--epsilon", "2", "--calibrated"]],
];

for (const [options, args] of mechanisms)
  test(`texts of all kinds: ${args.join(" ")}`, () => {
    const mechanism = tem.mechanism(options);
    for (const seed of [0n, 7n, (1n << 64n) - 1n]) compare(texts.join(" "), mechanism, args, seed);
    mechanism.free();
  });

test("every policy for unknown words and punctuation", () => {
  const mechanism = tem.mechanism({ epsilon: 3 });
  for (const oov of ["uniform", "drop", "mask", "keep-unsafe"])
    for (const punctuation of ["drop", "keep", "word"])
      compare(texts.join(" "), mechanism,
        ["--epsilon", "3", "--oov", oov, "--punctuation", punctuation], 5n, { oov, punctuation });
  mechanism.free();
});

test("a long text of many words", () => {
  const next = sequence(1), words = [];
  for (let i = 0; i < 20000; i++) words.push(tem.word(next(next(2) ? 400 : 2000)));
  const text = words.join(" ");
  for (const [options, args] of [mechanisms[2], mechanisms[6]]) {
    const mechanism = tem.mechanism(options);
    compare(text, mechanism, args, 11n);
    mechanism.free();
  }
});

test("short texts, each by itself", () => {
  const mechanism = tem.mechanism({ epsilon: 3 });
  for (const text of texts) compare(text, mechanism, ["--epsilon", "3"], 3n);
  mechanism.free();
});

test("a document of the project", () => {
  const mechanism = tem.mechanism({ epsilon: 3 });
  const text = readFileSync(`${source}/docs/PRIVACY.md`, "utf8").replaceAll("\n", " ");
  compare(text, mechanism, ["--epsilon", "3"], 1n);
  mechanism.free();
});

test("one line of output per line, with keepLines", () => {
  const mechanism = tem.mechanism({ epsilon: 3 });
  const text = "first line here\n\nthird line\r\nfourth";
  assert.equal(mechanism.privatize(text, { keepLines: true }).text.split("\n").length, 4);
  assert.equal(mechanism.privatize(text).text.split("\n").length, 1);
  mechanism.free();
});

test("counts", () => {
  const mechanism = tem.mechanism({ epsilon: 3 });
  const { words, unknown } = mechanism.privatize("the zzzzqqq, movie!");
  assert.deepEqual([words, unknown], [3, 1]);
  mechanism.free();
});
