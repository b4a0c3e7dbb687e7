// index.d.ts - the interface of tem-privacy, and its specification.
//
// Everything runs where it is called: no text leaves the page or the process. After `load` all
// calls are synchronous. A Tem and its mechanisms belong to one thread: a worker loads its own.
//
// A call that fails throws a TemError and changes nothing. Distances are in units of the model's
// metric. Offsets are those of JavaScript strings, in units of UTF-16.

/** What went wrong. The message never contains a word of a text. */
export class TemError extends Error {
  /** The name of the status in tem.h ("argument", "range", "untrusted", ...), or "entropy": the
   *  environment gives no random bytes, and nothing was drawn. */
  readonly status: string;
}

/** The module and the model. In Node the default is to read both from the package. The module
 *  refuses every other model than the one that it was built with ("untrusted").
 *  languageModel: the bytes of english-small.temng, or in Node its name; not loaded unless it is given
 *  here or to Tem.loadLanguageModel. */
export function load(source?: { wasm?: BufferSource, model?: BufferSource,
  languageModel?: BufferSource | "english-small" }): Promise<Tem>;

/** In the past of a document (Mechanism.drawNext): here a line ended. */
export const LINE_END: -5;

export interface Neighbour {
  id: number;
  word: string;
  distance: number;
}

export interface Piece {
  /** Where the piece is in the text. */
  start: number;
  end: number;
  /** "unknown" is a word that the model does not have. */
  kind: "word" | "unknown" | "punctuation";
  /** -1: not in the model. */
  id: number;
}

export interface MechanismOptions {
  /** "tem" by default: near words are likelier, by distance. "rank": by their rank around the word,
   *  so that every word stays itself equally often (without a language model). */
  mechanism?: "tem" | "rank";
  /** Weighs the outputs by the words that the output shows before, so that it reads like text. Only
   *  if it was loaded; "none" by default. */
  languageModel?: "none" | "english-small";
  /** The privacy loss per unit of distance, for "rank" per unit of d_r (PRIVACY.md); above 0, no
   *  default. Smaller is more private. The two units do not compare. */
  epsilon: number;
  /** "rank": the rank at which the law begins to fall off; 1 by default. */
  c?: number;
  /** "tem": how often the output may lie beyond gamma; 0.001 by default. */
  beta?: number;
  /** "tem": the distance beyond which all words count as equally far; instead of beta. */
  gamma?: number;
  /** "tem" without a language model: use the certificate for this epsilon (Tem.certificates). */
  calibrated?: boolean;
}

export interface PrivatizeOptions {
  /** What happens to unknown words; "uniform": a word drawn from the whole model, by default. The
   *  others are outside the guarantee: they show where unknown words were. */
  oov?: "uniform" | "drop" | "mask" | "keep-unsafe";
  /** What happens to punctuation: left out (by default), released as it is, or drawn for as a
   *  word. */
  punctuation?: "drop" | "keep" | "word";
  /** One line of output for each line of the text. */
  keepLines?: boolean;
  /** How the output is written: "words" with spaces between them (by default), "joined": don't for
   *  don t (by default with a language model), or "sentence": joined, with capitals and full stops.
   *  Styles see the output alone, and tell nothing about the text. */
  style?: "words" | "joined" | "sentence";
  /** "each": every word is drawn for (by default). "once": a content word that the text says again
   *  gets the output that it had, and costs once. This shows where words repeat: the guarantee
   *  holds between texts that repeat alike. */
  repeat?: "each" | "once";
  /** Draws by this seed, from 0 to 2^64 - 1, as `tem privatize --insecure-seed` does for its first
   *  document. For tests: the output is not private. */
  insecureSeed?: bigint;
}

export interface Tem {
  /** hash: of the native model with the same lists and order, `tem build` with `--order auto` and
   *  `--neighbours 128`. languageModel: null unless it was loaded. */
  info(): { version: string, words: number, dimensions: number, hash: string, excluded: number,
    languageModel: { name: string, hash: string } | null };

  /** Loads the language model from the bytes of english-small.temng; once. Takes about 1 s. */
  loadLanguageModel(bytes: BufferSource): void;

  /** The epsilons for which calibrated mechanisms exist, and what was proved for them. */
  certificates(): { epsilon: number, weights: "balanced", s: number, gamma: number,
    realised: number }[];

  /** Makes a mechanism. Free it with Mechanism.free. */
  mechanism(options: MechanismOptions): Mechanism;

