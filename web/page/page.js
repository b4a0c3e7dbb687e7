// The page: connects what a reader does with the worker, and what the worker says with the screen.
// All computing is in the worker. Nothing here is stored, and nothing is sent anywhere.
import { element, showFacts, showPicture } from "./dom.js";
import { makeEffects } from "./effects.js";
import { examples } from "./examples.js";
import { startWorker } from "./link.js";
import { amount, count, plural, share } from "./sentences.js";
import { makeWordsView } from "./words_view.js";
import { showWord } from "./word_card.js";

const PLAIN = { least: 1, most: 4, step: 0.05, first: 2.3 };
const FLUENT = { least: 1, most: 4, step: 0.05, first: 2.5 };
const TYPING_MS = 120; // the text goes to the worker so long after the last key
const TEXT_MAX = 4 << 20; // characters

const inlined = (id) => {
  const block = element(id);
  const content = block.textContent;
  block.remove(); // the worker has it; eleven megabytes less
  return content;
};

const effects = makeEffects(JSON.parse(element("curve-data").textContent));
const settings = { epsilon: FLUENT.first, calibrated: false, fluent: true };
const limits = () => (settings.fluent ? FLUENT : PLAIN);
let otherEpsilon = PLAIN.first; // of the other way to draw
const state = { words: 0, unknown: 0, stayed: null, hits: null, notable: 0, spent: null };
let certificates = [];
let typing = 0;

// A request for draws that is not on the screen yet: the worker counts them alike.
let asked = 0;
let drawn = 0;

const view = makeWordsView(element("words"), (index) => showChosen(index), showBusy);
const call = startWorker(
  element("worker-source").textContent,
  (event) => handlers[event.event](event),
  fail,
);

function say(sentence) {
  element("status").textContent = sentence;
}

function fail() {
  say("Something failed, and nothing was released. Reload the page, and try a shorter text.");
}

// ---------------------------------------------------------------- the worker's events

const handlers = {
  text({ words, unknown, notable, blocks }) {
    Object.assign(state, { words, unknown, notable, stayed: null, hits: null });
    view.setText(words, blocks);
    showCounts();
    showOutcome();
  },
  drawn: ({ from, outputs, stayed, glued }) => view.setDrawn(from, outputs, stayed, glued),
  complete({ version, stayed, spent }) {
    drawn = version;
    Object.assign(state, { stayed, spent });
    if (state.words === 0) showBusy();
    showOutcome();
    showBudget();
    if (view.chosen < 0 && state.words > 0) view.begin(state.notable);
    else if (view.chosen >= 0) showChosen(view.chosen);
    else element("word").hidden = true;
  },
  failed: fail,
  shaded: ({ from, values }) => view.setShades(from, values),
  guessed: ({ from, outputs, hits }) => view.setGuesses(from, outputs, hits),
  finished({ hits }) {
    state.hits = hits;
    showOutcome();
  },
};

// Tells screen readers that the private text is about to change, or that it has changed.
function showBusy() {
  const isBusy = typing !== 0 || isSettingStale || drawn < asked;
  element("words").setAttribute("aria-busy", String(isBusy));
}

// Asks the worker for new draws.
function ask(...request) {
  asked++;
  showBusy();
  return call(...request);
}

// ---------------------------------------------------------------- sentences

function showCounts() {
  const unknown = state.unknown
    ? ` tem does not know ${count(state.unknown)} of them; each becomes any word.`
    : "";
  element("counts").textContent = state.words
    ? `${plural(state.words, "word")}.${unknown}`
    : "Type, paste, or take an example.";
}

function showOutcome() {
  const isAttacker = document.querySelector("[name=view]:checked").value === "attacker";
  const { words, stayed, hits } = state;
  const part = (n) => `${count(n)} of ${plural(words, "word")} (${share(n / words)})`;
  let sentence = "";
  if (words && stayed === null) sentence = "Drawing …";
  else if (words && isAttacker && hits === null) sentence = "The attacker is guessing …";
  else if (words && isAttacker) {
    sentence = `The best guess, word by word, is right for ${part(hits)}.`;
  } else if (words) sentence = `${part(stayed)} stayed themselves in this draw.`;
  element("outcome").textContent = sentence;
}

