// A seed gives the same bytes as the native program.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { command, sequence, source, tem, texts, webLanguage, webModel } from "./native.js";

// The bytes of the native program, without the line end of its one document.
function native(text, args) {
  return command(["privatize", ...args], `${text}\n`).slice(0, -1);
}

function compare(text, mechanism, args, seed, options = {}) {
  const quick = args.includes("-m") ? [] : ["--no-verify"];
  const expected = native(text, [...args, ...quick, "--insecure-seed", String(seed)]);
  const found = mechanism.privatize(text, { ...options, insecureSeed: seed }).text;
  assert.equal(found, expected);
}

const web = ["-m", webModel], english = ["--language-model", webLanguage, ...web];
const inContext = { languageModel: "english-small" };
const mechanisms = [
  [{ epsilon: 0.5 }, ["--epsilon", "0.5"]],
  [{ epsilon: 1 }, ["--epsilon", "1"]],
  [{ epsilon: 3 }, ["--epsilon", "3"]],
  [{ epsilon: 8 }, ["--epsilon", "8"]],
  [{ epsilon: 2, beta: 0.05 }, ["--epsilon", "2", "--beta", "0.05"]],
  [{ epsilon: 2.5, gamma: 6 }, ["--epsilon", "2.5", "--gamma", "6"]],
  [{ epsilon: 1, calibrated: true }, ["--epsilon", "1", "--calibrated"]],
  [{ epsilon: 2, calibrated: true }, ["--epsilon", "2", "--calibrated"]],
  [{ mechanism: "rank", epsilon: 0.5 }, ["--mechanism", "rank", "--epsilon", "0.5", ...web]],
  [{ mechanism: "rank", epsilon: 1.3 }, ["--mechanism", "rank", "--epsilon", "1.3", ...web]],
  [{ mechanism: "rank", epsilon: 1.5, c: 5 },
    ["--mechanism", "rank", "--epsilon", "1.5", "--number", "c=5", ...web]],
  [{ mechanism: "rank", epsilon: 2, ...inContext },
    ["--mechanism", "rank", "--epsilon", "2", ...english]],
  [{ mechanism: "rank", epsilon: 3, ...inContext },
    ["--mechanism", "rank", "--epsilon", "3", ...english]],
  [{ mechanism: "rank", epsilon: 3, c: 0.5, ...inContext },
    ["--mechanism", "rank", "--epsilon", "3", "--number", "c=0.5", ...english]],
  [{ mechanism: "tem", epsilon: 2, ...inContext }, ["--epsilon", "2", ...english]],
];
const [, , plain, , , , calibrated, , , rank, , , fluent] = mechanisms;

for (const [options, args] of mechanisms)
  test(`texts of all kinds: ${JSON.stringify(options)}`, () => {
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
  for (const [options, args] of [plain, calibrated, rank, fluent]) {
    const mechanism = tem.mechanism(options);
    compare(text, mechanism, args, 11n);
    mechanism.free();
  }
});

test("every policy in context, and every style", () => {
  const [options, args] = fluent, mechanism = tem.mechanism(options);
  for (const oov of ["uniform", "drop", "mask", "keep-unsafe"])
    for (const punctuation of ["drop", "keep", "word"])
      compare(texts.join(" "), mechanism, [...args, "--oov", oov, "--punctuation", punctuation],
        5n, { oov, punctuation });
  for (const style of ["words", "joined", "sentence"])
    for (const repeat of ["each", "once"])
      compare(texts.join(" "), mechanism, [...args, "--style", style, "--repeat", repeat], 6n,
        { style, repeat });
  mechanism.free();
});

// The native program takes a field of several lines from JSON.
test("drawn words are written as privatize writes them", () => {
  const [options] = fluent, mechanism = tem.mechanism(options), text = texts.slice(0, 3).join(" ");
  const words = mechanism.privatize(text, { style: "words", insecureSeed: 8n }).text.split(" ");
  const ids = Int32Array.from(words, (word) => tem.find(word));
  assert.ok(ids.every((id) => id >= 0));
  for (const style of ["words", "joined", "sentence"])
    assert.equal(mechanism.write(ids, { style }),
      mechanism.privatize(text, { style, insecureSeed: 8n }).text);
  assert.equal(mechanism.write(new Int32Array(0), { style: "sentence" }), "");
  mechanism.free();
});

test("lines of a document in context", () => {
  const [options, args] = fluent, mechanism = tem.mechanism(options);
  const text = "the first line of it\n\ni don't know what the third line is\nand a last one";
  const output = command(["privatize", ...args, "--insecure-seed", "9", "--format",
    "jsonl", "--field", "text", "--keep-lines"], `${JSON.stringify({ text })}\n`);
  assert.equal(mechanism.privatize(text, { keepLines: true, insecureSeed: 9n }).text,
    JSON.parse(output).text);
  mechanism.free();
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
  const { words, unknown, charged } = mechanism.privatize("the zzzzqqq, movie!");
  assert.deepEqual([words, unknown, charged], [3, 1, 3]);
  assert.equal(mechanism.privatize("a movie is a movie", { repeat: "once" }).charged, 4);
  mechanism.free();
});
