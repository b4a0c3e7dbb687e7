// Elements of the page, and what several parts put into them.
import { trusted } from "./link.js";

export const element = (id) => document.getElementById(id);

// A <dl> of facts: each has a large number, a sentence, and perhaps its symbol.
export function showFacts(list, facts) {
  list.replaceChildren(
    ...facts.map(({ name, value, sentence, tone }) => {
      const group = document.createElement("div");
      const term = document.createElement("dt");
      const number = document.createElement("dd");
      const explanation = document.createElement("dd");
      if (tone) group.className = tone;
      term.textContent = name;
      number.textContent = value;
      number.className = "number";
      explanation.textContent = sentence;
      group.append(term, number, explanation);
      return group;
    }),
  );
}

// Puts a picture of the program into the page. The markup is the program's own: the words in it are
// escaped there, and the policy of the page runs no script in it.
export function showPicture(place, svg) {
  const parsed = new DOMParser().parseFromString(trusted.createHTML(svg), "image/svg+xml");
  place.replaceChildren(document.importNode(parsed.documentElement, true));
}
