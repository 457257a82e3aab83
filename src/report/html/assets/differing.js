// Differing: the words of a passage that its other side does not have, in order. Case makes no difference in prose, nor does what
// stands between words. In programs each sign is a word. A script of few edits is the shortest one (Myers 1986). After EDITS_FOUND edits
// the search keeps the script that has come furthest and starts anew behind it, so its time is proportional to the words.
"use strict";

// Longer passages are not compared word by word.
const WORDS_COMPARED = 100000;
const EDITS_FOUND = 400;

function wordsOf(text, [from, to], marks) {
  const pattern = marks ? /[\p{L}\p{N}\p{M}_]+|[^\s\p{L}\p{N}\p{M}_]/gu : /[\p{L}\p{N}\p{M}]+/gu;
  const words = [];
  for (const found of text.slice(from, to).matchAll(pattern)) {
    words.push({ from: from + found.index, to: from + found.index + found[0].length, word: marks ? found[0] : found[0].normalize("NFKC").toLowerCase() });
  }
  return words;
}

// The ranges that differ, for both sides of a passage; null if the passage is too long to compare.
function differing(texts, places, marks) {
  const [a, b] = texts.map((text, side) => wordsOf(text, places[side], marks));
  if (a.length + b.length > WORDS_COMPARED) return null;
  const sides = [[], []];
  for (let [x, y] = [0, 0]; x < a.length || y < b.length;) [x, y] = stretch(a, b, x, y, sides);
  return sides.map((words) => words.map(({ from, to }) => ({ from, to })));
}

// Adds the words that differ from a place on to the sides, for at most EDITS_FOUND edits. Returns the place behind them.
function stretch(a, b, startA, startB, sides) {
  const [n, m] = [a.length - startA, b.length - startB];
  // For each number of edits: how many words of a each diagonal has passed, diagonal d at index d + edits + 1.
  const frontiers = [];
  let last = { edits: 0, diagonal: 0, sum: -1 };
  for (let edits = 0; edits <= EDITS_FOUND && last.sum < n + m; edits += 1) {
    const frontier = new Int32Array(2 * edits + 3).fill(-1);
    last = { edits, diagonal: 0, sum: -1 };
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      let x = edits === 0 ? 0 : from(frontiers[edits - 1], edits, diagonal).x;
      while (x < n && x - diagonal < m && a[startA + x].word === b[startB + x - diagonal].word) x += 1;
      frontier[diagonal + edits + 1] = x;
      if (x <= n && x - diagonal <= m && 2 * x - diagonal > last.sum) last = { edits, diagonal, sum: 2 * x - diagonal };
    }
    frontiers.push(frontier);
  }
  const found = [[], []];
  const end = frontiers[last.edits][last.diagonal + last.edits + 1];
  for (let { edits, diagonal } = last; edits > 0; edits -= 1) {
    const step = from(frontiers[edits - 1], edits, diagonal);
    // A word of b alone leads to the diagonal below, a word of a alone to the one above.
    if (step.down) found[1].push(b[startB + step.x - diagonal - 1]); else found[0].push(a[startA + step.x - 1]);
    diagonal += step.down ? 1 : -1;
  }
  found.forEach((words, side) => words.reverse().forEach((word) => sides[side].push(word)));
  return [startA + end, startB + end - last.diagonal];
}

// The better way to a diagonal, from the frontier of one edit less: down, past a word of b, or across, past a word of a.
function from(frontier, edits, diagonal) {
  const [below, above] = [frontier[diagonal + edits - 1] ?? -1, frontier[diagonal + edits + 1] ?? -1];
  const down = diagonal === -edits || (diagonal !== edits && below < above);
  return { down, x: down ? above : below + 1 };
}
