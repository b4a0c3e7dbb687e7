// Bad input is refused or harmless, and errors contain no text.
import assert from "node:assert/strict";
import { test } from "node:test";
import { TemError, load } from "../index.js";
import { sequence, tem } from "./native.js";

test("texts of all sorts", () => {
  const mechanism = tem.mechanism({ epsilon: 3 });
  const next = sequence(9);
  const binary = Array.from({ length: 5000 }, () => String.fromCharCode(next(65536))).join("");
  const bad = ["", "\0", "a\0b", "\ud800", "x\udc00y", "\udc00\ud800", binary, "\ufeffa",
    "a".repeat(1 << 20), "word ".repeat(200000), "\u0301".repeat(5000), "-".repeat(100000),
    "é".repeat(300000)];
  for (const text of bad) {
    const { words } = mechanism.privatize(text);
    const pieces = tem.pieces(text);
    assert.equal(words, pieces.filter((piece) => piece.kind !== "punctuation").length);
    assert.ok(pieces.every(({ start, end }) => start < end && end <= text.length));
  }
  assert.deepEqual(tem.pieces(""), []);
  assert.equal(mechanism.privatize("").text, "");
  mechanism.free();
});

test("a text beyond a limit is refused, without its content", () => {
  const mechanism = tem.mechanism({ epsilon: 3 });
  const marks = "a" + "\u0301".repeat(600000);
  assert.throws(() => mechanism.privatize(marks),
    (error) => error instanceof TemError && error.status === "range" &&
      !error.message.includes("\u0301"));
  assert.ok(mechanism.privatize("still works").words === 2);
  mechanism.free();
});

test("bad options", () => {
  const bad = [undefined, null, {}, { epsilon: 0 }, { epsilon: -1 }, { epsilon: NaN },
    { epsilon: Infinity }, { epsilon: "3" }, { epsilon: 1e-9 }, { epsilon: 1e30 },
    { epsilon: 3, beta: 0 }, { epsilon: 3, beta: 2 }, { epsilon: 3, gamma: -1 },
    { epsilon: 3, gamma: 0 }, { epsilon: 3, beta: 0.1, gamma: 3 }, { epsilon: 3, gamma: 1e9 },
    { epsilon: 3, calibrated: true }, { epsilon: 1.55, calibrated: true },
    { epsilon: 1.5, calibrated: true, beta: 0.1 }, { epsilon: 3, mechanism: "em" },
    { epsilon: 3, mechanism: "rank", beta: 0.1 }, { epsilon: 3, mechanism: "rank", gamma: 3 },
    { epsilon: 1.5, mechanism: "rank", calibrated: true }, { epsilon: 65, mechanism: "rank" },
    { epsilon: 3, mechanism: "rank", c: 0 }, { epsilon: 3, mechanism: "rank", c: 1e6 },
    { epsilon: 3, mechanism: "rank", c: "1" }, { epsilon: 3, c: 1 },
    { epsilon: 3, languageModel: "english" }, { epsilon: 3, languageModel: null },
    { epsilon: 1.5, calibrated: true, languageModel: "english-small" }];
  for (const options of bad)
    assert.throws(() => tem.mechanism(options), TemError, JSON.stringify(options));
});

test("bad arguments", () => {
  const mechanism = tem.mechanism({ epsilon: 3 });
  for (const id of [-2, tem.words, 1.5, NaN, "1", undefined, 2 ** 32]) {
    for (const call of [() => mechanism.draw(id), () => tem.word(id), () => tem.neighbours(id, 3),
      () => mechanism.self(id), () => mechanism.explain(id, 3), () => mechanism.guess(id),
      () => tem.map(id, 3)])
      assert.throws(call, TemError);
  }
  for (const k of [0, -1, 1.5, tem.words + 1, "3"]) {
    assert.throws(() => tem.neighbours(1, k), TemError);
    assert.throws(() => mechanism.explain(1, k), TemError);
    assert.throws(() => mechanism.posterior(1, k), TemError);
  }
  for (const text of [null, undefined, 3, {}, ["a"]]) {
    assert.throws(() => mechanism.privatize(text), TemError);
    assert.throws(() => tem.pieces(text), TemError);
    assert.throws(() => tem.find(text), TemError);
  }
  for (const options of [{ oov: "keep" }, { punctuation: "mask" }, { oov: "toString" },
    { style: "plain" }, { style: null }, { repeat: "never" },
    { style: "sentence", punctuation: "keep" },
    { insecureSeed: 1 }, { insecureSeed: -1n }, { insecureSeed: 1n << 64n }])
    assert.throws(() => mechanism.privatize("a", options), TemError);
  assert.throws(() => mechanism.drawMany([1, 2]), TemError);
  assert.throws(() => mechanism.drawMany(Int32Array.of(0, tem.words)), TemError);
  assert.deepEqual(mechanism.drawMany(new Int32Array(0)), new Int32Array(0));
  mechanism.free();
});