// What is promised of a fluent text. bound: the largest loss of a word; alone: how often a word
// stays itself without the others.
function showFluentEffect({ bound, alone }) {
  showFacts(element("effect"), [
    {
      name: "Stays itself",
      value: share(alone),
      sentence:
        "of the time, every word alike, if the words around it say nothing. Where they suggest " +
        "it, it stays more often.",
    },
    {
      name: "Near words",
      value: amount(settings.epsilon),
      sentence:
        "is the loss per unit of d_r, which compares the ranks of all outputs around two words.",
    },
    {
      name: "Any two words",
      value: amount(bound),
      sentence:
        "is the most that one word can tell: e to this power is how much likelier it can make " +
        "one original than another.",
    },
  ]);
  element("proof").textContent =
    "Fluent: each word is drawn by its rank among the words near it, and by the words that the " +
    "private text shows before it. The proof of ranks in context covers that. Its epsilon does " +
    "not compare with that of word by word.";
}

function showEffect() {
  if (settings.fluent) return; // when the worker knows the bound
  const at = effects.at(settings.calibrated, settings.epsilon);
  showFacts(element("effect"), [
    {
      name: "Stays itself",
      value: share(at.self),
      sentence: "of the time a typical word comes out unchanged.",
    },
    {
      name: "An attacker is right",
      value: share(at.guess),
      sentence:
        "of the time the best guess at a word is right. " +
        `Without seeing anything: ${share(effects.blind)}, by always saying “the”.`,
    },
    {
      name: "Still useful",
      value: at.accuracy === null ? "–" : share(at.accuracy),
      sentence:
        at.accuracy === null
          ? "Nobody has measured at this epsilon how much a program can still learn."
          : "of film reviews are judged rightly, as good or bad, by a program that learned from " +
            `private text. From original text: ${share(effects.original)}. By chance: 50\u00a0%.`,
    },
  ]);
  element("proof").textContent = settings.calibrated
    ? "Calibrated: a proof for exactly these words. It allows less noise at the same epsilon, so " +
      "compare settings by the numbers above, not by epsilon."
    : "Plain: the proof of the original paper, which holds for any vocabulary.";
}

function showBudget() {
  const { spent, words } = state;
  showFacts(element("budget"), [
    {
      name: "Released",
      value: amount(spent.released),
      sentence: spent.releases
        ? `${plural(spent.releases, "release")}, ${plural(spent.releasedWords, "word")} in all. ` +
          "Each word costs the epsilon it was drawn with. " +
          `What you release ${settings.fluent ? "word by word" : "fluently"} counts apart: ` +
          "its epsilon has another unit."
        : "You have not copied or downloaded anything yet.",
    },
    {
      name: "Next release",
      value: amount(words * settings.epsilon),
      sentence: `${plural(words, "word")} times epsilon ${amount(settings.epsilon)}.`,
    },
    {
      name: "Drawn on this page",
      value: amount(spent.drawn),
      sentence:
        `${plural(spent.drawnWords, "draw")} of a word so far. It would cost this much if all ` +
        "of it were released.",
    },
  ]);
}

async function showCurve() {
  const { calibrated, epsilon } = settings;
  element("curve-answer").textContent =
    "Further left less can be guessed, and less can be learned. A good choice lies where the two " +
    `lines are far apart. You have chosen ${amount(epsilon)}.`;
  element("curve-note").textContent =
    "Guess: computed from the law of the mechanism; the attacker expects words as often as Zipf’s " +
    "law says. Classifier: IMDB film reviews, mean of five trials, measured at " +
    `${calibrated ? "0.8, 1, 1.2 and 1.5" : "1.5, 1.9, 2.3 and 2.7"} (docs/EVALUATION.md).`;
  const width = Math.round(Math.min(640, Math.max(260, element("curve").clientWidth || 360)));
  showPicture(
    element("curve"),
    await call("tem.picture", "curve", effects.picture(calibrated, epsilon, width)),
  );
}

