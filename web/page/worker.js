// The worker of the page: holds the model, the text and its draws, so that typing never waits.
//
// A message is {id, call, args}; the answer is {id, result} or {id, error}. `call` is a method of
// the package, "tem.find" or "mechanism.explain", or one of `calls` below. Work on a long text is
// done in slices: between two slices the worker answers messages, and a newer text or epsilon ends
// the older work. Results of such work are events: {event, version, ...}.
//
// No answer to an error contains text: it has the status of the failure alone.
import { LINE_END, load } from "../tem/index.js";

const SLICE_MS = 12;
const BATCH_WORDS = 16; // drawn by one call; a word takes up to 3 ms when it first occurs
const PAST_WORDS = 8; // of a document that a draw in context is told
const STYLED_WORDS = 2000; // a longer line is written as text when all of it is drawn
const LIKELY = 2048; // likeliest outputs that are looked at
const BLOCK_WORDS = 80; // a block of the display ends at the first sentence end after so many
const BLOCK_WORDS_MAX = 160;

let tem = null;
let mechanism = null;
let alone = 0; // how often a word stays itself, in fluent text without its context
let settings = { epsilon: 0, fluent: false };
let version = 0; // of the displayed draws; work for an older version stops
let text = "";
let pieces = [];
let words = []; // pieces that are words, in order
let blocks = { starts: new Int32Array(0), lines: new Int32Array(0) };
let begins = []; // whether a line begins with the word
let draws = []; // one id for each word; undefined: not drawn yet
let isReleased = false; // the draws shown now were copied or downloaded
let stays = new Map(); // id -> N_w under this mechanism
const names = []; // words by id, as far as they were needed
let guesses = new Map(); // output id -> best guess under this mechanism
// What was drawn and released word by word, and fluently: their epsilons have different units, and
// do not add up.
const tally = () => ({ drawnWords: 0, drawn: 0, releasedWords: 0, released: 0, releases: 0 });
const tallies = { words: tally(), fluent: tally() };
const spentNow = () => tallies[settings.fluent ? "fluent" : "words"];

const pause = () => new Promise((resolve) => setTimeout(resolve, 0));
const report = (event, content) => self.postMessage({ event, version, ...content });

