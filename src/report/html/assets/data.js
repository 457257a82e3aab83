// The data: the overview stands in this page; a pair and its texts are either in it too or in files beside it, which are
// loaded as scripts when they are wanted, since a page that was opened as a file may not fetch anything. They are deflated JSON
// in base64.
"use strict";

const report = JSON.parse(document.getElementById("overview").textContent);
const PART = /^data\/(pair|text)-\d+\.js$/;
const trusted = self.trustedTypes
  ? trustedTypes.createPolicy("fpdb", { createScriptURL: (url) => { if (PART.test(url)) return url; throw new TypeError(url); } })
  : { createScriptURL: (url) => url };
const arrived = new Map();
const awaited = new Map();

// Called by the files of data/.
self.fpdb = (part, packed) => arrived.set(part, packed);

// The first browsers that this page works in. Older ones may lack DecompressionStream, or have it without this format.
const BROWSERS = "Chromium 111, Firefox 113, Safari 16.4";

function unpacker() {
  try {
    return new DecompressionStream("deflate-raw");
  } catch {
    throw new Error(`This browser is too old for this page: it needs ${BROWSERS}, or a later one`);
  }
}

async function unpacked(packed) {
  const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(unpacker());
  return JSON.parse(await new Response(stream).text());
}

function load(part) {
  if (!awaited.has(part)) awaited.set(part, new Promise((resolve, reject) => {
    const here = document.getElementById(part);
    if (here) return resolve(unpacked(here.textContent));
    const script = document.createElement("script");
    script.src = trusted.createScriptURL(`data/${part}.js`);
    script.onload = () => {
      script.remove();
      const packed = arrived.get(part);
      arrived.delete(part);
      if (packed !== undefined) resolve(unpacked(packed)); else script.onerror();
    };
    script.onerror = () => { awaited.delete(part); reject(new Error(`data/${part}.js is missing: a report is one folder, to be kept whole`)); };
    document.head.append(script);
  }));
  return awaited.get(part);
}

// The passages of a pair, from their columns; with the places in the texts, where there are texts.
function passagesOf(data, texts) {
  const ranges = ({ start, length }) => {
    let from = 0;
    return start.map((step, at) => [from += step, from + length[at]]);
  };
  const sides = [data.a, data.b].map((side, at) => {
    const bytes = ranges(side.bytes);
    const marks = side.text ? (side.marks ? ranges(side.marks) : bytes) : null;
    return { bytes, marks, lines: side.lines ? ranges(side.lines) : linesOf(texts[at].text, marks), pages: side.pages && ranges(side.pages) };
  });
  const span = (side, at) => ({ start: side.bytes[at][0], end: side.bytes[at][1], lines: side.lines[at], pages: side.pages && side.pages[at] });
  const passages = data.symbols.map((symbols, at) => ({ query: span(sides[0], at), document: span(sides[1], at), symbols,
    agreement: data.agreement[at] === null ? null : data.agreement[at] / 1000,
    names: data.same_names && data.same_names[at] !== null ? data.same_names[at] / 1000 : null }));
  return { passages, marks: sides.map((side) => side.marks) };
}

// The first and the last line of each mark.
function linesOf(text, marks) {
  const newlines = [];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) newlines.push(at);
  const line = (at) => {
    let [low, high] = [0, newlines.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (newlines[middle] < at) low = middle + 1; else high = middle;
    }
    return 1 + low;
  };
  return marks.map(([from, to]) => [line(from), Math.max(line(from), line(to - 1))]);
}

// The symbols of the longest passage of a pair, as a cell of a table.
const longest = (pair) => (pair.longest === undefined ? "\u2013" : grouped(pair.longest));

// Whether a measure of a pair was found from a part of the hashes only. In the view of the text, it was if it was in the other.
const isEstimate = (pair, measure) => (pair.estimated || []).includes(measure.replace(/^text_/, ""));

