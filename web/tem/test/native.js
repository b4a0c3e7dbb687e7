// native.js - the native program and library, for tests that compare with them. web/tests/run sets
// TEM_BUILD (the native build), TEM_WEB (what `make wasm` built) and TEM_SOURCE (the sources).
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { load } from "../index.js";

const build = process.env.TEM_BUILD, web = process.env.TEM_WEB;
delete process.env.TEM_MODEL; // the command takes the model beside it, with its certificates

process.env.XDG_STATE_HOME = join(web, "state"); // who built web.tem trusts it

export const source = process.env.TEM_SOURCE;
export const model = join(build, "default.tem");
// The native model with the order of the web, and the language model of the web for it.
export const webModel = join(web, "web.tem");
export const webLanguage = join(web, "web.temlm");
export const tem = await load({ languageModel: "english-small" });

function run(program, args, input) {
  const done = spawnSync(program, args, { input, maxBuffer: 1 << 30 });
  if (done.error) throw done.error;
  if (done.status !== 0) throw new Error(`${program}: ${done.stderr}`);
  return done.stdout;
}

// The output of the command `tem`.
export function command(args, input = "") {
  return run(join(build, "tem"), [...args, "-q"], input).toString();
}

// The output of web/tests/oracle.c, as bytes.
export function oracle(args, input) {
  return run(join(web, "tools/oracle"), args, input);
}

export function tool(name) {
  return readFileSync(join(web, "tools", name));
}

// Numbers of one call after the other, from the oracle's bytes.
export class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  words(count) {
    const from = this.at;
    this.at += 4 * count;
    return new Uint32Array(Uint8Array.prototype.slice.call(this.bytes, from, this.at).buffer);
  }

  doubles(count) {
    const from = this.at;
    this.at += 8 * count;
    return new Float64Array(Uint8Array.prototype.slice.call(this.bytes, from, this.at).buffer);
  }
}

// A fixed sequence of numbers, so that a failing test fails again.
export function sequence(seed) {
  let state = BigInt(seed);
  return (below) => {
    state = (state * 6364136223846793005n + 1442695040888963407n) & 0xffffffffffffffffn;
    return Number((state >> 32n) * BigInt(below) >> 32n);
  };
}

// Texts of all kinds, one line each.
export const texts = [
  "The movie was a great surprise, and I don't regret it.",
  "Patient reports chest pain since Tuesday; no history of diabetes. 120/80, 36.6 °C",
  "it's well-known that O'Brien isn't state-of-the-art (or is he?) -- e-mail: a.b@example.com",
  "Café, naïve, Straße, ΣΊΣΥΦΟΣ, ﬁn, e\u0301tude, Ａｂｃ, don’t, ½, x²",
  "日本語のテキスト と 한국어 텍스트, العربية من اليمين, हिन्दी, ไทย",
  "👩‍👩‍👧‍👦 🇩🇪 👍🏽 emoji 𝕏 𝔘𝔫𝔦𝔠𝔬𝔡𝔢",
  "   \t tabs and   spaces \u00a0\u202f no-break  ",
  "!!! ??? ... --- '' \"\" ---",
  "a", "", "-", "'", "zzzzqqq xqzj unknownword",
  "the ".repeat(300) + "end",
  "word-".repeat(50) + "word",
  "\u0301\u0302 marks at the start; a\u0300\u0301\u0302\u0303 stacked",
];