function decode(base64) {
  const letters = atob(base64);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

const isWord = (piece) => piece.kind !== "punctuation";
const spelling = (source, piece) => source.slice(piece.start, piece.end);

// Cuts the words into the blocks of the display: one or more per line. starts[i] is the first word
// of block i, lines[i] is the number of line ends before it.
function cutBlocks(source, all) {
  const starts = [];
  const lines = [];
  let word = 0;
  let end = 0;
  const begin = (lineEnds) => {
    starts.push(word);
    lines.push(lineEnds);
  };
  begin(0);
  for (const piece of all) {
    let lineEnds = 0;
    for (let i = end; i < piece.start; i++) if (source.charCodeAt(i) === 10) lineEnds++;
    end = piece.end;
    if (lineEnds) begin(lineEnds);
    const length = word - starts[starts.length - 1];
    if (!isWord(piece)) {
      if (length >= BLOCK_WORDS && ".!?".includes(source[piece.start])) begin(0);
      continue;
    }
    if (length >= BLOCK_WORDS_MAX) begin(0);
    word++;
  }
  return { starts: Int32Array.from(starts), lines: Int32Array.from(lines) };
}

// Whether words keep their draws although words before them change.
// PRIVACY: in context they do not: the law of a draw depends on the draws before it.
function keepsAfterEdits() {
  try {
    mechanism.checkEdits();
    return true;
  } catch {
    return false;
  }
}

// Keeps the draws of the words before and after an edit; in context of those before it. A word that
// was drawn once has its law whether or not the words after it changed.
// PRIVACY: the draws of a released text are not kept. A second release that shared them would show
// where the text was edited; each release is a draw of its own, with its full cost.
function keepDraws(oldText, oldWords, oldDraws, oldBegins) {
  const kept = new Array(words.length);
  if (isReleased || !mechanism) return kept;
  const same = (i, j) =>
    oldWords[i].id === words[j].id &&
    spelling(oldText, oldWords[i]) === spelling(text, words[j]) &&
    (!settings.fluent || oldBegins[i] === begins[j]);
  const least = Math.min(oldWords.length, words.length);
  let before = 0;
  while (before < least && same(before, before)) {
    kept[before] = oldDraws[before];
    before++;
  }
  if (!keepsAfterEdits()) return kept;
  const shift = words.length - oldWords.length;
  for (let i = oldWords.length - 1; i >= before && i + shift >= before && same(i, i + shift); i--) {
    kept[i + shift] = oldDraws[i];
  }
  return kept;
}

// Runs `step` for i = 0, 1, ... until `count`, in slices. Returns false if a newer version began.
// `tell(from, to)` reports each finished slice.
async function inSlices(count, step, tell) {
  const mine = version;
  let from = 0;
  let until = performance.now() + SLICE_MS;
  for (let i = 0; i < count; i++) {
    step(i);
    if (performance.now() < until && i + 1 < count) continue;
    tell(from, i + 1);
    from = i + 1;
    await pause();
    if (version !== mine) return false;
    until = performance.now() + SLICE_MS;
  }
  return true;
}

// What the document shows before word i: the last words of it, and where lines end. These words are
// drawn.
function pastOf(i) {
  const past = [];
  for (let j = i; j > 0 && past.length < PAST_WORDS; j--) {
    if (begins[j]) past.push(LINE_END);
    past.push(draws[j - 1]);
  }
  return Int32Array.from(past.reverse());
}

// Draws for words that stand next to each other in one line, or for any words where their law does
// not depend on the others.
function drawWords(wanted) {
  const ids = Int32Array.from(wanted, (i) => words[i].id);
  const drawn = settings.fluent
    ? mechanism.drawNext(pastOf(wanted[0]), ids)
    : mechanism.drawMany(ids);
  wanted.forEach((i, place) => {
    draws[i] = drawn[place];
  });
  spentNow().drawnWords += wanted.length;
  spentNow().drawn += wanted.length * settings.epsilon;
}

// Draws the words of one batch that have no draw yet.
function drawBatch(batch) {
  let wanted = [];
  const end = Math.min(words.length, (batch + 1) * BATCH_WORDS);
  for (let i = batch * BATCH_WORDS; i < end; i++) {
    if (draws[i] !== undefined) continue;
    if (settings.fluent && begins[i] && wanted.length) {
      drawWords(wanted);
      wanted = [];
    }
    wanted.push(i);
  }
  if (wanted.length) drawWords(wanted);
}

// ---------------------------------------------------------------- how draws are written

// The words of a line as a written text shows them, with the signs after each, and whether the next
// word follows without a space.
function cutWritten(written, drawn) {
  const lower = written.toLowerCase();
  const starts = [];
  let at = 0;
  for (const name of drawn) {
    const start = lower.indexOf(name, at);
    if (start < 0) return drawn.map((word) => ({ word, isGlued: false }));
    starts.push(start);
    at = start + name.length;
  }
  return starts.map((start, k) => {
    const whole = written.slice(start, starts[k + 1] ?? written.length);
    const word = whole.trimEnd();
    return { word, isGlued: word === whole && k + 1 < starts.length };
  });
}

// The words `from` to `to` as the page shows them. Fluent text is written line by line, so this may
// begin earlier.
function display(from, to) {
  if (!settings.fluent) {
    return { from, outputs: draws.slice(from, to).map(nameOf), glued: new Uint8Array(to - from) };
  }
  let first = from;
  while (first > 0 && !begins[first] && from - first < STYLED_WORDS) first--;
  const cut = [];
  for (let i = first; i < to;) {
    let end = i + 1;
    while (end < to && !begins[end]) end++;
    const drawn = draws.slice(i, end);
    const written = mechanism.write(Int32Array.from(drawn), { style: "sentence" });
    cut.push(...cutWritten(written, drawn.map(nameOf)));
    i = end;
  }
  return {
    from: first,
    outputs: cut.map(({ word }) => word),
    glued: Uint8Array.from(cut, ({ isGlued }) => isGlued),
  };
}

function reportDrawn(first, end) {
  const { from, outputs, glued } = display(first, end);
  const stayed = Uint8Array.from(draws.slice(from, end), (id, i) => id === words[from + i].id);
  report("drawn", { from, outputs, glued, stayed });
}

// The word that the page explains first: the longest known one at the beginning of the text.
function notableWord() {
  const first = words.slice(0, 40).map((word) => (word.id < 0 ? 0 : word.end - word.start));
  return Math.max(0, first.indexOf(Math.max(...first)));
}

// How often a word stays itself by its rank alone: every word alike.
function staysAlone(epsilon) {
  const rank = tem.mechanism({ mechanism: "rank", epsilon: epsilon / 2 }); // the same exponent
  const often = rank.self(0);
  rank.free();
  return often;
}

function nameOf(id) {
  if (names[id] === undefined) names[id] = tem.word(id);
  return names[id];
}

// How often word i stays itself, at its place.
function staysOf(i) {
  const { id } = words[i];
  if (id < 0) return 0;
  if (settings.fluent) return mechanism.self(id, { after: pastOf(i) });
  if (!stays.has(id)) stays.set(id, mechanism.self(id));
  return stays.get(id);
}

function guessOf(output) {
  if (!guesses.has(output)) guesses.set(output, mechanism.guess(output));
  return guesses.get(output);
}

// Draws what is not drawn yet, then computes shades, then guesses: the order in which a reader
// wants to see them.
async function showDraws() {
  if (!mechanism) return;
  const mine = ++version;
  const unknown = words.filter((word) => word.id < 0).length;
  report("text", { words: words.length, unknown, notable: notableWord(), blocks });
  const batches = Math.ceil(words.length / BATCH_WORDS);
  const drawn = await inSlices(batches, drawBatch, (firstBatch, endBatch) => {
    const from = firstBatch * BATCH_WORDS;
    reportDrawn(from, Math.min(words.length, endBatch * BATCH_WORDS));
  });
  if (!drawn) return;
  if (settings.fluent && words.length > STYLED_WORDS) reportDrawn(0, words.length);
  report("complete", {
    stayed: draws.filter((id, i) => id === words[i].id).length,
    spent: spentNow(),
  });
  const values = new Float32Array(words.length);
  const shaded = await inSlices(
    words.length,
    (i) => {
      values[i] = staysOf(i);
    },
    (from, to) => report("shaded", { from, values: values.slice(from, to) }),
  );
  if (!shaded || mine !== version || settings.fluent) return; // no attacker here knows context
  let hits = 0;
  const guessed = await inSlices(
    words.length,
    (i) => guessOf(draws[i]),
    (from, to) => {
      const found = draws.slice(from, to).map((id) => guessOf(id));
      const right = Uint8Array.from(found, (guess, i) => guess.id === words[from + i].id);
      for (const one of right) hits += one;
      report("guessed", { from, outputs: found.map((guess) => guess.word), hits: right });
    },
  );
  if (guessed) report("finished", { hits });
}

function work() {
  showDraws().catch(() => report("failed", {}));
}

// The private text: the drawn words, with the line ends of the original; fluent text as sentences.
// The native command writes the same for a field of such lines.
function privateText() {
  const style = settings.fluent ? "sentence" : "words";
  let result = "";
  let line = [];
  const endLine = () => {
    result += mechanism.write(Int32Array.from(line), { style });
    line = [];
  };
  for (let block = 0; block < blocks.starts.length; block++) {
    if (blocks.lines[block] > 0) endLine();
    result += "\n".repeat(blocks.lines[block]);
    const end = block + 1 < blocks.starts.length ? blocks.starts[block + 1] : words.length;
    for (let i = blocks.starts[block]; i < end; i++) line.push(draws[i]);
  }
  endLine();
  return result;
}

// What the page shows of word number i in context: its law after the words before it.
function wordInContext(i, bars, points) {
  const { id } = words[i];
  const shown = { input: spelling(text, words[i]), isKnown: id >= 0, output: nameOf(draws[i]) };
  if (id < 0) return shown;
  const after = pastOf(i);
  const { entries } = mechanism.explain(id, LIKELY, { after });
  const rank = entries.findIndex((entry) => entry.id === draws[i]);
  const isDrawn = rank >= 0;
  const likely = new Map(entries.map((entry) => [entry.id, entry.probability]));
  return {
    ...shown,
    input: nameOf(id),
    isInContext: true,
    law: mechanism.explain(id, bars, { after }),
    place: isDrawn && { rank, stayed: draws[i] === id, ...entries[rank] },
    map: tem.map(id, points).map((at) => ({ ...at, probability: likely.get(at.id) || 0 })),
  };
}

// Where in the law of a word its draw is: how likely, and its rank by distance among the other words
// that can come out; 0 for the word itself.
function placeOf(id, output) {
  for (const top of [64, 2048, tem.info().words]) {
    const { entries } = mechanism.explain(id, top);
    const at = entries.findIndex((entry) => entry.id === output);
    if (at < 0) continue;
    const nearer = entries.slice(0, at).filter((entry) => entry.id !== id).length;
    return { rank: output === id ? 0 : nearer + 1, probability: entries[at].probability };
  }
  return null;
}

const calls = {
  async start(program, model, language) {
    tem = await load({
      wasm: decode(program),
      model: decode(model),
      languageModel: decode(language),
    });
    return { info: tem.info(), certificates: tem.certificates() };
  },

  set(wanted) {
    const { epsilon, calibrated, fluent } = wanted;
    const next = tem.mechanism(
      fluent
        ? { epsilon, mechanism: "rank", languageModel: "english-small" }
        : { epsilon, calibrated },
    );
    if (mechanism) mechanism.free();
    mechanism = next;
    settings = wanted;
    alone = fluent ? staysAlone(epsilon) : 0;
    stays = new Map();
    guesses = new Map();
    return calls.redraw();
  },

  text(next) {
    const old = [text, words, draws, begins];
    text = next;
    pieces = tem.pieces(text);
    words = pieces.filter(isWord);
    blocks = cutBlocks(text, pieces);
    begins = new Array(words.length).fill(false);
    blocks.starts.forEach((start, block) => {
      if (blocks.lines[block] > 0 && start < words.length) begins[start] = true;
    });
    draws = keepDraws(...old);
    isReleased = false;
    work();
  },

  redraw() {
    draws = new Array(words.length);
    isReleased = false;
    work();
    return { ...mechanism.info(), alone };
  },

  // What the page shows of word number i.
  word(i, bars, points) {
    if (i >= words.length || draws[i] === undefined) return null;
    if (settings.fluent) return wordInContext(i, bars, points);
    const { id } = words[i];
    const output = draws[i];
    const shown = {
      input: id < 0 ? spelling(text, words[i]) : tem.word(id),
      isKnown: id >= 0,
      output: tem.word(output),
      guess: mechanism.guess(output),
      others: mechanism.posterior(output, 4),
    };
    shown.isHit = shown.guess.id === id;
    if (id < 0) return shown;
    const law = mechanism.explain(id, points);
    const likely = new Map(law.entries.map((entry) => [entry.id, entry.probability]));
    const map = tem.map(id, points).map((at) => ({ ...at, probability: likely.get(at.id) || 0 }));
    return { ...shown, law: mechanism.explain(id, bars), place: placeOf(id, output), map };
  },

  // The private text, which is released with this call: the same draws are charged once.
  release() {
    if (draws.includes(undefined)) return null; // includes also finds places never filled
    const spent = spentNow();
    if (!isReleased && words.length) {
      spent.releases++;
      spent.releasedWords += words.length;
      spent.released += words.length * settings.epsilon;
      isReleased = true;
    }
    return { text: privateText(), spent };
  },
};

function perform(call, args) {
  const [owner, name] = call.split(".");
  if (owner === "tem") return tem[name](...args);
  if (owner === "mechanism") return mechanism[name](...args);
  return calls[call](...args);
}

self.addEventListener("message", async ({ data: { id, call, args } }) => {
  try {
    self.postMessage({ id, result: await perform(call, args) });
  } catch (error) {
    self.postMessage({ id, error: error.status || error.name });
  }
});
