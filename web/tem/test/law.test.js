// Draws follow the law, and the law is the native one.
import assert from "node:assert/strict";
import { test } from "node:test";
import { command, tem } from "./native.js";

// The law of a word over its 2,000 nearest outputs.
function nativeLaw(word, args) {
  return JSON.parse(command(["explain", ...args, word, "--top", "2000", "--json"]));
}

const cases = [
  [{ epsilon: 3 }, ["--epsilon", "3"]],
  [{ epsilon: 1.5, calibrated: true }, ["--epsilon", "1.5", "--calibrated"]],
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

// 200,000 draws for each of 3 words and 2 mechanisms: false alarms 6e-6 in all. The planted faults
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

test("each draw has its own random bytes", () => {
  const mechanism = tem.mechanism({ epsilon: 0.5 });
  const drawn = new Set(Array.from({ length: 200 }, () => mechanism.draw(458)));
  assert.ok(drawn.size > 150); // 200 draws among thousands of words; 50 repeats: below 1e-20
  mechanism.free();
});