// ---------------------------------------------------------------- one word

let isShowing = false;
let nextShown = -1;

// Shows a word; while one is being computed, only the last request waits.
async function showChosen(index) {
  nextShown = index;
  if (isShowing) return;
  isShowing = true;
  while (nextShown >= 0) {
    const now = nextShown;
    nextShown = -1;
    await showWord(call, now).catch(fail);
  }
  isShowing = false;
}

// ---------------------------------------------------------------- settings

let isSetting = false;
let isSettingStale = false;

// Sends the settings; while the worker is busy with them, only the last ones wait.
async function sendSettings() {
  isSettingStale = true;
  showBusy();
  if (isSetting) return;
  isSetting = true;
  while (isSettingStale) {
    isSettingStale = false;
    const info = await ask("set", { ...settings }).catch(fail);
    if (info && settings.fluent) showFluentEffect(info);
    if (!settings.fluent) await showCurve().catch(fail);
  }
  isSetting = false;
}

function valueText() {
  if (settings.fluent) return `epsilon ${settings.epsilon}`;
  const { self: stays } = effects.at(settings.calibrated, settings.epsilon);
  return `epsilon ${settings.epsilon}: a typical word stays itself in ${share(stays)} of cases`;
}

function applySettings() {
  const range = element("epsilon-range");
  const number = element("epsilon");
  if (settings.calibrated) {
    const place = certificates.findIndex(({ epsilon }) => epsilon === settings.epsilon);
    Object.assign(range, { min: 0, max: certificates.length - 1, step: 1, value: place });
    Object.assign(number, {
      min: certificates[0].epsilon,
      max: certificates.at(-1).epsilon,
      step: "any",
    });
  } else {
    const { least: min, most: max, step } = limits();
    Object.assign(range, { min, max, step, value: settings.epsilon });
    Object.assign(number, { min, max, step });
  }
  number.value = settings.epsilon;
  range.setAttribute("aria-valuetext", valueText());
  showEffect();
  sendSettings();
}

const nearest = (list, value, key) =>
  list.reduce((best, one) =>
    Math.abs(one[key] - value) < Math.abs(best[key] - value) ? one : best,
  );

// The epsilon to use for a number that a reader typed.
function allowed(value) {
  if (settings.calibrated) return nearest(certificates, value, "epsilon").epsilon;
  return Math.min(limits().most, Math.max(limits().least, Math.round(value * 1000) / 1000));
}

element("epsilon-range").addEventListener("input", ({ target }) => {
  const value = Number(target.value);
  settings.epsilon = settings.calibrated ? certificates[value].epsilon : allowed(value);
  applySettings();
});

element("epsilon").addEventListener("change", ({ target }) => {
  const wanted = Number(target.value);
  if (target.value !== "" && Number.isFinite(wanted)) settings.epsilon = allowed(wanted);
  if (target.value !== "" && settings.epsilon !== wanted) {
    say(
      settings.calibrated
        ? `Certificates exist for some epsilons only. The nearest is ${settings.epsilon}.`
        : `Epsilon can be ${limits().least} to ${limits().most} on this page.`,
    );
  }
  applySettings();
});

// The other proof begins with the epsilon that has about the same noise.
for (const radio of document.querySelectorAll("[name=proof]")) {
  radio.addEventListener("change", async () => {
    const { s } = await call("mechanism.info");
    settings.calibrated = radio.value === "calibrated";
    settings.epsilon = settings.calibrated
      ? nearest(certificates, s, "s").epsilon
      : allowed(Math.round((2 * s) / PLAIN.step) * PLAIN.step);
    applySettings();
  });
}

// The attacker and the calibrated proof are those of word by word.
for (const radio of document.querySelectorAll("[name=draw]")) {
  radio.addEventListener("change", () => {
    settings.fluent = radio.value === "fluent";
    [settings.epsilon, otherEpsilon] = [otherEpsilon, settings.epsilon];
    settings.calibrated = false;
    document.querySelector("[name=proof][value=plain]").checked = true;
    document.body.classList.toggle("fluent", settings.fluent);
    showView("private");
    applySettings();
  });
}

