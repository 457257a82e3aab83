// Submissions: the pairs of documents in two submissions, as a list, and with all their texts side by side.
"use strict";

// The pairs of documents in two submissions.
function filesOf(pair) {
  const shares = ["text_resemblance", "resemblance", "containment_a", "containment_b"].filter((measure) => MEASURES[measure]);
  const rows = pair.files.map((at) => report.pairs[at]).map((file) => {
    const open = () => { location.hash = `pair=${file.number + 1}`; };
    const cells = [["number", h("a", { href: `#pair=${file.number + 1}`, "aria-label": `pair ${file.number + 1}` }, String(file.number + 1))],
      ["", name(report.documents[file.a].name)], ["", [name(report.documents[file.b].name), file.identical && h("span", { class: "faint" }, " (identical)")]],
      ...shares.map((measure) => ["share", measureCell(file, measure)]),
      ["number", grouped(file.shared)], ["number", file.passages === null ? "\u2013" : grouped(file.passages)], ["number", longest(file)]];
    return h("tr", { class: "link", "data-pair": file.number + 1, onclick: (event) => { if (!event.target.closest("a") && !String(getSelection())) open(); } },
      cells.map(([kind, cell]) => h("td", { class: kind || null }, cell)));
  });
  const left = pair.files_left_out;
  const heads = ["pair", "A", "B", ...shares.map((measure) => MEASURES[measure].title), "shared fingerprints", "passages", "longest passage"];
  return h("div", { class: "overview" }, h("section", { class: "card wide list", "aria-labelledby": "files-title" },
    h("h2", { id: "files-title" }, pair.by_files ? "The documents that are alike, then those that share most" : "The documents that share most", left > 0 && `: ${grouped(rows.length)} of ${count(rows.length + left, "pair")}`),
    canBeWhole(pair) && h("p", {}, h("a", { id: "whole", href: `#pair=${pair.number + 1}&files=whole` }, left > 0 ? "These side by side" : "All of them side by side")),
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-labelledby": "files-title" }, h("table", { id: "files" },
      h("thead", {}, h("tr", {}, heads.map((words) => h("th", { scope: "col", class: ["pair", "shared fingerprints", "passages", "longest passage"].includes(words) ? "number" : null }, words)))), h("tbody", {}, rows))),
    left > 0 && h("p", { class: "faint", id: "files-left" }, `${count(left, "more pair")} of documents share${left === 1 ? "s" : ""} less. A report made with --submission-files ${rows.length + left} has all.`)));
}

// Whether the texts and passages of its documents are in the report.
function canBeWhole(pair) {
  return report.texts && pair.files.some((at) => report.pairs[at].page && report.pairs[at].passages !== null);
}

// The two submissions of a pair, each as one text: its documents one below the other, each below a line with its name.
async function wholeSubmissions(pair) {
  const files = pair.files.map((at) => report.pairs[at]).filter((file) => file.page);
  const loaded = await Promise.all(files.map((file) => load(`pair-${file.number + 1}`)));
  const sides = await Promise.all(["a", "b"].map((side) => joined(side, files, loaded)));
  const passages = [];
  const marks = [[], []];
  loaded.forEach((data, at) => {
    const ends = [files[at].a, files[at].b];
    const found = passagesOf(data, ends.map((document, side) => sides[side].texts.get(document)));
    found.passages.forEach((passage, number) => {
      passages.push({ ...passage, files: ends.map((document) => report.documents[document].name) });
      // Where a text cannot be shown, its passages stand at its name.
      ends.forEach((document, side) => {
        const { head, body } = sides[side].places.get(document);
        marks[side].push(found.marks[side] ? found.marks[side][number].map((place) => place + body) : [head, body - 1]);
      });
    });
  });
  const order = passages.map((_, at) => at).sort((x, y) => marks[0][x][0] - marks[0][y][0] || marks[1][x][0] - marks[1][y][0]);
  const sum = (documents, key) => documents.reduce((total, document) => (total === null || document[key] === null ? null : total + document[key]), 0);
  const documents = [pair.a, pair.b].map((at, side) => {
    const own = sides[side].documents;
    return { ...report.documents[at], bytes: sum(own, "bytes"), symbols: sum(own, "symbols"), language: own.map(({ language }) => language).find(Boolean) };
  });
  const matches = loaded.map((data) => data.match);
  const match = { inferred: matches.map(({ inferred }) => inferred).find(Boolean), repeats: Math.max(0, ...matches.map(({ repeats }) => repeats || 0)) };
  const evidence = { passages: order.map((at) => passages[at]), marks: marks.map((side) => order.map((at) => side[at])), match };
  return { documents, evidence, texts: sides.map(({ text, ignored, tokens, ranges, heads }) => ({ text, ignored, tokens, ranges, heads })) };
}

// The documents of one side as one text, with the places at which their names and their own texts begin.
async function joined(side, files, loaded) {
  const indexes = [...new Set(files.map((file) => file[side]))];
  const called = (index) => report.documents[index].name;
  indexes.sort((x, y) => (called(x) < called(y) ? -1 : called(x) > called(y) ? 1 : x - y));
  const texts = new Map(await Promise.all(indexes.map(async (index) => {
    const there = loaded.some((data, at) => files[at][side] === index && data[side].text);
    return [index, there ? await load(`text-${index + 1}`) : null];
  })));
  const made = { text: "", ignored: [], tokens: [], ranges: [], heads: [], places: new Map(), texts, documents: indexes.map((index) => report.documents[index]) };
  for (const index of indexes) {
    const { why, language } = report.documents[index];
    const own = texts.get(index);
    const head = made.text.length;
    made.heads.push(head);
    made.text += `${short(called(index))}${own ? "" : `: the text cannot be shown${why ? `: ${seen(why)}` : ""}`}\n`;
    const body = made.text.length;
    made.places.set(index, { head, body });
    if (!own) continue;
    for (const [from, to] of own.ignored) made.ignored.push([from + body, to + body]);
    for (const range of unlikeOf(own, body)) made.ranges.push(range);
    for (const token of tokensOf(own.text, language)) made.tokens.push({ ...token, from: token.from + body, to: token.to + body });
    made.text += own.text.endsWith("\n") ? own.text : `${own.text}\n`;
  }
  return made;
}
