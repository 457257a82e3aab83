// Differing: the words of a passage that its other side does not have, in order. Words are those of the text as it was read, without
// markup. Case makes no difference in prose, nor does what stands between words. In programs each sign is a word. A script of few edits is the shortest one (Myers 1986). After EDITS_FOUND edits
// the search keeps the script that has come furthest and starts anew behind it, so its time is proportional to the words.
"use strict";

// Longer passages are not compared word by word.
const WORDS_COMPARED = 100000;
const EDITS_FOUND = 400;

// The ranges of a text that are not read as they stand there: {from, to, text}, with the text that is read instead.
const unlikeOf = ({ unlike = [] }, shift = 0) => unlike.map(([from, to, text = ""]) => ({ from: from + shift, to: to + shift, text }));

// A range of a text as it was read, and the pieces that it is of: where each begins in it, and the range that it comes from.
function readOf(text, unlike, [from, to]) {
  const pieces = [];
  let [read, at] = ["", from];
  const add = (words, range, whole) => {
    if (words) pieces.push({ at: read.length, ...range, whole });
    read += words;
  };
  const asItStands = (end) => { if (at < end) add(text.slice(at, end), { from: at, to: end }, false); };
  for (let next = firstAfter(unlike, from); next < unlike.length && unlike[next].from < to; next += 1) {
    const { from: start, to: end, text: instead } = unlike[next];
    asItStands(start);
    add(instead, { from: start, to: end }, true);
    at = Math.max(at, end);
  }
  asItStands(to);
  return { read, pieces };
}

function wordsOf({ text, unlike }, range, marks) {
  const pattern = marks ? /[\p{L}\p{N}\p{M}_]+|[^\s\p{L}\p{N}\p{M}_]/gu : /[\p{L}\p{N}\p{M}]+/gu;
  const { read, pieces } = readOf(text, unlike, range);
  const words = [];
  let first = 0;
  for (const { index, 0: word } of read.matchAll(pattern)) {
    const end = index + word.length;
    while (first + 1 < pieces.length && pieces[first + 1].at <= index) first += 1;
    let last = first;
    while (last + 1 < pieces.length && pieces[last + 1].at < end) last += 1;
    const from = pieces[first].from + (pieces[first].whole ? 0 : index - pieces[first].at);
    const to = pieces[last].whole ? pieces[last].to : pieces[last].from + end - pieces[last].at;
    if (from < to) words.push({ from, to, word: marks ? word : word.normalize("NFKC").toLowerCase() });
  }
  return words;
}

// The words that differ: the ranges of each side of a passage, and the differences. A difference is what stands between two equal
// words, as a range of each side; on the side that lacks it, the range is empty. Null if the passage is too long to compare.
function differing(texts, places, marks) {
  const [a, b] = texts.map((text, side) => wordsOf(text, places[side], marks));
  if (a.length + b.length > WORDS_COMPARED) return null;
  const edits = [];
  for (let [x, y] = [0, 0]; x < a.length || y < b.length;) [x, y] = stretch(a, b, x, y, edits);
  const groups = [];
  for (const { x, y, down } of edits) {
    const last = groups[groups.length - 1];
    const ends = { x: x + !down, y: y + down };
    if (last && last.ends.x === x && last.ends.y === y) last.ends = ends; else groups.push({ begins: { x, y }, ends });
  }
  // A side that lacks the words has the place of the next word, or the end of the passage.
  const range = (words, first, behind, end) => {
    const from = words[first] ? words[first].from : end;
    return { from, to: first < behind ? words[behind - 1].to : from };
  };
  return {
    sides: [edits.filter(({ down }) => !down).map(({ x }) => a[x]), edits.filter(({ down }) => down).map(({ y }) => b[y])],
    differences: groups.map(({ begins, ends }) => [range(a, begins.x, ends.x, places[0][1]), range(b, begins.y, ends.y, places[1][1])]),
  };
}

// Adds at most EDITS_FOUND edits from a place on, in order: the words at x and y, and `down` where that of b is alone. Returns the
// place behind them.
function stretch(a, b, startA, startB, edits) {
  const [n, m] = [a.length - startA, b.length - startB];
  // For each number of edits: how many words of a each diagonal has passed, diagonal d at index d + edits + 1.
  const frontiers = [];
  let last = { edits: 0, diagonal: 0, sum: -1 };
  for (let number = 0; number <= EDITS_FOUND && last.sum < n + m; number += 1) {
    const frontier = new Int32Array(2 * number + 3).fill(-1);
    last = { edits: number, diagonal: 0, sum: -1 };
    for (let diagonal = -number; diagonal <= number; diagonal += 2) {
      let x = number === 0 ? 0 : from(frontiers[number - 1], number, diagonal).x;
      while (x < n && x - diagonal < m && a[startA + x].word === b[startB + x - diagonal].word) x += 1;
      frontier[diagonal + number + 1] = x;
      if (x <= n && x - diagonal <= m && 2 * x - diagonal > last.sum) last = { edits: number, diagonal, sum: 2 * x - diagonal };
    }
    frontiers.push(frontier);
  }
  const found = [];
  const end = frontiers[last.edits][last.diagonal + last.edits + 1];
  for (let { edits: number, diagonal } = last; number > 0; number -= 1) {
    const { x, down } = from(frontiers[number - 1], number, diagonal);
    // A word of b alone leads to the diagonal below, a word of a alone to the one above.
    found.push({ x: startA + x - !down, y: startB + x - diagonal - down, down });
    diagonal += down ? 1 : -1;
  }
  edits.push(...found.reverse());
  return [startA + end, startB + end - last.diagonal];
}

// The better way to a diagonal, from the frontier of one edit less: down, past a word of b, or across, past a word of a.
function from(frontier, edits, diagonal) {
  const [below, above] = [frontier[diagonal + edits - 1] ?? -1, frontier[diagonal + edits + 1] ?? -1];
  const down = diagonal === -edits || (diagonal !== edits && below < above);
  return { down, x: down ? above : below + 1 };
}
