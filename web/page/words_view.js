// The private text on the screen: blocks of words, one option of a list box per word.
//
// Only the blocks in sight have words in them; the others are empty boxes of about the right
// height. What changed is painted a few milliseconds per frame. So a text of any length leaves the
// page responsive.

const FRAME_MS = 6;
const SHADES = 10;
const WORDS_PER_LINE = 8; // for the height of a block that was never in sight
const LINE_HEIGHT = 1.79; // rem
const MARGIN = "400px"; // blocks that are so near count as in sight

// onChoose(i): a reader has chosen word i. onPainted(): all that was to be painted is painted.
export function makeWordsView(box, onChoose, onPainted) {
  const elements = []; // one per block
  const places = new Map(); // element -> number of its block
  const inSight = new Set();
  const dirty = new Set();
  let starts = new Int32Array(1);
  let lines = new Int32Array(1);
  let size = 0;
  const outputs = [];
  const glued = []; // whether the next word follows without a space: don't
  const stayed = [];
  const shades = [];
  const guesses = [];
  const hits = [];
  let view = "private";
  let chosen = -1;
  let isPlanned = false;

  const sight = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        if (!isIntersecting) inSight.delete(target);
        else if (!inSight.has(target) && places.has(target)) {
          inSight.add(target);
          dirty.add(places.get(target));
        }
      }
      planFrame();
    },
    { root: box, rootMargin: MARGIN },
  );

  const endOf = (block) => (block + 1 < starts.length ? starts[block + 1] : size);

  function blockOf(word) {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (starts[middle] <= word) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  function planFrame() {
    if (isPlanned || dirty.size === 0) return;
    isPlanned = true;
    requestAnimationFrame(paint);
  }

  function plan(from, to) {
    const last = blockOf(Math.max(from, to - 1));
    for (let block = blockOf(from); block <= last; block++) dirty.add(block);
    planFrame();
  }

  function paint() {
    const until = performance.now() + FRAME_MS;
    isPlanned = false;
    for (const block of dirty) {
      dirty.delete(block);
      if (block < starts.length) paintBlock(block);
      if (performance.now() > until) break;
    }
    if (dirty.size === 0) onPainted();
    planFrame();
  }

  function elementOf(block) {
    while (elements.length <= block) {
      const element = document.createElement("div");
      element.setAttribute("role", "presentation");
      places.set(element, elements.length);
      elements.push(element);
      box.append(element);
      // the first block is painted at once, so that a short text never flickers
      if (elements.length === 1) inSight.add(element);
      sight.observe(element);
    }
    return elements[block];
  }

  function paintBlock(block) {
    const element = elementOf(block);
    const from = starts[block];
    const length = endOf(block) - from;
    const name = lines[block] > 1 ? "block paragraph" : lines[block] ? "block line" : "block";
    if (element.className !== name) element.className = name;
    if (inSight.has(element)) {
      element.style.minHeight = "";
      paintWords(element, from, length);
    } else {
      element.style.minHeight = `${Math.ceil(length / WORDS_PER_LINE) * LINE_HEIGHT}rem`;
      element.replaceChildren();
    }
  }

  function paintWords(element, from, length) {
    const spans = element.children;
    while (spans.length < length) {
      const span = document.createElement("span");
      span.setAttribute("role", "option");
      element.append(span, " ");
    }
    while (spans.length > length) {
      element.lastChild.remove();
      element.lastChild.remove();
    }
    for (let i = 0; i < length; i++) {
      paintWord(spans[i], from + i);
      const space = view !== "attacker" && glued[from + i] ? "" : " ";
      if (spans[i].nextSibling.data !== space) spans[i].nextSibling.data = space;
    }
  }

  const shown = (i) => (view === "attacker" ? guesses[i] : outputs[i]) ?? "…";

  function paintWord(span, i) {
    const isAttacker = view === "attacker";
    const text = shown(i);
    const mark = isAttacker
      ? hits[i]
        ? "hit"
        : "miss"
      : `s${shades[i] ?? 0}${stayed[i] ? " stayed" : ""}`;
    const id = `word-${i}`;
    const isChosen = String(i === chosen);
    if (span.textContent !== text) span.textContent = text;
    if (span.className !== mark) span.className = mark;
    if (span.id !== id) span.id = id;
    if (span.getAttribute("aria-selected") !== isChosen)
      span.setAttribute("aria-selected", isChosen);
  }

  // Chooses a word and paints its block, even if it is out of sight.
  function choose(i, isScrolled) {
    if (i < 0 || i >= size) return;
    const before = chosen;
    chosen = i;
    if (before >= 0 && before < size) plan(before, before + 1);
    const block = blockOf(i);
    inSight.add(elementOf(block));
    paintBlock(block);
    box.setAttribute("aria-activedescendant", `word-${i}`);
    if (isScrolled) document.getElementById(`word-${i}`).scrollIntoView({ block: "nearest" });
    onChoose(i);
  }

  const moves = {
    ArrowRight: () => chosen + 1,
    ArrowLeft: () => chosen - 1,
    ArrowDown: () => wordBelow(1),
    ArrowUp: () => wordBelow(-1),
    Home: () => 0,
    End: () => size - 1,
  };

  // The word in the next or previous line of the screen, or the next word where nothing is painted.
  function wordBelow(step) {
    const here = document.getElementById(`word-${chosen}`);
    if (!here) return 0;
    const at = here.getBoundingClientRect();
    for (let i = chosen + step; i >= 0 && i < size; i += step) {
      const there = document.getElementById(`word-${i}`)?.getBoundingClientRect();
      if (!there) break;
      const isOtherLine = step > 0 ? there.top > at.top + 4 : there.top < at.top - 4;
      const isReached = step > 0 ? there.right >= at.left : there.left <= at.left;
      if (isOtherLine && isReached) return i;
    }
    return chosen + step;
  }

  box.addEventListener("keydown", (event) => {
    const move = moves[event.key];
    if (!move || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    choose(Math.min(Math.max(move(), 0), size - 1), true);
  });
  box.addEventListener("click", (event) => {
    const span = event.target.closest("[role=option]");
    if (span) choose(Number(span.id.slice("word-".length)), false);
  });

  // The numbers of the words that a range touches. A block out of sight counts as a whole.
  function touched(range) {
    const found = [];
    elements.forEach((element, block) => {
      if (!range.intersectsNode(element)) return;
      const spans = [...element.children];
      for (let i = starts[block]; i < endOf(block); i++) {
        const span = spans[i - starts[block]];
        if (!span || range.intersectsNode(span)) found.push(i);
      }
    });
    return found;
  }

  function fill(list, from, values) {
    for (let i = 0; i < values.length; i++) list[from + i] = values[i];
  }

  return {
    get chosen() {
      return chosen;
    },
    choose: (i) => choose(i, true), // and scroll to it
    begin: (i) => choose(i, false),

    // The words in a range of the document, with the line ends of the text.
    // PRIVACY: words and line ends alone. The shades and underlines of the screen depend on the
    // original, and so does where a block ends: a sentence may end there.
    wordsIn(range) {
      let text = "";
      let last = 0; // the block of the word before
      let space = " "; // and what follows that word
      for (const i of touched(range)) {
        const block = blockOf(i);
        const ends = lines.slice(last + 1, block + 1).reduce((sum, more) => sum + more, 0);
        if (text) text += "\n".repeat(ends) || space;
        text += shown(i);
        space = view !== "attacker" && glued[i] ? "" : " ";
        last = block;
      }
      return text;
    },
    forget() {
      chosen = -1;
    },

    setText(words, blocks) {
      ({ starts, lines } = blocks);
      size = words;
      for (const list of [outputs, glued, stayed, shades, guesses, hits]) list.length = size;
      guesses.fill(undefined); // shades and words stay until the new ones come: no flicker
      while (elements.length > starts.length) {
        const element = elements.pop();
        sight.unobserve(element);
        inSight.delete(element);
        places.delete(element);
        element.remove();
      }
      dirty.clear();
      if (size === 0) plan(0, 0);
      if (chosen >= size) chosen = -1;
      if (chosen < 0) box.removeAttribute("aria-activedescendant");
    },
    setDrawn(from, values, same, noSpace) {
      fill(outputs, from, values);
      fill(glued, from, noSpace);
      fill(stayed, from, same);
      if (view === "private") plan(from, from + values.length);
    },
    setShades(from, values) {
      fill(
        shades,
        from,
        Array.from(values, (p) => Math.min(SHADES - 1, Math.floor(p * SHADES))),
      );
      plan(from, from + values.length);
    },
    setGuesses(from, values, right) {
      fill(guesses, from, values);
      fill(hits, from, right);
      if (view === "attacker") plan(from, from + values.length);
    },
    show(name) {
      view = name;
      plan(0, size);
    },
  };
}