  /** The id of a word as the model writes it (lower case), or -1. */
  find(word: string): number;
  word(id: number): string;

  /** The pieces of a text that a mechanism replaces, in order. */
  pieces(text: string): Piece[];

  /** The k nearest words, the word itself first as a rule. */
  neighbours(id: number, k: number): Neighbour[];

  /** The k nearest words on a plane: their two principal components, with the word at 0, 0. */
  map(id: number, k: number): (Neighbour & { x: number, y: number })[];

  /** A picture as SVG text, with a title and a description for screen readers; tem_picture.h says
   *  what it shows. Text has the color of its surroundings; a page chooses the other colors by
   *  the classes of the parts. width: in pixels, 360 unless given. */
  picture(kind: "law", data: PictureOfLaw): string;
  picture(kind: "curve", data: PictureOfCurve): string;
  picture(kind: "map", data: PictureOfMap): string;
}

/** The law of a word as bars. */
export interface PictureOfLaw {
  title: string;
  width?: number;
  bars: { word: string, probability: number, isMarked?: boolean }[];
  /** Words without a bar, and their probability together. */
  otherWords?: number;
  otherProbability?: number;
}

/** Shares against epsilon. */
export interface PictureOfCurve {
  title: string;
  width?: number;
  epsilons: number[];
  /** One value for each epsilon, 0 to 1; NaN where it is not known. */
  series: { name: string, values: number[] }[];
  /** An epsilon to mark. */
  chosen?: number;
}

/** Words on a plane; the first is in the middle. */
export interface PictureOfMap {
  title: string;
  width?: number;
  points: { word: string, x: number, y: number, probability: number, isMarked?: boolean }[];
}

export interface Mechanism {
  /** s, gamma: of the law P(y | w) ~ a_y exp(-s min(d(w, y), gamma)); for "rank" of
   *  a_y (1 + r/c)^-s, where gamma is 0 and epsilonGamma infinite. bound: the largest possible loss
   *  of a word. In context the weights a_y come from the language model. */
  info(): { epsilon: number, s: number, gamma: number, epsilonGamma: number, bound: number,
    calibrated: boolean, mechanism: "tem" | "rank", languageModel: "none" | "english-small" };

  /** Draws a word for a word; -1 is an unknown word. Not in context ("unsupported"): there a draw
   *  depends on the words before. */
  draw(id: number): number;
  drawMany(ids: Int32Array): Int32Array;

  /** Draws for the next words of a document that has released `past`: words, and LINE_END where a
   *  line ended; empty at its beginning. For documents that are drawn in parts. The guarantee is
   *  that of the whole document if each word is drawn once, after what was drawn before. */
  drawNext(past: Int32Array, ids: Int32Array): Int32Array;

  /** Throws ("unsupported", with the reason) if a word of a document cannot be drawn again by
   *  itself while the others keep their draws: in context the draws after it depend on it. */
  checkEdits(): void;

  /** Replaces every word of a text. `words` counts what was drawn for or handled by a policy,
   *  `unknown` the unknown words among them, `charged` the words that cost. A call is one document:
   *  in context it begins with an empty past. */
  privatize(text: string, options?: PrivatizeOptions):
    { text: string, words: number, unknown: number, charged: number };

  /** Words that were drawn before as one line of text, in a style of PrivatizeOptions. Draws
   *  nothing. */
  write(ids: Int32Array, options?: { style?: "words" | "joined" | "sentence" }): string;

  /** N_w, the probability that the word stays itself; in context `after` a past. */
  self(id: number, options?: { after?: Int32Array }): number;

  /** The law of a word: the `top` nearest outputs (of "rank" the likeliest), all other outputs
   *  together, N_w, and S_w, over how many words the output is spread. Relative error below 1e-12.
   *  after: in context, the law in a document that shows this past; the entries are the `top`
   *  likeliest outputs. */
  explain(id: number, top: number, options?: { after?: Int32Array }): {
    entries: (Neighbour & { probability: number })[],
    tail: { words: number, probability: number }, self: number, support: number };

  /** The best guess at the input behind the output y, if words occur by Zipf's law, and the
   *  probability that it is right. Only for "tem" without a language model ("unsupported"). */
  guess(y: number): { id: number, word: string, probability: number };

  /** The `top` likeliest inputs behind the output y. */
  posterior(y: number, top: number): { id: number, word: string, probability: number }[];

  /** Frees the mechanism, and erases what it keeps of the words drawn for. Their lists of near words
   *  belong to the Tem, and stay. */
  free(): void;
}
