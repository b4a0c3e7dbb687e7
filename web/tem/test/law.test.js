// Draws follow the law, and the law is the native one.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { LINE_END } from "../index.js";
import { command, source, tem, webLanguage, webModel } from "./native.js";

// The law of a word over its 2,000 nearest outputs.
function nativeLaw(word, args) {
  return JSON.parse(command(["explain", ...args, word, "--top", "2000", "--json"]));
}

const cases = [
  [{ epsilon: 3 }, ["--epsilon", "3"]],
  [{ epsilon: 1.5, calibrated: true }, ["--epsilon", "1.5", "--calibrated"]],
  [{ mechanism: "rank", epsilon: 1.2 },
    ["--mechanism", "rank", "--epsilon", "1.2", "-m", webModel]],
];

for (const [options, args] of cases)
  test(`explain and self: ${args.join(" ")}`, () => {
    const mechanism = tem.mechanism(options);
    for (const word of ["movie", "the", "doctor", "zurich"]) {
      const native = nativeLaw(word, args), id = tem.find(word);
      const near = (a, b) => assert.ok(Math.abs(a - b) <= 1e-10 * Math.abs(b), `${a} is not ${b}`);
      const found = mechanism.explain(id, 50);
      found.entries.forEach((entry, i) => {
        assert.equal(entry.word, native.entries[i].word);
        assert.equal(entry.distance, native.entries[i].distance);
        near(entry.probability, native.entries[i].probability);
      });
      near(mechanism.self(id), native.self);
      near(found.self, native.self);
      near(found.support, native.support);
      const listed = found.entries.reduce((sum, entry) => sum + entry.probability, 0);
      assert.ok(Math.abs(listed + found.tail.probability - 1) < 1e-12);
    }
    mechanism.free();
  });

// The quantile of chi-square with `freedom` degrees of freedom that a variable exceeds with
// probability 1e-6 (Wilson and Hilferty; its error is far below the gap to a fault).
function chiSquareLimit(freedom) {
  const z = 4.7534;
  return freedom * (1 - 2 / (9 * freedom) + z * Math.sqrt(2 / (9 * freedom))) ** 3;
}

// Chi-square of draws against a law. Bins come from the law: near words with at least 20 expected
// draws, and all others together.
function chiSquare(law, drawn) {
  const counts = new Map();
  for (const id of drawn) counts.set(id, (counts.get(id) ?? 0) + 1);
  let sum = 0, bins = 0, restExpected = drawn.length, restFound = drawn.length;
  for (const { word, probability } of law.entries) {
    const expected = probability * drawn.length;
    if (expected < 20) continue;
    const found = counts.get(tem.find(word)) ?? 0;
    sum += (found - expected) ** 2 / expected;
    bins++;
    restExpected -= expected;
    restFound -= found;
  }
  sum += (restFound - restExpected) ** 2 / restExpected;
  return { sum, limit: chiSquareLimit(bins) };
}

// 200,000 draws for each of 3 words and 3 mechanisms: false alarms 9e-6 in all. The planted faults
// draw from a mechanism with an epsilon 3 % larger, and must be noticed.
const DRAWS = 200000;
for (const [options, args] of cases)
  test(`draws follow the law: ${args.join(" ")}`, () => {
    const mechanism = tem.mechanism(options);
    for (const word of ["movie", "doctor", "zurich"]) {
      const id = tem.find(word);
      const drawn = mechanism.drawMany(new Int32Array(DRAWS).fill(id));
      const { sum, limit } = chiSquare(nativeLaw(word, args), drawn);
      assert.ok(sum < limit, `chi-square ${sum} is above ${limit}`);
    }
    mechanism.free();
  });

test("the test of draws notices another law", () => {
  const wrong = tem.mechanism({ epsilon: 3.09 });
  const drawn = wrong.drawMany(new Int32Array(DRAWS).fill(tem.find("movie")));
  const { sum, limit } = chiSquare(nativeLaw("movie", ["--epsilon", "3"]), drawn);
  assert.ok(sum > limit);
  wrong.free();
});

// An unknown word has the uniform law over the outputs: mean count 5.94, 33,693 bins.
test("unknown words are drawn uniformly, and excluded words never", () => {
  const mechanism = tem.mechanism({ epsilon: 3 }), counts = new Uint32Array(tem.words);
  for (const id of mechanism.drawMany(new Int32Array(DRAWS).fill(-1))) counts[id]++;
  const outputs = tem.words - tem.info().excluded, expected = DRAWS / outputs;
  let sum = 0;
  for (const count of counts) sum += (count - expected) ** 2 / expected;
  sum -= tem.info().excluded * expected; // the excluded words have no draws and no bins
  assert.ok(sum < chiSquareLimit(outputs - 1), `chi-square ${sum}`);
  assert.ok(counts.filter((count) => count === 0).length >= tem.info().excluded);
  mechanism.free();
});

// ---- in context

const english = ["--language-model", webLanguage, "-m", webModel];
const contexts = [
  [{ mechanism: "rank", epsilon: 2, languageModel: "english-small" },
    ["--mechanism", "rank", "--epsilon", "2", ...english]],
  [{ epsilon: 2, languageModel: "english-small" }, ["--epsilon", "2", ...english]],
];
const pasts = ["", "i have never", "the", "one of the best movies that"];
const idsOf = (text) => Int32Array.from(tem.pieces(text), (piece) => piece.id);