// Source code in two views has measures of its text as written too.
const TWO_VIEWS = report.pairs.some((pair) => pair.text_resemblance !== undefined);
const MEASURES = {
  ...(report.measure === "score" && { score: { title: TWO_VIEWS ? "score, the larger of both views" : "score, rare text counting more", of: (pair) => pair.score } }),
  ...(TWO_VIEWS && { text_resemblance: { title: "text as written", of: (pair) => pair.text_resemblance } }),
  resemblance: { title: "resemblance", of: (pair) => pair.resemblance },
  containment_a: { title: "share of A in B", of: (pair) => pair.containment_a },
  containment_b: { title: "share of B in A", of: (pair) => pair.containment_b },
  larger: { title: "the larger share", of: (pair) => Math.max(pair.containment_a, pair.containment_b) },
  smaller: { title: "the smaller share", of: (pair) => Math.min(pair.containment_a, pair.containment_b) },
};
// A measure of a pair, as a cell of a table.
const measureCell = (pair, measure) => (pair[measure] === undefined ? "\u2013" : meter(pair[measure], true, isEstimate(pair, measure)));
// What the reader has chosen, kept while pages are changed.
const view = { measure: report.measure, threshold: 0, filter: "", only: null, sort: report.dedup ? "number" : report.oldest_first ? "date_b" : "score", ascending: Boolean(report.oldest_first), shown: 100, folded: false, together: true };
const score = (pair) => MEASURES[view.measure].of(pair);
report.pairs.forEach((pair, index) => { pair.number = index; });
// The pairs that are ranked: those of documents in submissions are part of one of these.
const ranked = report.pairs.filter((pair) => pair.of === undefined);
// A stored document that is a query itself, by name and bytes, is drawn as the query.
const own = new Map(ranked.filter((pair) => pair.own).map((pair) => [pair.b, pair.a]));
const drawnAs = (document) => own.get(document) ?? document;
// The things that are compared, and those that are asked.
const UNIT = report.submissions || report.documents.some((document) => document.role === "submission") ? "submission" : "document";
const QUERY = ranked.some((pair) => report.documents[pair.a].role === "submission") ? "submission" : "query document";
// The number of documents outside any submission, each of which is compared with submissions as one of them.
const outside = report.submissions ? report.compared - report.submissions : 0;

// What the reader has chosen stands in the address beside the page, where it is not what a report begins with, so that a page
// that is loaded again is the same.
function remember(page) {
  // Another page was turned to meanwhile, and is about to be drawn.
  const number = (address) => new URLSearchParams(address).get("pair");
  if (number(page) !== number(location.hash.slice(1))) return;
  const chosen = new URLSearchParams(page);
  if (view.measure !== report.measure) chosen.set("measure", view.measure);
  if (view.threshold !== firstThreshold()) chosen.set("threshold", view.threshold);
  if (view.filter) chosen.set("filter", view.filter);
  // Also, to replace an address ends a navigation that was begun.
  if (`#${chosen}` === (location.hash || "#")) return;
  try { history.replaceState(null, "", `#${chosen}`); } catch { /* Some browsers refuse it to files. */ }
}

// What an address does not name stays as it is.
function recall(address) {
  const chosen = new URLSearchParams(address);
  const measure = chosen.get("measure") || "";
  if (Object.hasOwn(MEASURES, measure) && measure !== view.measure) {
    view.measure = measure;
    view.threshold = firstThreshold();
  }
  if (/^\d{1,3}$/.test(chosen.get("threshold") || "")) view.threshold = Math.min(100, Number(chosen.get("threshold")));
  if (chosen.has("filter")) view.filter = chosen.get("filter");
}

// The smallest threshold at which there are no more pairs than documents: what is drawn then can be read. But never one that no
// pair reaches. Of removable documents all are listed.
function firstThreshold() {
  if (report.dedup) return 0;
  const bins = ranked.map((pair) => bin(score(pair))).sort((a, b) => b - a);
  const units = UNIT === "document" ? report.documents.length : new Set(ranked.flatMap((pair) => [pair.a, pair.b])).size;
  const room = Math.max(units, 10);
  return bins.length <= room ? 0 : Math.min(bins[0], bins[room] + 1);
}

// The folders that all documents are in, which are told once and not with every name.
const beginning = (() => {
  const names = report.documents.map((document) => document.name);
  if (names.length < 2) return "";
  const common = names.reduce((a, b) => {
    let same = 0;
    while (same < a.length && a[same] === b[same]) same += 1;
    return a.slice(0, same);
  });
  return common.slice(0, common.lastIndexOf("/") + 1);
})();

// Whole percents, as the histogram counts them; the small addition is for shares such as 0.29, which is 28.999... percents.
const bin = (share) => Math.min(100, Math.floor(100 * share + 1e-9));
