// uses.ts - uses every call of index.d.ts, for tsc.
import { LINE_END, load, TemError } from "../index.js";
import type { Mechanism, Piece, Tem } from "../index.js";

const tem: Tem = await load({ wasm: new Uint8Array(1), model: new ArrayBuffer(1) });
const mechanism: Mechanism = tem.mechanism({ epsilon: 3, beta: 0.001, calibrated: false });
tem.loadLanguageModel(new Uint8Array(1));
const fluent: Mechanism = tem.mechanism({ mechanism: "rank", epsilon: 3, c: 1,
  languageModel: "english-small" });
fluent.checkEdits();
const next: Int32Array = fluent.drawNext(Int32Array.of(1, LINE_END), Int32Array.of(2));
const after = fluent.explain(1, 10, { after: next });
const line: string = fluent.write(next, { style: "sentence" });
const bound: number = fluent.info().bound;
const language: string | undefined = tem.info().languageModel?.hash;
const pieces: Piece[] = tem.pieces("text");
const kind: "word" | "unknown" | "punctuation" = pieces[0].kind;
const drawn: Int32Array = mechanism.drawMany(Int32Array.of(mechanism.draw(1)));
const { text, words, unknown, charged }:
  { text: string, words: number, unknown: number, charged: number } =
  mechanism.privatize("text", { oov: "mask", punctuation: "keep", keepLines: true,
    insecureSeed: 1n, style: "sentence", repeat: "once" });
const law = mechanism.explain(1, 10);
const numbers: number[] = [law.self, law.support, law.tail.words, law.entries[0].probability,
  mechanism.self(1), mechanism.guess(2).probability, mechanism.posterior(2, 3)[0].id,
  tem.map(1, 5)[0].x, tem.neighbours(1, 5)[0].distance, tem.find("a"), tem.info().words,
  tem.certificates()[0].realised, mechanism.info().epsilonGamma, words, unknown, drawn.length,
  charged, after.self, bound, line.length, fluent.self(1, { after: next }), language?.length ?? 0];
try {
  mechanism.free();
} catch (error) {
  if (error instanceof TemError) console.log(error.status, error.message, kind, text, numbers);
}

// @ts-expect-error epsilon has no default
tem.mechanism({});
// @ts-expect-error no such policy
mechanism.privatize("text", { oov: "keep" });
