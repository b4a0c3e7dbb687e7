// The part "One word": what happens to the chosen word, in numbers, sentences and pictures.
import { element, showFacts, showPicture } from "./dom.js";
import { count, ordinal, plural, quoted, share } from "./sentences.js";

const BARS = 14;
const POINTS = 24;

function factsOf(word) {
  const facts = word.guess ? [guessFact(word)] : [];
  if (!word.isKnown) {
    facts.unshift(unknownFact(word));
    return facts;
  }
  const place = word.isInContext ? "after the words before it" : "";
  facts.unshift(
    {
      name: "Stays itself (N_w)",
      value: share(word.law.self),
      sentence:
        `${quoted(word.input)} comes out unchanged in ${share(word.law.self)} of cases` +
        `${place && ` ${place}`}.`,
    },
    {
      name: "Spread (S_w)",
      value: plural(word.law.support, "word"),
      sentence:
        word.law.support < 1.5
          ? "The outcome is nearly certain."
          : `The outcome is as uncertain as a draw from ${count(word.law.support)} words that ` +
            "are all equally likely.",
    },
    {
      name: "This draw",
      value: word.place ? share(word.place.probability) : "rare",
      sentence: sentenceOfDraw(word),
    },
  );
  return facts;
}

function guessFact(word) {
  const guess = quoted(word.guess.word);
  const others = word.others.filter((other) => other.id !== word.guess.id).slice(0, 3);
  return {
    name: "The attacker’s guess",
    value: word.guess.word,
    sentence:
      `Whoever sees ${quoted(word.output)} and knows how tem works guesses ${guess}, and is ` +
      `right in ${share(word.guess.probability)} of such cases. Here the guess is ` +
      `${word.isHit ? "right" : "wrong"}. Next come ` +
      `${others.map((other) => quoted(other.word)).join(", ")}.`,
    tone: word.isHit ? "bad" : "good",
  };
}

function unknownFact(word) {
  return {
    name: "Unknown word",
    value: "any word",
    sentence:
      `${quoted(word.input)} is not in the vocabulary of tem. Its output can be any word of ` +
      "the vocabulary, and is drawn alike for all unknown words.",
  };
}

function sentenceOfDraw(word) {
  if (!word.place && word.isInContext) return `${quoted(word.output)} is an unlikely word here.`;
  if (!word.place) return `${quoted(word.output)} is far from ${quoted(word.input)}.`;
  const often = `comes in ${share(word.place.probability)} of cases`;
  if (word.isInContext) return sentenceInContext(word, often);
  if (word.place.rank === 0) return `This time the word stayed itself, which ${often}.`;
  const rank = word.place.rank === 1 ? "nearest" : `${ordinal(word.place.rank)} nearest`;
  return `${quoted(word.output)} is the ${rank} word, and ${often}.`;
}

function sentenceInContext({ place, output }, often) {
  if (place.stayed) return `This time the word stayed itself, which ${often}.`;
  const rank = place.rank === 0 ? "likeliest" : `${ordinal(place.rank + 1)} likeliest`;
  return `${quoted(output)} is the ${rank} word here, and ${often}.`;
}

function pictureOfLaw(word, width) {
  return {
    title: `How likely each output of ${quoted(word.input)} is`,
    width,
    bars: word.law.entries.map((entry) => ({ ...entry, isMarked: entry.word === word.input })),
    otherWords: word.law.tail.words,
    otherProbability: word.law.tail.probability,
  };
}

function pictureOfMap(word, width) {
  return {
    title: `The words nearest to ${quoted(word.input)}`,
    width,
    points: word.map.map((point) => ({ ...point, isMarked: point.word === word.input })),
  };
}

export async function showWord(call, index) {
  const word = await call("word", index, BARS, POINTS);
  element("word").hidden = !word;
  if (!word) return;
  element("word-in").textContent = word.input;
  element("word-out").textContent = word.output;
  showFacts(element("facts"), factsOf(word));
  const pictures = element("law").closest(".pictures");
  pictures.hidden = !word.isKnown;
  if (!word.isKnown) return;
  element("law-caption").textContent =
    `What ${quoted(word.input)} becomes${word.isInContext ? " after the words before it" : ""}. ` +
    "A longer bar is a likelier word.";
  const width = Math.round(Math.min(480, Math.max(260, element("law").clientWidth || 360)));
  const [law, map] = await Promise.all([
    call("tem.picture", "law", pictureOfLaw(word, width)),
    call("tem.picture", "map", pictureOfMap(word, width)),
  ]);
  showPicture(element("law"), law);
  showPicture(element("map"), map);
}
