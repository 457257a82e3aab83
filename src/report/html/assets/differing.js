// Differing: the words of a passage that its other side does not have, in order. Words are compared without case, and everything
// between words by itself in programs and not at all in prose, as documents are. The shortest edit script of Myers (1986).
"use strict";

// Passages of more words, or with more differences, are shown without them: finding these takes time and memory as their product.
const WORDS_COMPARED = 20000;
const EDITS_FOUND = 400;

function wordsOf(text, [from, to], marks) {
  const pattern = marks ? /[\p{L}\p{N}\p{M}_]+|[^\s\p{L}\p{N}\p{M}_]/gu : /[\p{L}\p{N}\p{M}]+/gu;
  const words = [];
  for (const found of text.slice(from, to).matchAll(pattern)) {
    words.push({ from: from + found.index, to: from + found.index + found[0].length, word: marks ? found[0] : found[0].normalize("NFKC").toLowerCase() });
  }
  return words;
}

// For both sides of a passage the ranges that differ; none where the sides are too long or too unlike.
function differing(texts, places, marks) {
  const [a, b] = texts.map((text, side) => wordsOf(text, places[side], marks));
  if (a.length + b.length > WORDS_COMPARED) return [[], []];
  const frontiers = [];
  let frontier = new Map([[1, 0]]);
  for (let edits = 0; edits <= Math.min(EDITS_FOUND, a.length + b.length); edits += 1) {
    frontiers.push(new Map(frontier));
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      const [below, above] = [frontier.get(diagonal - 1) ?? -1, frontier.get(diagonal + 1) ?? -1];
      let x = diagonal === -edits || (diagonal !== edits && below < above) ? above : below + 1;
      while (x < a.length && x - diagonal < b.length && a[x].word === b[x - diagonal].word) x += 1;
      frontier.set(diagonal, x);
      if (x >= a.length && x - diagonal >= b.length) return traced(a, b, frontiers);
    }
  }
  return [[], []];
}

// The words on the edges of the way back.
function traced(a, b, frontiers) {
  const sides = [[], []];
  let [x, y] = [a.length, b.length];
  for (let edits = frontiers.length - 1; edits > 0; edits -= 1) {
    const before = frontiers[edits];
    const diagonal = x - y;
    const [below, above] = [before.get(diagonal - 1) ?? -1, before.get(diagonal + 1) ?? -1];
    const down = diagonal === -edits || (diagonal !== edits && below < above);
    const from = down ? above : below;
    const previous = diagonal + (down ? 1 : -1);
    if (down) sides[1].push(b[from - previous]); else sides[0].push(a[from]);
    [x, y] = [from, from - previous];
  }
  return sides.map((words) => words.reverse().map(({ from, to }) => ({ from, to })));
}
