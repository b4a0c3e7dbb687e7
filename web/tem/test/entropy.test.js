// Without random bytes nothing is drawn.
import assert from "node:assert/strict";
import { test } from "node:test";
import { tem } from "./native.js";

const real = globalThis.crypto;

function withCrypto(value, use) {
  Object.defineProperty(globalThis, "crypto", { value, configurable: true, writable: true });
  try {
    use();
  } finally {
    Object.defineProperty(globalThis, "crypto",
      { value: real, configurable: true, writable: true });
  }
}

const refused = { name: "TemError", status: "entropy" };

function refusesAll(value) {
  const mechanism = tem.mechanism({ epsilon: 3 });
  withCrypto(value, () => {
    assert.throws(() => mechanism.draw(1), refused);
    assert.throws(() => mechanism.drawMany(Int32Array.of(1, 2, 3)), refused);
    assert.throws(() => mechanism.privatize("the movie"), refused);
    assert.throws(() => mechanism.privatize("the movie", { insecureSeed: 1n }), refused);
  });
  assert.equal(mechanism.drawMany(Int32Array.of(1, 2)).length, 2);
  mechanism.free();
}

test("no crypto", () => refusesAll(undefined));
test("crypto without getRandomValues", () => refusesAll({}));
test("getRandomValues throws", () => refusesAll({ getRandomValues() {
  throw new Error("no entropy");
} }));
test("getRandomValues leaves zeros", () => refusesAll({ getRandomValues: (target) => target }));

test("getRandomValues fails halfway, and then gives nothing", () => {
  const mechanism = tem.mechanism({ epsilon: 3 });
  let isFirst = true;
  const failing = { getRandomValues(target) {
    if (!isFirst) return target;
    isFirst = false;
    target.fill(7, 0, 32);
    throw new Error("no entropy");
  } };
  withCrypto(failing, () => {
    assert.throws(() => mechanism.draw(1), refused);
    assert.throws(() => mechanism.draw(1), refused); // the bytes of the first call do not serve
  });
  mechanism.free();
});

test("getRandomValues fails in the middle of a run", () => {
  const mechanism = tem.mechanism({ epsilon: 3 });
  let left = 5;
  const failing = { getRandomValues(target) {
    if (left-- === 0) throw new Error("no entropy");
    return real.getRandomValues(target);
  } };
  const drawn = [];
  withCrypto(failing, () => {
    assert.throws(() => {
      for (let i = 0; i < 10; i++) drawn.push(mechanism.draw(i));
    }, refused);
  });
  assert.equal(drawn.length, 5);
  assert.ok(mechanism.draw(1) >= 0); // the module itself is sound
  mechanism.free();
});

test("a call asks for at most 65,536 bytes, and Math.random is never used", () => {
  const mechanism = tem.mechanism({ epsilon: 3 }), random = Math.random;
  const careful = { getRandomValues(target) {
    assert.ok(target.byteLength <= 65536);
    return real.getRandomValues(target);
  } };
  Math.random = () => assert.fail("Math.random was called");
  try {
    withCrypto(careful, () => mechanism.privatize("the movie was good ".repeat(2000)));
  } finally {
    Math.random = random;
  }
  mechanism.free();
});