// ---------------------------------------------------------------- the text

function sendText() {
  typing = 0;
  const { value } = element("original");
  if (value.length > TEXT_MAX) {
    say("This text is too long for a browser. Use the command tem instead.");
    showBusy();
    return;
  }
  ask("text", value).catch(fail);
}

element("original").addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(sendText, TYPING_MS);
  showBusy();
});

for (const button of document.querySelectorAll("[data-example]")) {
  button.addEventListener("click", () => {
    element("original").value = examples[button.dataset.example];
    view.forget();
    sendText();
  });
}

function showView(name) {
  document.querySelector(`[name=view][value=${name}]`).checked = true;
  document.body.classList.toggle("attacker", name === "attacker");
  view.show(name);
  showOutcome();
}

for (const radio of document.querySelectorAll("[name=view]")) {
  radio.addEventListener("change", () => showView(radio.value));
}

element("previous").addEventListener("click", () => view.choose(view.chosen - 1));
element("next").addEventListener("click", () => view.choose(view.chosen + 1));
element("redraw").addEventListener("click", async () => {
  try {
    await ask("redraw");
    say("Drawn again. Releasing this draw, too, would cost its full price again.");
  } catch {
    fail();
  }
});

// ---------------------------------------------------------------- releases

async function release() {
  const released = await call("release");
  if (!released) {
    say("The text is still being drawn. Try again in a moment.");
    return null;
  }
  state.spent = released.spent;
  showBudget();
  return released.text;
}

element("copy").addEventListener("click", async () => {
  try {
    const text = await release();
    if (text === null) return;
    await navigator.clipboard.writeText(text);
    say("Copied. What you copy counts as released.");
  } catch {
    say("This browser does not let the page copy. Use Download.");
  }
});

element("download").addEventListener("click", async () => {
  const text = await release().catch(fail);
  if (text === null || text === undefined) return;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text, "\n"], { type: "text/plain" }));
  link.download = "private.txt";
  link.click();
  URL.revokeObjectURL(link.href);
  say("Downloaded. What you download counts as released.");
});

// What is selected, if some of the private text is; null if not.
function selectedRange() {
  const selection = getSelection();
  if (selection.isCollapsed || !selection.rangeCount) return null;
  const range = selection.getRangeAt(0);
  return range.intersectsNode(element("words")) ? range : null;
}

// Whoever copies a selection of the private text releases it, too.
// PRIVACY: the browser's own copy would take along how the words look, which depends on the
// original; and what is still being drawn, which release would not charge.
document.addEventListener("copy", (event) => {
  const range = event.target.closest?.("textarea, input") ? null : selectedRange();
  if (!range) return;
  event.preventDefault();
  if (element("words").getAttribute("aria-busy") === "true") {
    say("The text is still being drawn. Try again in a moment.");
    return;
  }
  event.clipboardData.setData("text/plain", view.wordsIn(range));
  release()
    .then((text) => {
      if (text === null) say("What you copied is not counted as released: copy it again.");
      else say("Copied. What you copy counts as released.");
    })
    .catch(() => say("What you copied could not be counted as released. Reload the page."));
});

// Dragging would be a copy that nobody charges.
document.addEventListener("dragstart", (event) => {
  if (selectedRange()) event.preventDefault();
});

// ---------------------------------------------------------------- start

async function start() {
  const parts = ["program", "model", "language"].map(inlined);
  const { info, certificates: proved } = await call("start", ...parts);
  certificates = proved;
  element("about").textContent =
    `tem ${info.version}. The model has ${count(info.words)} English words in ${info.dimensions} ` +
    `dimensions; ${count(info.excluded)} offensive ones are never drawn. ` +
    `Hash of the model: ${info.hash}, of the language model: ${info.languageModel.hash}. ` +
    "This page makes no request to any server.";
  document.body.classList.add("ready");
  applySettings();
  element("original").value ||= examples.review;
  sendText();
}

start().catch(() => {
  say("This browser cannot run the program. It needs WebAssembly and workers.");
  element("about").textContent = "";
});
