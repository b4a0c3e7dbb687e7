// Words, lists, bounds, pieces and kernels are those of the native library.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { TemError, load } from "../index.js";
import { Reader, command, model, oracle, sequence, source, tem, texts, tool, webLanguage, webModel }
  from "./native.js";

test("the model is the native one", () => {
  const info = JSON.parse(command(["info", "--json", "-m", webModel]));
  const { hash, words, dimensions, excluded, version } = tem.info();
  assert.deepEqual({ hash, words, dimensions, excluded, version }, { hash: info.hash,
    words: info.words, dimensions: info.dimension, excluded: info.excluded,
    version: info.version });
  const beside = JSON.parse(command(["info", "--json"])); // default.tem has the same space
  const proved = beside.certificates.filter((one) => one.weights === "balanced")
    .map(({ epsilon, weights, s, gamma, realised }) => ({ epsilon, weights, s, gamma, realised }));
  assert.deepEqual(tem.certificates(), proved);
});

test("the language model is the native one", () => {
  const native = JSON.parse(command(["info", webLanguage, "-m", webModel, "--json"]));
  assert.equal(tem.info().languageModel.hash, native.hash);
  assert.equal(tem.info().languageModel.name, "english-small");
});

test("every word is found again", () => {
  for (let id = 0; id < tem.words; id += 7) assert.equal(tem.find(tem.word(id)), id);
  assert.equal(tem.find("zzzzqqq"), -1);
  assert.equal(tem.find(""), -1);
});

// 700 words: the first and the last ones, frequent words with their longer lists, and others.
test("lists and bounds equal those of the native index", () => {
  const next = sequence(3), ids = new Set([0, 1, 526, 527, 528, tem.words - 2, tem.words - 1]);
  while (ids.size < 150) ids.add(next(600));
  while (ids.size < 700) ids.add(next(tem.words));
  const list = [...ids];
  const native = new Reader(oracle(["lists", model], Buffer.from(Uint32Array.from(list).buffer)));
  for (const id of list) {
    const found = tem.list(id), length = native.words(1)[0];
    assert.equal(length, id < 527 ? 2048 : 128);
    assert.deepEqual(found.list, native.words(2 * length));
    assert.deepEqual(found.bounds, native.words(16));
  }
});

function corpus() {
  const folder = join(source, "fuzz/corpus/pieces");
  const bytes = readdirSync(folder).map((name) => readFileSync(join(folder, name)));
  const known = bytes.map((one) => new TextDecoder("utf-8").decode(one));
  const next = sequence(4), alphabet = [..."ab'-’. \n\tÀé\u0301ßﬁİıΣς한각각日🇩👍🏽\u200d1½…\u00ad\ufeff"];
  for (let i = 0; i < 3000; i++)
    known.push(Array.from({ length: next(24) }, () => alphabet[next(alphabet.length)]).join(""));
  return [...texts, ...known, "é".repeat(40000) + " a ".repeat(30000) + "word-é".repeat(9000)];
}

test("pieces equal those of the native library, and lie where they say", () => {
  const all = corpus(), encoder = new TextEncoder();
  const input = all.flatMap((text) => {
    const bytes = encoder.encode(text);
    return [Buffer.from(Uint32Array.of(bytes.length).buffer), bytes];
  });
  const native = new Reader(oracle(["pieces", model], Buffer.concat(input)));
  for (const text of all) {
    const pieces = tem.pieces(text), count = native.words(1)[0];
    const expected = native.words(2 * count);
    assert.equal(pieces.length, count);
    let before = 0;
    pieces.forEach((piece, i) => {
      assert.equal(piece.id >>> 0, expected[2 * i]);
      assert.equal(piece.kind, expected[2 * i + 1] === 0 ? "punctuation"
        : piece.id < 0 ? "unknown" : "word");
      assert.ok(piece.start < piece.end && piece.end <= text.length);
      assert.ok(piece.start >= before);
      before = piece.start;
    });
  }
});

test("a piece cut out of a text is the same piece", () => {
  for (const text of texts)
    for (const piece of tem.pieces(text)) {
      const cut = text.slice(piece.start, piece.end);
      if (piece.id >= 0 && piece.kind === "word" && !/['’]/.test(text))
        assert.deepEqual(tem.pieces(cut).map(({ id }) => id), [piece.id]);
    }
});

test("offsets are those of JavaScript", () => {
  const text = "𝕏𝕏 café don’t e\u0301a";
  assert.deepEqual(tem.pieces(text).map(({ start, end }) => text.slice(start, end)),
    ["𝕏𝕏", "café", "don", "t", "e\u0301a"]);
});

test("the kernels for WebAssembly equal the scalar ones", async () => {
  const { instance } = await WebAssembly.instantiate(tool("kernels.wasm"), {});
  for (let seed = 0; seed < 100; seed++) assert.equal(instance.exports.compare(seed), 0);
});

test("the module needs nothing from outside", async () => {
  const wasm = await WebAssembly.compile(readFileSync(new URL("../tem.wasm", import.meta.url)));
  assert.deepEqual(WebAssembly.Module.imports(wasm), []);
});

test("another model is refused", async () => {
  const bytes = readFileSync(new URL("../default.temweb", import.meta.url));
  for (const change of [200, bytes.length >> 1, bytes.length - 1]) {
    const forged = Uint8Array.from(bytes);
    forged[change] ^= 1;
    await assert.rejects(load({ model: forged }),
      (error) => error instanceof TemError && error.status === "untrusted");
  }
  await assert.rejects(load({ model: bytes.subarray(0, 1000) }), { status: "untrusted" });
  await assert.rejects(load({ model: new Uint8Array(0) }), { status: "untrusted" });
  await assert.rejects(load({ wasm: bytes.subarray(0, 100) }), { status: "unsupported" });
});

test("another language model is refused, and a second one", async () => {
  const bytes = readFileSync(new URL("../english-small.temng", import.meta.url));
  const own = await load();
  assert.equal(own.info().languageModel, null);
  for (const change of [0, 100, bytes.length - 1]) {
    const forged = Uint8Array.from(bytes);
    forged[change] ^= 1;
    assert.throws(() => own.loadLanguageModel(forged), { status: "untrusted" });
  }
  await assert.rejects(load({ languageModel: new Uint8Array(0) }), { status: "untrusted" });
  assert.throws(() => own.mechanism({ epsilon: 3, languageModel: "english-small" }),
    { status: "argument" });
  assert.throws(() => tem.loadLanguageModel(bytes), { status: "argument" });
});

test("neighbors and the map", () => {
  const id = tem.find("movie"), near = tem.neighbours(id, 300), map = tem.map(id, 30);
  assert.deepEqual(near[0], { id, word: "movie", distance: 0 });
  for (let i = 1; i < 300; i++) assert.ok(near[i].distance >= near[i - 1].distance);
  assert.deepEqual(map.map((place) => place.id), near.slice(0, 30).map((place) => place.id));
  assert.deepEqual([map[0].x, map[0].y], [0, 0]);
  for (const place of map) assert.ok(Math.hypot(place.x, place.y) <= place.distance + 1e-3);
  assert.equal(tem.map(id, 1).length, 1);
});
