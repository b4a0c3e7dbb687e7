// The best guess equals that of brute force over all pairs of words.
import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { Reader, model, oracle, tem } from "./native.js";

const LOG_ERROR = 0.01; // log_totals.h
const mechanisms = [["0.7", { epsilon: 0.7 }], ["2.3", { epsilon: 2.3 }], ["3.3", { epsilon: 3.3 }],
  ["6", { epsilon: 6 }], ["c1", { epsilon: 1, calibrated: true }]];
const outputs = [];
const excluded = new Set();

{
  const mechanism = tem.mechanism({ epsilon: 3 });
  for (let y = 0; y < tem.words; y += 67) {
    try {
      mechanism.guess(y);
      outputs.push(y);
    } catch (error) {
      assert.equal(error.status, "argument");
      excluded.add(y);
    }
  }
  mechanism.free();
}

const native = new Reader(oracle(["guesses", model, join(dirname(model), "default.tem.cert"),
  ...mechanisms.map(([name]) => name)], Buffer.from(Uint32Array.from(outputs).buffer)));

for (const [name, options] of mechanisms) {
  const totals = native.doubles(tem.words);
  const expected = outputs.map(() => ({ id: native.words(1)[0],
    probability: native.doubles(1)[0] }));

  test(`the table of ln Z, at ${name}`, () => {
    const mechanism = tem.mechanism(options), found = mechanism.logTotals();
    let worst = 0;
    for (let w = 0; w < tem.words; w++) worst = Math.max(worst, Math.abs(found[w] - totals[w]));
    console.log(`# largest error of ln Z at ${name}: ${worst.toFixed(5)}`);
    assert.ok(worst <= LOG_ERROR, `an error of ${worst}`);
    mechanism.free();
  });

  test(`guesses at ${name}, for ${outputs.length} outputs`, () => {
    const mechanism = tem.mechanism(options);
    let same = 0;
    outputs.forEach((y, i) => {
      const { id, probability } = mechanism.guess(y);
      same += id === expected[i].id;
      assert.ok(Math.abs(probability / expected[i].probability - 1) < 2 * LOG_ERROR + 0.001);
    });
    console.log(`# the same guess at ${name}: ${same} of ${outputs.length}`);
    assert.ok(same >= 0.999 * outputs.length);
    mechanism.free();
  });
}

test("the posterior descends, starts with the guess, and adds up to 1", () => {
  const mechanism = tem.mechanism({ epsilon: 2 });
  const all = mechanism.posterior(458, 2000);
  assert.deepEqual(all[0], mechanism.guess(458));
  for (let i = 2; i < all.length; i++) assert.ok(all[i].probability <= all[i - 1].probability);
  const sum = all.reduce((total, one) => total + one.probability, 0);
  assert.ok(sum > 0.3 && sum < 1.0001);
  mechanism.free();
});

test("no guess where the table does not serve", () => {
  for (const options of [{ epsilon: 3, beta: 0.1 }, { epsilon: 3, gamma: 2 }]) {
    const mechanism = tem.mechanism(options);
    assert.throws(() => mechanism.guess(1), { name: "TemError", status: "unsupported" });
    mechanism.free();
  }
});
