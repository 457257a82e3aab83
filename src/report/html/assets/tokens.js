// Tokens: what of a program is a comment, a string, a number or a keyword, for its colours only. One scanner from a table a
// language; it knows no grammar, and a text that is cut or broken is coloured as far as it goes.
"use strict";

const C_LIKE = { line: ["//"], block: [["/*", "*/"]], strings: ["\"", "'"] };
const KEYWORDS_OF_ALL = "abstract and as assert async await break case catch class const continue def default delete do elif else elseif end enum except export extends extern false final finally fn for foreach from func function global goto if impl implements import in include instanceof interface is lambda let loop match module mut namespace new nil none not null or override package pass private protected pub public raise require return self static struct super switch then this throw throws trait true try type typedef typeof union unless until use using val var virtual void when where while with yield";
const SQL_KEYWORDS = "alter and as between by case create delete desc distinct drop else end exists from group having in index inner insert into is join left like limit not null on or order outer primary right select set table then union update values view when where";
const LANGUAGES = {
  bash: { line: ["#"], block: [], strings: ["\"", "'"] }, python: { line: ["#"], block: [["\"\"\"", "\"\"\""], ["'''", "'''"]], strings: ["\"", "'"], textual: true },
  ruby: { line: ["#"], block: [["\n=begin", "\n=end"]], strings: ["\"", "'"] }, sql: { line: ["--"], block: [["/*", "*/"]], strings: ["'"], words: SQL_KEYWORDS },
  php: { ...C_LIKE, line: ["//", "#"] }, javascript: { ...C_LIKE, strings: ["\"", "'", "`"] }, typescript: { ...C_LIKE, strings: ["\"", "'", "`"] },
  tsx: { ...C_LIKE, strings: ["\"", "'", "`"] }, go: { ...C_LIKE, strings: ["\"", "'", "`"] }, rust: { ...C_LIKE, strings: ["\""] },
};
for (const language of ["c", "c++", "c#", "java", "kotlin", "scala", "swift"]) LANGUAGES[language] = C_LIKE;

// The tokens of a text as {from, to, kind}, in order. Longer texts than this are shown without colours.
const UNITS_COLOURED = 4e6;
function tokensOf(text, language) {
  const rules = Object.hasOwn(LANGUAGES, language) ? LANGUAGES[language] : null;
  if (!rules || text.length > UNITS_COLOURED) return [];
  const keywords = new Set((rules.words || KEYWORDS_OF_ALL).split(" "));
  const word = /[\p{L}_$][\p{L}\p{N}_$]*|\p{N}[\p{L}\p{N}_.]*/uy;
  const tokens = [];
  const end = (found, length) => (found < 0 ? text.length : found + length);
  for (let at = 0; at < text.length;) {
    const block = rules.block.find(([open]) => text.startsWith(open, at));
    const quote = rules.strings.find((mark) => text.startsWith(mark, at));
    let stop = 0;
    let kind = null;
    if (block) {
      stop = end(text.indexOf(block[1], at + block[0].length), block[1].length);
      kind = rules.textual ? "string" : "comment";
    } else if (rules.line.some((mark) => text.startsWith(mark, at))) {
      stop = end(text.indexOf("\n", at), 0);
      kind = "comment";
    } else if (quote) {
      stop = at + 1;
      while (stop < text.length && text[stop] !== quote && (text[stop] !== "\n" || quote === "`")) stop += text[stop] === "\\" ? 2 : 1;
      stop = Math.min(text.length, stop + (text[stop] === quote ? 1 : 0));
      kind = "string";
    } else {
      word.lastIndex = at;
      const [found] = word.exec(text) || [""];
      stop = at + (found.length || 1);
      if (/^\p{N}/u.test(found)) kind = "numeral";
      else if (keywords.has(rules.words ? found.toLowerCase() : found)) kind = "keyword";
    }
    if (kind) tokens.push({ from: at, to: stop, kind });
    at = stop;
  }
  return tokens;
}

// The first of some ranges, in order and apart from each other, that ends after a place.
function firstAfter(ranges, place) {
  let [low, high] = [0, ranges.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ranges[middle].to <= place) low = middle + 1; else high = middle;
  }
  return low;
}
