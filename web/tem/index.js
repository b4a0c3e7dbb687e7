// index.js - libtem in JavaScript: private text by the Truncated Exponential Mechanism.
//
// tem.wasm, which is libtem's core in C, does the work. This file copies arguments and results,
// and fetches random bytes. index.d.ts is the specification.

// The names of tem_status, in order (tem.h).
const STATUS = ["ok", "argument", "memory", "file", "exists", "format", "version", "damaged",
  "range", "metric", "unsupported", "cancelled", "budget", "certificate", "untrusted"];
const OOV = { uniform: 1, drop: 2, mask: 3, "keep-unsafe": 4 };
const PUNCTUATION = { drop: 1, keep: 2, word: 3 };
const STYLE = { words: 1, sentence: 2, joined: 3 };
const REPEAT = { each: 1, once: 2 };
const MECHANISMS = { tem: 1, rank: 2 };
const LANGUAGE_MODELS = { none: 0, "english-small": 1 };
const LANGUAGE_FILE = "english-small.temng";
const KINDS = ["punctuation", "word"];
// What each kind of picture shows, as strings and numbers (bridge_picture.h, in the same order).
const PICTURES = {
  law: ({ title, width = 0, bars, otherWords = 0, otherProbability = 0 }) => ({
    strings: [title, ...bars.map((bar) => bar.word)],
    numbers: [width, otherWords, otherProbability,
      ...bars.flatMap((bar) => [bar.probability, Number(Boolean(bar.isMarked))])] }),
  curve: ({ title, width = 0, epsilons, series, chosen = 0 }) => ({
    strings: [title, ...series.map((line) => line.name)],
    numbers: [width, chosen, epsilons.length, ...epsilons, ...series.flatMap((line) => line.values)] }),
  map: ({ title, width = 0, points }) => ({
    strings: [title, ...points.map((point) => point.word)],
    numbers: [width, ...points.flatMap((point) =>
      [point.x, point.y, point.probability, Number(Boolean(point.isMarked))])] }),
};
const DISTANCE_ONE = 65536;
const ENTROPY_BYTES = 64;
const TEXT_BYTES_MAX = 1 << 28; // 256 MiB: the module has 1 GiB of memory

// In the past of a document: the end of a line.
export const LINE_END = -5;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

export class TemError extends Error {
  constructor(status, message) {
    super(message);
    this.name = "TemError";
    this.status = status;
  }
}

function refuse(message) {
  throw new TemError("argument", message);
}

function checkNumber(value, name) {
  if (typeof value !== "number" || !Number.isFinite(value)) refuse(`${name} must be a number`);
  return value;
}

function checkWhole(value, least, most, name) {
  if (!Number.isInteger(value) || value < least || value > most)
    refuse(`${name} must be a whole number from ${least} to ${most}`);
  return value;
}

function checkText(text) {
  if (typeof text !== "string") refuse("the text must be a string");
  return text;
}

function choice(table, value, usual, name) {
  const key = value === undefined ? usual : value;
  if (typeof key !== "string" || !Object.hasOwn(table, key))
    refuse(`${name} must be one of ${Object.keys(table).join(", ")}`);
  return table[key];
}

// The module: memory, calls and errors.
class Core {
  #wasm;
  #numbers; // 64 bytes of the module for small results
  #broken = false;
  #random = new Uint8Array(ENTROPY_BYTES);

  constructor(instance) {
    this.#wasm = instance.exports;
    this.#numbers = this.#wasm.bridge_alloc(64);
  }

  get numbers() {
    return this.#numbers;
  }