test("bad documents in context", () => {
  const mechanism = tem.mechanism({ epsilon: 3, languageModel: "english-small" });
  const none = new Int32Array(0), one = Int32Array.of(1);
  for (const [past, ids] of [[[1], one], [one, [1]], [undefined, one], [one], [one,
    Int32Array.of(tem.words)], [one, Int32Array.of(-2)]])
    assert.throws(() => mechanism.drawNext(past, ids), TemError);
  assert.throws(() => mechanism.explain(1, 1, { after: [1] }), TemError);
  assert.throws(() => mechanism.explain(1, 1, { after: Int32Array.of(tem.words) }), TemError);
  for (const [ids, options] of [[[1], {}], [Int32Array.of(-1), {}], [one, { style: "loud" }]])
    assert.throws(() => mechanism.write(ids, options), TemError);
  assert.throws(() => mechanism.self(1, { after: [1] }), TemError);
  assert.deepEqual(mechanism.drawNext(none, none), none);
  mechanism.free();
});

test("a freed mechanism does nothing", () => {
  const mechanism = tem.mechanism({ epsilon: 3 });
  mechanism.free();
  mechanism.free();
  for (const call of [() => mechanism.draw(1), () => mechanism.info(), () => mechanism.self(1),
    () => mechanism.privatize("a"), () => mechanism.guess(1), () => mechanism.checkEdits(),
    () => mechanism.drawNext(new Int32Array(0), Int32Array.of(1))])
    assert.throws(call, TemError);
});

test("memory is given back", () => {
  for (let i = 0; i < 100; i++) {
    const mechanism = tem.mechanism({ epsilon: 1 + i / 100 });
    mechanism.guess(458);
    mechanism.free();
  }
});

// All memory of a module that is loaded here, to look for what it keeps.
async function loadWithMemory() {
  const { instantiate } = WebAssembly;
  let memory;
  WebAssembly.instantiate = async (...given) => {
    const made = await instantiate(...given);
    memory = made.instance.exports.memory;
    return made;
  };
  try {
    const own = await load({ languageModel: "english-small" });
    return { own, has: (bytes) => Buffer.from(memory.buffer).includes(bytes) };
  } finally {
    WebAssembly.instantiate = instantiate;
  }
}

test("the module keeps neither a text, nor its ids, nor its output", async () => {
  const { own, has } = await loadWithMemory();
  const known = "movie was wonderful but story seemed rather thin";
  const text = `${known} Zqxjascii\u00d6zqxjbeyond`;
  assert.ok(has(Buffer.from("wonderful"))); // the search works: the vocabulary has this word
  const ids = own.pieces(text).map((piece) => piece.id);
  assert.ok(ids.length >= 9 && ids.slice(0, 8).every((id) => id >= 0));
  const found = Int32Array.from(ids);
  const mechanism = own.mechanism({ epsilon: 3 });
  const output = mechanism.privatize(text, { insecureSeed: 5n }).text;
  assert.ok(output.length > 20);
  mechanism.drawMany(found);
  const fluent = own.mechanism({ mechanism: "rank", epsilon: 3, languageModel: "english-small" });
  const shown = fluent.drawNext(new Int32Array(0), found);
  const sentence = fluent.privatize(text, { insecureSeed: 5n, style: "sentence" }).text;
  own.find("Zqxjascii\u00d6zqxjbeyond");
  for (const kept of [known, "Zqxjascii", "zqxjascii", "\u00f6zqxjbeyond", "\u00d6zqxjbeyond",
    output, sentence])
    assert.ok(!has(Buffer.from(kept)), kept);
  assert.ok(!has(Buffer.from(found.buffer, 0, 32)), "ids");
  assert.ok(!has(Buffer.from(shown.buffer, 0, 32)), "drawn ids");
  const places = own.pieces(text).slice(0, 4).flatMap(({ start, end, id }) => [start, end, id, 1]);
  assert.ok(!has(Buffer.from(Int32Array.from(places).buffer)), "pieces");
  mechanism.free();
});