for (const [options, args] of contexts)
  test(`explain after a past: ${JSON.stringify(options)}`, () => {
    const mechanism = tem.mechanism(options);
    for (const past of pasts) {
      const native = nativeLaw("seen", [...args, "--after", past]), after = idsOf(past);
      const found = mechanism.explain(tem.find("seen"), 50, { after });
      const near = (a, b) => assert.ok(Math.abs(a - b) <= 1e-10 * Math.abs(b), `${a} is not ${b}`);
      const likely = new Map(native.entries.map((entry) => [entry.word, entry.probability]));
      let before = 1, seen = 0;
      for (const { word, probability } of found.entries) {
        assert.ok(probability <= before);
        before = probability;
        if (likely.has(word)) near(probability, likely.get(word));
        seen += likely.has(word);
      }
      assert.ok(seen > 25); // the others are not among the 2,000 nearest
      near(found.self, native.self);
      near(found.support, native.support);
      assert.equal(mechanism.self(tem.find("seen"), { after }), found.self);
      const listed = found.entries.reduce((sum, entry) => sum + entry.probability, 0);
      assert.ok(Math.abs(listed + found.tail.probability - 1) < 1e-12);
      const line = Int32Array.of(...idsOf("some other line"), LINE_END, ...after);
      assert.equal(mechanism.explain(tem.find("seen"), 1, { after: line }).self, found.self);
    }
    mechanism.free();
  });

// The next draw of `count` documents that show the past.
function drawnNext(mechanism, past, id, count) {
  const word = Int32Array.of(id);
  return Int32Array.from({ length: count }, () => mechanism.drawNext(past, word)[0]);
}

// 8 tests of 20,000 draws: false alarms 8e-6 in all.
for (const [options] of contexts)
  test(`draws in context follow the law: ${JSON.stringify(options)}`, () => {
    const mechanism = tem.mechanism(options), id = tem.find("seen");
    for (const past of pasts) {
      const after = idsOf(past), law = mechanism.explain(id, 200, { after });
      const { sum, limit } = chiSquare(law, drawnNext(mechanism, after, id, 20000));
      assert.ok(sum < limit, `chi-square ${sum} is above ${limit}`);
    }
    mechanism.free();
  });

test("the test of draws in context notices another past", () => {
  const mechanism = tem.mechanism(contexts[0][0]), id = tem.find("seen");
  const law = mechanism.explain(id, 200, { after: idsOf("i have never") });
  const { sum, limit } = chiSquare(law, drawnNext(mechanism, idsOf("i have often"), id, 20000));
  assert.ok(sum > limit);
  mechanism.free();
});

test("a document in two calls, and in one", () => {
  const mechanism = tem.mechanism({ epsilon: 30, languageModel: "english-small" });
  const ids = idsOf("i have never seen a better movie than this one in a long time");
  const first = mechanism.drawNext(new Int32Array(0), ids.subarray(0, 5));
  const rest = mechanism.drawNext(first, ids.subarray(5));
  assert.deepEqual([...first, ...rest], [...ids]); // at this epsilon words nearly always stay
  assert.deepEqual(mechanism.drawNext(new Int32Array(0), ids), ids);
  const plain = tem.mechanism({ epsilon: 30 });
  assert.deepEqual(plain.drawNext(first, ids), ids);
  plain.free();
  mechanism.free();
});

test("in context no word is drawn, explained or guessed by itself", () => {
  const [inContext] = contexts[0], mechanism = tem.mechanism(inContext), one = Int32Array.of(5);
  for (const call of [() => mechanism.draw(5), () => mechanism.drawMany(one),
    () => mechanism.self(5), () => mechanism.explain(5, 3), () => mechanism.guess(5),
    () => mechanism.posterior(5, 2), () => mechanism.checkEdits()])
    assert.throws(call, (error) => error.status === "unsupported" &&
      /draws each word by the words that its document shows before/.test(error.message));
  mechanism.free();
  for (const options of [{ epsilon: 3 }, { mechanism: "rank", epsilon: 1 }]) {
    const independent = tem.mechanism(options);
    independent.checkEdits();
    assert.throws(() => independent.explain(5, 3, { after: one }), { status: "argument" });
    independent.free();
  }
  const rank = tem.mechanism({ mechanism: "rank", epsilon: 1 });
  assert.throws(() => rank.guess(5), { status: "unsupported" });
  rank.free();
});

test("a past of words that no draw gives is refused", () => {
  const mechanism = tem.mechanism(contexts[0][0]), one = Int32Array.of(5);
  const excluded = tem.find(readFileSync(`${source}/data/exclude-en.txt`, "utf8").split("\n")[0]);
  for (const past of [[-1], [-2], [-4], [tem.words], [excluded]])
    assert.throws(() => mechanism.drawNext(Int32Array.from(past), one), { status: "argument" });
  assert.equal(mechanism.drawNext(Int32Array.of(LINE_END), one).length, 1);
  mechanism.free();
});

test("each draw has its own random bytes", () => {
  const mechanism = tem.mechanism({ epsilon: 0.5 });
  const drawn = new Set(Array.from({ length: 200 }, () => mechanism.draw(458)));
  assert.ok(drawn.size > 150); // 200 draws among thousands of words; 50 repeats: below 1e-20
  mechanism.free();
});