  // Calls a function of the module. A trap leaves its memory in an unknown state, so that nothing
  // may be drawn from it any more.
  call(name, ...args) {
    if (this.#broken) throw new TemError("damaged", "the module has failed before: load it again");
    try {
      return this.#wasm[name](...args);
    } catch (error) {
      this.#broken = true;
      throw error instanceof WebAssembly.RuntimeError || error instanceof RangeError
        ? new TemError("damaged", "the module has failed")
        : error;
    }
  }

  // The same for a function that returns a tem_status.
  check(name, ...args) {
    const status = this.call(name, ...args);
    if (status !== 0)
      throw new TemError(STATUS[status] ?? "unknown", this.string(this.call("bridge_message")));
  }

  string(pointer) {
    const bytes = new Uint8Array(this.#wasm.memory.buffer, pointer);
    return decoder.decode(bytes.slice(0, bytes.indexOf(0)));
  }

  // Takes `count` numbers from `pointer`, or from the results of the last call. The module must not
  // keep the words of a text, so what was taken is erased.
  take(Type, count, pointer = this.call("bridge_results")) {
    const bytes = new Uint8Array(this.#wasm.memory.buffer, pointer, count * Type.BYTES_PER_ELEMENT);
    const taken = new Type(bytes.slice().buffer);
    bytes.fill(0);
    return taken;
  }

  takeString(bytes) {
    return decoder.decode(this.take(Uint8Array, bytes));
  }

  // Copies bytes into the module, runs `use` with their place, and erases them.
  with(bytes, use) {
    const pointer = this.call("bridge_alloc", bytes.byteLength);
    if (pointer === 0) throw new TemError("memory", "out of memory");
    new Uint8Array(this.#wasm.memory.buffer, pointer, bytes.byteLength).set(
      new Uint8Array(bytes.buffer ?? bytes, bytes.byteOffset ?? 0, bytes.byteLength));
    try {
      return use(pointer, bytes.byteLength);
    } finally {
      if (!this.#broken) this.call("bridge_free", pointer, bytes.byteLength);
    }
  }

  withText(text, use) {
    const bytes = encoder.encode(checkText(text));
    if (bytes.byteLength > TEXT_BYTES_MAX) throw new TemError("range", "the text is too large");
    return this.with(bytes, use);
  }

  // Gives the module random bytes for one call.
  // PRIVACY: without crypto.getRandomValues nothing is drawn; no other source will do.
  entropy() {
    const target = this.#random.fill(0); // a call that failed may have left some
    try {
      globalThis.crypto.getRandomValues(target);
    } catch {
      throw new TemError("entropy", "this environment gives no random bytes");
    }
    let any = 0;
    for (let i = 0; i < ENTROPY_BYTES; i++) any |= target[i];
    if (any === 0) throw new TemError("entropy", "this environment gives no random bytes");
    const pointer = this.call("bridge_entropy");
    new Uint8Array(this.#wasm.memory.buffer, pointer, ENTROPY_BYTES).set(target);
    target.fill(0);
    this.call("bridge_entropy_filled");
  }

  // Draws for one word, without a copy on the heap of the module.
  drawOne(mechanism, id) {
    const place = () => new Int32Array(this.#wasm.memory.buffer, this.#numbers, 1);
    place()[0] = id;
    this.check("bridge_draw", mechanism, this.#numbers, 1);
    return place()[0]; // the memory may have grown: a view of it from before would be empty
  }
}

// The numbers of a mechanism, as bridge_options in bridge.c has them.
function mechanismBytes(options) {
  if (options === null || typeof options !== "object") refuse("options are needed");
  const number = (name) => (options[name] === undefined ? 0 : checkNumber(options[name], name));
  const bytes = new ArrayBuffer(48);
  const kind = choice(MECHANISMS, options.mechanism, "tem", "mechanism");
  new Float64Array(bytes, 0, 4).set([checkNumber(options.epsilon, "epsilon"), number("beta"),
    number("gamma"), number("c")]);
  new Uint32Array(bytes, 32, 3).set([kind, Number(Boolean(options.calibrated)),
    choice(LANGUAGE_MODELS, options.languageModel, "none", "languageModel")]);
  for (const name of ["beta", "gamma", "c"])
    if (options[name] !== undefined && options[name] <= 0)
      throw new TemError("range", `${name} must be above 0`);
  return new Uint8Array(bytes);
}

// The policies of a text, as bridge_text_options in bridge.c has them.
function textBytes(options) {
  const seed = options.insecureSeed;
  if (seed !== undefined && (typeof seed !== "bigint" || seed < 0n || seed >= 1n << 64n))
    refuse("insecureSeed must be a bigint from 0 to 2^64 - 1");
  const bytes = new ArrayBuffer(32);
  new Uint32Array(bytes, 0, 6).set([choice(OOV, options.oov, "uniform", "oov"),
    choice(PUNCTUATION, options.punctuation, "drop", "punctuation"),
    Number(Boolean(options.keepLines)),
    options.style === undefined ? 0 : choice(STYLE, options.style, undefined, "style"),
    choice(REPEAT, options.repeat, "each", "repeat"), Number(seed !== undefined)]);
  new BigUint64Array(bytes, 24, 1)[0] = seed ?? 0n;
  return new Uint8Array(bytes);
}

function checkIds(ids, name) {
  if (!(ids instanceof Int32Array)) refuse(`${name} must be an Int32Array`);
  return ids;
}

export class Mechanism {
  #core;
  #tem;
  #pointer;
  #chosen;

  constructor(core, tem, options) {
    const bytes = mechanismBytes(options);
    this.#core = core;
    this.#tem = tem;
    this.#chosen = { mechanism: options.mechanism ?? "tem",
      languageModel: options.languageModel ?? "none", calibrated: Boolean(options.calibrated) };
    core.with(bytes, (pointer) => core.check("bridge_mechanism", pointer, core.numbers));
    this.#pointer = core.take(Uint32Array, 1, core.numbers)[0];
  }

  get #here() {
    if (this.#pointer === 0) refuse("the mechanism was freed");
    return this.#pointer;
  }

  info() {
    this.#core.check("bridge_mechanism_info", this.#here);
    const [epsilon, s, gamma, epsilonGamma, bound] = this.#core.take(Float64Array, 5);
    return { ...this.#chosen, epsilon, s, gamma, epsilonGamma, bound };
  }

  draw(id) {
    checkWhole(id, -1, this.#tem.words - 1, "the id");
    const mechanism = this.#here;
    this.#core.entropy();
    return this.#core.drawOne(mechanism, id);
  }

  drawMany(ids) {
    checkIds(ids, "the ids");
    const mechanism = this.#here;
    this.#core.entropy();
    return this.#core.with(ids, (pointer) => {
      this.#core.check("bridge_draw", mechanism, pointer, ids.length);
      return this.#core.take(Int32Array, ids.length, pointer);
    });
  }

  drawNext(past, ids) {
    const core = this.#core, mechanism = this.#here;
    checkIds(past, "the past");
    checkIds(ids, "the ids");
    core.entropy();
    return core.with(past, (shown) => core.with(ids, (pointer) => {
      core.check("bridge_draw_next", mechanism, shown, past.length, pointer, ids.length);
      return core.take(Int32Array, ids.length, pointer);
    }));
  }

  checkEdits() {
    this.#core.check("bridge_check_edits", this.#here);
  }

  privatize(text, options = {}) {
    const core = this.#core, mechanism = this.#here;
    const policies = textBytes(options);
    checkText(text);
    core.entropy();
    return core.with(policies, (given) => core.withText(text, (pointer, bytes) => {
      core.check("bridge_privatize", mechanism, pointer, bytes, given, core.numbers);
      const [size, words, unknown, charged] = core.take(Uint32Array, 4, core.numbers);
      return { text: core.takeString(size), words, unknown, charged };
    }));
  }

  write(ids, { style = "words" } = {}) {
    const core = this.#core, mechanism = this.#here;
    const how = choice(STYLE, style, undefined, "style");
    return core.with(checkIds(ids, "the ids"), (pointer) => {
      core.check("bridge_write", mechanism, pointer, ids.length, how, core.numbers);
      return core.takeString(core.take(Uint32Array, 1, core.numbers)[0]);
    });
  }

  self(id, { after } = {}) {
    const core = this.#core, mechanism = this.#here;
    checkWhole(id, 0, this.#tem.words - 1, "the id");
    if (after === undefined) core.check("bridge_self", mechanism, id, core.numbers);
    else
      core.with(checkIds(after, "after"), (past) => core.check("bridge_self_after", mechanism,
        past, after.length, id, core.numbers));
    return core.take(Float64Array, 1, core.numbers)[0];
  }

  explain(id, top, { after } = {}) {
    const core = this.#core, mechanism = this.#here;
    checkWhole(id, 0, this.#tem.words - 1, "the id");
    checkWhole(top, 1, this.#tem.words, "top");
    if (after === undefined) core.check("bridge_explain", mechanism, id, top, core.numbers);
    else
      core.with(checkIds(after, "after"), (past) => core.check("bridge_explain_after", mechanism,
        past, after.length, id, top, core.numbers));
    const [probability, words, self, support, kept] = core.take(Float64Array, 5, core.numbers);
    const entries = this.#tem.nearResults(kept);
    const probabilities = core.take(Float64Array, kept, core.call("bridge_results") + 8 * top);
    entries.forEach((entry, i) => { entry.probability = probabilities[i]; });
    return { entries: this.#tem.named(entries), tail: { words, probability }, self, support };
  }

  guess(y) {
    return this.posterior(y, 1)[0];
  }

  posterior(y, top) {
    const core = this.#core;
    checkWhole(y, 0, this.#tem.words - 1, "the id");
    checkWhole(top, 1, this.#tem.words, "top");
    core.check("bridge_posterior", this.#here, y, top);
    const probabilities = core.take(Float64Array, 2 * top);
    const ids = new Uint32Array(probabilities.buffer);
    return this.#tem.named(Array.from({ length: top }, (_, i) =>
      ({ id: ids[4 * i], word: "", probability: probabilities[2 * i + 1] })));
  }

  // ln Z of every word, from the table: for tests.
  logTotals() {
    this.#core.check("bridge_log_totals", this.#here);
    return this.#core.take(Float64Array, this.#tem.words);
  }

  free() {
    if (this.#pointer !== 0) this.#core.call("bridge_mechanism_free", this.#pointer);
    this.#pointer = 0;
  }
}

export class Tem {
  #core;
  #hasLanguage = false;

  constructor(core) {
    this.#core = core;
    this.words = core.call("bridge_words");
  }

  info() {
    const core = this.#core;
    const text = (name) => core.string(core.call(name));
    return { version: text("bridge_version"), words: this.words,
      dimensions: core.call("bridge_dimensions"), hash: text("bridge_hash"),
      excluded: core.call("bridge_excluded"),
      languageModel: this.#hasLanguage
        ? { name: text("bridge_language_name"), hash: text("bridge_language_hash") } : null };
  }

  loadLanguageModel(bytes) {
    this.#core.with(bytes, (pointer, size) =>
      this.#core.check("bridge_load_language", pointer, size));
    this.#hasLanguage = true;
  }

  certificates() {
    const count = this.#core.call("bridge_certificates");
    const numbers = this.#core.take(Float64Array, 4 * count);
    return Array.from({ length: count }, (_, i) => ({ epsilon: numbers[4 * i], weights: "balanced",
      s: numbers[4 * i + 1], gamma: numbers[4 * i + 2], realised: numbers[4 * i + 3] }));
  }

  mechanism(options) {
    return new Mechanism(this.#core, this, options);
  }

  find(word) {
    return this.#core.withText(word, (pointer, bytes) =>
      this.#core.call("bridge_find", pointer, bytes));
  }

  word(id) {
    checkWhole(id, 0, this.words - 1, "the id");
    return this.#core.takeString(this.#core.call("bridge_word", id));
  }

  pieces(text) {
    const core = this.#core;
    return core.withText(text, (pointer, bytes) => {
      core.check("bridge_pieces", pointer, bytes, core.numbers);
      const count = core.take(Uint32Array, 1, core.numbers)[0];
      const found = core.take(Int32Array, 4 * count);
      const pieces = new Array(count);
      for (let i = 0; i < count; i++) {
        const [start, end, id, word] = found.subarray(4 * i, 4 * i + 4);
        pieces[i] = { start, end, kind: word && id < 0 ? "unknown" : KINDS[word], id };
      }
      return pieces;
    });
  }

  neighbours(id, k) {
    checkWhole(id, 0, this.words - 1, "the id");
    this.#core.check("bridge_neighbours", id, checkWhole(k, 1, this.words, "k"));
    return this.named(this.nearResults(k));
  }

  map(id, k) {
    const core = this.#core;
    checkWhole(id, 0, this.words - 1, "the id");
    core.check("bridge_map", id, checkWhole(k, 1, this.words, "k"));
    const near = this.nearResults(k);
    const places = core.take(Float64Array, 2 * k, core.call("bridge_results") + 8 * k);
    near.forEach((entry, i) => {
      entry.x = places[2 * i];
      entry.y = places[2 * i + 1];
    });
    return this.named(near);
  }

  picture(kind, data) {
    const core = this.#core;
    const { strings, numbers } = choice(PICTURES, kind, undefined, "the kind of picture")(data);
    const text = encoder.encode(strings.map((one) => `${checkText(one).replaceAll("\0", "")}\0`)
      .join(""));
    return core.with(text, (words, textBytes) =>
      core.with(Float64Array.from(numbers), (values, numberBytes) => {
        core.check("bridge_picture", Object.keys(PICTURES).indexOf(kind), words, textBytes, values,
          numberBytes, core.numbers);
        return core.takeString(core.take(Uint32Array, 1, core.numbers)[0]);
      }));
  }

  // The results of a call as ids and distances.
  nearResults(count) {
    const found = this.#core.take(Uint32Array, 2 * count);
    return Array.from({ length: count }, (_, i) =>
      ({ id: found[2 * i], word: "", distance: found[2 * i + 1] / DISTANCE_ONE }));
  }

  named(entries) {
    for (const entry of entries) entry.word = this.word(entry.id);
    return entries;
  }

  // The list and the bounds by which the sampler draws for a word, in steps of 2^-16: for tests.
  list(id) {
    const core = this.#core;
    checkWhole(id, 0, this.words - 1, "the id");
    core.check("bridge_list", id, core.numbers);
    const length = core.take(Uint32Array, 1, core.numbers)[0];
    return { list: core.take(Uint32Array, 2 * length),
      bounds: core.take(Uint32Array, 16, core.call("bridge_results") + 8 * length) };
  }
}

// Reads a file of the package, in Node.
async function packaged(name) {
  if (typeof process === "undefined" || !process.versions?.node)
    refuse("give wasm and model: only Node can read them from the package");
  const { readFile } = await import("node:fs/promises");
  return readFile(new URL(name, import.meta.url));
}

export async function load(source = {}) {
  const wasm = source.wasm ?? await packaged("tem.wasm");
  const model = source.model ?? await packaged("default.temweb");
  let instance;
  try {
    ({ instance } = await WebAssembly.instantiate(wasm, {}));
  } catch {
    throw new TemError("unsupported", "the module does not load: WebAssembly with SIMD is needed");
  }
  const core = new Core(instance);
  core.with(model, (pointer, bytes) => core.check("bridge_load", pointer, bytes));
  const tem = new Tem(core);
  if (source.languageModel !== undefined)
    tem.loadLanguageModel(source.languageModel === "english-small"
      ? await packaged(LANGUAGE_FILE) : source.languageModel);
  return tem;
}
