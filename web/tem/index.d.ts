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
 *  refuses every other model than the one that it was built with ("untrusted"). */
export function load(source?: { wasm?: BufferSource, model?: BufferSource }): Promise<Tem>;

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
  /** The privacy loss per unit of distance; above 0, no default. Smaller is more private. */
  epsilon: number;
  /** How often the output may lie beyond gamma; 0.001 by default. */
  beta?: number;
  /** The distance beyond which all words count as equally far; instead of beta. */
  gamma?: number;
  /** Use the certificate for this epsilon (Tem.certificates). */
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
  /** Draws by this seed, from 0 to 2^64 - 1, as `tem privatize --insecure-seed` does for its first
   *  document. For tests: the output is not private. */
  insecureSeed?: bigint;
}

export interface Tem {
  info(): { version: string, words: number, dimensions: number, hash: string, excluded: number };

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
  /** s, gamma: of the law P(y | w) ~ a_y exp(-s min(d(w, y), gamma)). epsilonGamma: the largest
   *  possible loss of a word. */
  info(): { epsilon: number, s: number, gamma: number, epsilonGamma: number, calibrated: boolean };

  /** Draws a word for a word; -1 is an unknown word. */
  draw(id: number): number;
  drawMany(ids: Int32Array): Int32Array;

  /** Replaces every word of a text. `words` counts what was drawn for or handled by a policy,
   *  `unknown` the unknown words among them. */
  privatize(text: string, options?: PrivatizeOptions):
    { text: string, words: number, unknown: number };

  /** N_w, the probability that the word stays itself. */
  self(id: number): number;

  /** The law of a word: the `top` nearest outputs, all other outputs together, N_w, and S_w, over how
   *  many words the output is spread. Relative error below 1e-12. */
  explain(id: number, top: number): {
    entries: (Neighbour & { probability: number })[],
    tail: { words: number, probability: number }, self: number, support: number };

  /** The best guess at the input behind the output y, if words occur by Zipf's law, and the
   *  probability that it is right. */
  guess(y: number): { id: number, word: string, probability: number };

  /** The `top` likeliest inputs behind the output y. */
  posterior(y: number, top: number): { id: number, word: string, probability: number }[];

  /** Frees the mechanism, and erases what it keeps of the words drawn for. Their lists of near words
   *  belong to the Tem, and stay. */
  free(): void;
}
