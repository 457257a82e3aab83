// The overview: what was searched, how alike each document is to its best match, the clusters, and the ranked pairs.
"use strict";

const title = () => ({
  query: () => `What ${count(report.compared, QUERY)} share${report.compared === 1 ? "s" : ""} with the database`,
  pairs: () => `Pairs among ${count(report.compared - outside, UNIT)}${outside ? ` and ${count(outside, "other document")}` : ""}`,
  diff: () => "Two documents compared",
  dedup: () => `${grouped(report.dedup.removable)} of ${count(report.compared, "document")} removable`,
})[report.command]();

// Documents by the whole percents of their best match: of all documents where that is the report's own measure, otherwise of
// the pairs that are listed.
function histogramBins() {
  if (view.measure === report.measure) return report.histogram;
  const best = new Map();
  for (const pair of ranked.filter((pair) => !pair.own)) {
    const ends = report.command === "pairs" ? [pair.a, pair.b] : [pair.a];
    for (const document of ends) best.set(document, Math.max(best.get(document) || 0, score(pair)));
  }
  const bins = new Array(101).fill(0);
  for (const share of best.values()) bins[bin(share)] += 1;
  bins[0] += report.compared - best.size;
  return bins;
}

function histogram(bins, scale) {
  const [wide, high, foot] = [620, 215, 22];
  const most = Math.max(1, ...bins.slice(1));
  const step = (wide - 20) / (scale + 1);
  const picture = s("svg", { viewBox: `0 0 ${wide} ${high + foot}`, role: "img", "aria-label": "histogram of each document's best match" });
  bins.forEach((documents, at) => {
    if (at === 0 || documents === 0) return;
    const tall = Math.max(2, (documents / most) * (high - 18));
    picture.append(s("rect", { x: (10 + at * step).toFixed(2), y: (high - tall).toFixed(2), width: (step * 0.86).toFixed(2), height: tall.toFixed(2), "data-bin": at },
      s("title", {}, `${count(documents, report.command === "pairs" ? UNIT : "document")} at ${at}%`)));
  });
  picture.append(s("line", { class: "axis", x1: 10, x2: wide - 10, y1: high, y2: high }));
  for (let tick = 0; tick <= 5; tick += 1) {
    const at = (scale / 5) * tick;
    picture.append(s("text", { x: tick === 5 ? wide - 2 : 10 + (at + 0.4) * step, y: high + 15, "text-anchor": tick === 5 ? "end" : "middle" }, `${at}%`));
  }
  picture.append(s("text", { x: 10, y: 12 }, `most: ${count(most, report.command === "pairs" ? UNIT : "document")}`));
  const mark = s("line", { class: "threshold", y1: 14, y2: high });
  picture.append(mark);
  return { picture, move(threshold) {
    mark.setAttribute("x1", 10 + threshold * step);
    mark.setAttribute("x2", 10 + threshold * step);
    for (const bar of picture.querySelectorAll("rect")) bar.classList.toggle("off", Number(bar.dataset.bin) < threshold);
  } };
}

// Lists the pairs of the overview anew; none on the page of a pair.
let relist = null;

// A value of the metadata of a document. The names of mail headers have no case.
const fieldOf = (document, wanted) => Object.entries(document.metadata || {}).find(([key]) => key.toLowerCase() === wanted)?.[1] || "";

// The time of a document in seconds: the date in its metadata (rank 0), otherwise the time of its file (rank 1), if the report
// has either. The time of a file may be that of a copy or of a whole mailbox, so it comes after all dates.
const timeOf = ({ dated, modified }) => ({ rank: (dated ?? null) !== null ? 0 : (modified ?? null) !== null ? 1 : 2, seconds: dated ?? modified ?? null });

// The time of one side of a pair. Of a submission it is the first time of its files in the pair.
const earlier = (one, other) => (other.rank - one.rank || other.seconds - one.seconds) < 0 ? other : one;
const timeIn = (pair, side) => {
  const own = timeOf(report.documents[pair[side]]);
  return own.rank < 2 ? own : (pair.files || []).map((at) => timeOf(report.documents[report.pairs[at][side]])).reduce(earlier, own);
};
const dateIn = (pair, side) => moment(timeIn(pair, side).seconds ?? NaN);

// What tells documents apart for a reader: their label and group, and the sender of a mail.
const labelsOf = (document) => {
  const labels = ["label", "group"].map((key) => (document.metadata || {})[key]).filter(Boolean);
  const text = oldNote(document) + (labels.length > 0 ? ` [${inLine(labels.join(", "))}]` : "") + (fieldOf(document, "from") && ` ${inLine(fieldOf(document, "from"))}`);
  return text !== "" && h("span", { class: "faint" }, text);
};

// Of submissions, that a file in one has the bytes of a file in the other, and that only two files are alike enough.
function pairNote(pair) {
  const holds = (pair.files || []).some((at) => report.pairs[at].identical);
  const words = [pair.identical ? "identical" : holds && "holds an identical file", pair.by_files && "two files alike"].filter(Boolean);
  return words.length > 0 && h("span", { class: "faint" }, ` (${words.join("; ")})`);
}

function overview() {
  document.body.className = "";
  document.title = `${title()} - fpdb report`;
  const open = (pair) => { location.hash = `pair=${pair.number + 1}`; };
  const facts = h("div", { class: "facts" });
  const outputText = h("output", { for: "threshold" });
  const bins = histogramBins();
  // As far as there is something to see, in tens.
  const scale = Math.max(10, 10 * Math.ceil(bins.findLastIndex((documents) => documents > 0) / 10));
  // The bars count the documents of listed pairs alone.
  const partial = report.left_out.beyond_top > 0 || (view.measure !== report.measure && report.left_out.pairs > 0);
  const bars = histogram(bins, scale);
  view.threshold = Math.min(view.threshold, scale);
  const slider = h("input", { id: "threshold", type: "range", min: 0, max: scale, step: 1, value: view.threshold, "aria-describedby": "slider-help" });
  const graphPlace = h("div");
  const clusterPlace = h("ul", { class: "clusters", "aria-label": "clusters" });
  const filter = h("input", { type: "search", id: "filter", placeholder: "part of a name or of metadata", value: view.filter, autocomplete: "off" });
  const chosen = h("span");
  const rows = h("tbody");
  const heads = h("tr");
  const more = h("div", { class: "tools" });
  const shownText = h("span", { class: "faint", id: "shown" });
  let listed = [];

  const columns = [
    { key: "number", title: "pair", class: "number", of: (pair) => -pair.number, cell: (pair) => h("a", { href: `#pair=${pair.number + 1}`, "aria-label": `pair ${pair.number + 1}` }, String(pair.number + 1)) },
    { key: "a", title: report.dedup ? "A, removable" : report.command === "query" ? "A, the query" : "A", of: (pair) => report.documents[pair.a].name, cell: (pair) => [name(report.documents[pair.a].name), pair.removal && pair.removal.id && h("span", { class: "faint" }, ` id ${inLine(pair.removal.id)}`), labelsOf(report.documents[pair.a])] },
    { key: "b", title: report.dedup ? "B, its survivor" : "B", of: (pair) => report.documents[pair.b].name, cell: (pair) => [name(report.documents[pair.b].name), labelsOf(report.documents[pair.b]), pairNote(pair)] },
    ...["a", "b"].filter((side) => ranked.some((pair) => dateIn(pair, side))).map((side) => (
      { key: `date_${side}`, title: `date of ${side.toUpperCase()}`, of: (pair) => timeIn(pair, side).seconds, rank: (pair) => timeIn(pair, side).rank, cell: (pair) => inLine(dateIn(pair, side) || "\u2013") })),
    ...(report.dedup ? [
      { key: "group", title: "group", class: "number", of: (pair) => -pair.removal.group, cell: (pair) => grouped(pair.removal.group) },
      { key: "because", title: "because", of: (pair) => pair.removal.because, cell: (pair) => pair.removal.because },
      { key: "novel", title: "longest unmatched", class: "number", of: (pair) => pair.removal.novel, cell: (pair) => grouped(pair.removal.novel) },
      { key: "bytes", title: "bytes", class: "number", of: (pair) => report.documents[pair.a].bytes, cell: (pair) => grouped(report.documents[pair.a].bytes) },
    ] : []),
    ...["score", "text_resemblance", "resemblance", "containment_a", "containment_b"].filter((measure) => MEASURES[measure]).map((measure) => ({
      key: measure, title: MEASURES[measure].title, class: "share", of: MEASURES[measure].of,
      cell: (pair) => [measureCell(pair, measure), pair.interval && measure === report.measure && h("span", { class: "faint" }, ` (${percent(pair.interval[0])} to ${percent(pair.interval[1])})`)],
    })),
    { key: "shared", title: "shared fingerprints", class: "number", of: (pair) => pair.shared, cell: (pair) => grouped(pair.shared) },
    { key: "passages", title: "passages", class: "number", of: (pair) => pair.passages ?? -1, cell: (pair) => pair.passages === null ? "\u2013" : grouped(pair.passages) },
    { key: "longest", title: "longest passage", class: "number", of: (pair) => pair.longest ?? -1, cell: longest },
  ];

  // Without any known time, the best pair comes first.
  if (view.sort.startsWith("date_") && !columns.some((column) => column.key === view.sort)) Object.assign(view, { sort: "score", ascending: false });

  function head() {
    heads.replaceChildren(...columns.map((column) => {
      const current = view.sort === column.key || (view.sort === "score" && column.key === view.measure);
      return h("th", { scope: "col", class: column.class, "aria-sort": current && (view.ascending ? "ascending" : "descending") },
        h("button", { class: "plain", type: "button", onclick: () => {
          view.ascending = current ? !view.ascending : ["a", "b", "date_a", "date_b"].includes(column.key);
          view.sort = column.key;
          list();
          heads.querySelector("[aria-sort] button").focus();
        } }, column.title));
    }));
  }

  function list() {
    head();
    const column = columns.find((column) => column.key === view.sort);
    const of = column ? column.of : score;
    const way = view.ascending ? 1 : -1;
    const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
    const wanted = view.filter.toLowerCase();
    const words = (document) => [document.name, ...Object.values(document.metadata || {})];
    const ends = (pair) => [pair, ...(pair.files || []).map((at) => report.pairs[at])].flatMap(({ a, b }) => [a, b]);
    const holds = (pair) => ends(pair).some((at) => words(report.documents[at]).some((text) => text.toLowerCase().includes(wanted)));
    const only = view.only && new Set(view.only);
    // Pairs without a value come last in either direction, and pairs with a date come before those with the time of a file.
    const rank = column?.rank ?? ((pair) => Number(of(pair) === null));
    listed = above().filter((pair) => (!wanted || holds(pair)) && (!only || only.has(drawnAs(pair.a)) || only.has(drawnAs(pair.b))))
      .sort((x, y) => rank(x) - rank(y) || way * compare(of(x), of(y)) || x.number - y.number);
    rows.replaceChildren(...listed.slice(0, view.shown).map((pair) => h("tr", { class: "link", "data-pair": pair.number + 1, onclick: (event) => {
      if (!event.target.closest("a") && !String(getSelection())) open(pair);
    } }, columns.map((column) => h("td", { class: column.class }, column.cell(pair))))));
    chosen.replaceChildren(...(view.only ? [h("button", { type: "button", onclick: () => choose(null) },
      view.only.length === 1 ? ["only ", name(report.documents[view.only[0]].name)] : `only a cluster of ${view.only.length}`, " \u00d7")] : []));
    const rest = listed.length - view.shown;
    more.replaceChildren(...(rest > 0 ? [h("button", { type: "button", id: "more", onclick: () => { view.shown += 500; list(); } }, `Show ${grouped(Math.min(rest, 500))} more`)] : []));
    const hidden = ranked.length - above().length;
    shownText.replaceChildren(`${count(listed.length, "pair")} of ${grouped(ranked.length)} `, ...(hidden > 0 ? [h("button", { type: "button", id: "show-all", onclick: () => {
      slider.value = "0";
      slider.dispatchEvent(new Event("input"));
      filter.focus();
    } }, `Show ${grouped(hidden)} below ${view.threshold}%`)] : []));
  }

  const above = () => ranked.filter((pair) => bin(score(pair)) >= view.threshold);

  function choose(documents) {
    view.only = documents;
    view.shown = 100;
    list();
    filter.focus();
  }

  function update() {
    const pairs = above();
    const groups = clusters(pairs);
    const reach = bins.slice(Math.max(view.threshold, 1)).reduce((sum, documents) => sum + documents, 0);
    outputText.textContent = `${view.threshold}%`;
    bars.move(view.threshold);
    const fact = (id, value, what) => h("div", { class: "fact" }, h("b", { id }, value), h("span", {}, what));
    if (report.dedup) {
      facts.replaceChildren(
        fact("fact-documents", grouped(report.compared), "documents compared"),
        fact("fact-removable", grouped(report.dedup.removable), "removable"),
        fact("fact-groups", grouped(report.dedup.groups), "survivors of removable ones"),
        fact("fact-bytes", size(report.dedup.bytes), "of removable documents"),
        fact("fact-undecided", grouped(report.dedup.undecided), "undecided"),
        fact("fact-pairs", grouped(pairs.length), view.threshold ? `listed at ${view.threshold}% or more` : "listed"));
    } else {
    const best = ranked.reduce((most, pair) => Math.max(most, pair.own ? 0 : score(pair)), 0);
    facts.replaceChildren(
      fact("fact-documents", grouped(report.compared), report.command === "query" ? (report.compared === 1 ? "query" : "queries") : `${report.compared === 1 ? UNIT : `${UNIT}s`}${outside ? " and other documents" : ""} compared`),
      fact("fact-reach", grouped(reach), `${partial ? "in listed pairs" : "with a match"} of ${Math.max(view.threshold, 1)}% or more`),
      fact("fact-pairs", grouped(pairs.length), `${pairs.length === 1 ? "pair" : "pairs"}${view.threshold ? ` at ${view.threshold}% or more` : ""}`),
      fact("fact-clusters", grouped(groups.length), groups.length === 1 ? "cluster" : "clusters"),
      fact("fact-best", percent(best), `the highest ${MEASURES[view.measure].title}`));
    }
    clusterPlace.replaceChildren(...groups.slice(0, 200).map((group, number) => h("li", {}, h("button", { class: "plain", type: "button", onclick: () => choose(group) },
      `${number + 1}: ${count(group.length, report.command === "pairs" ? UNIT : "document")}`), " ", h("span", { class: "faint" },
      group.slice(0, 8).flatMap((document, at) => [at ? ", " : "", name(report.documents[document].name)]), group.length > 8 && `, and ${group.length - 8} more`))));
    graphPlace.replaceChildren();
    if (groups.length > 0) {
      const drawn = graph(groups, pairs, open, choose);
      graphPlace.append(drawn.picture);
      if (drawn.left) graphPlace.append(h("p", { class: "faint" }, "The picture holds the largest clusters only; a higher threshold shows more of them."));
    } else graphPlace.append(h("p", { class: "faint" }, "No pair reaches the threshold."));
    list();
    say(`${count(pairs.length, "pair")} at ${view.threshold}% or more, in ${count(groups.length, "cluster")}`);
  }

  const measure = h("select", { id: "measure", onchange: () => { view.measure = measure.value; view.threshold = firstThreshold(); remember(""); route(); document.getElementById("measure").focus(); } },
    Object.entries(MEASURES).map(([key, { title }]) => h("option", { value: key, selected: key === view.measure }, title)));
  slider.addEventListener("input", () => { view.threshold = Number(slider.value); view.shown = 100; update(); remember(""); });
  filter.addEventListener("input", () => { view.filter = filter.value; view.shown = 100; list(); remember(""); });
  relist = list;

  top_(title(), report.database && report.database.path !== null && ["of ", name(report.database.path)]);
  const single = report.command === "diff";
  document.getElementById("main").replaceChildren(h("div", { class: "overview" },
    single && ranked.length === 0 && h("p", { class: "notice wide", id: "nothing", role: "note" }, "No fingerprint is in both documents: these two share no run that this comparison finds."),
    ...left().map((words) => h("p", { class: "notice wide", role: "note" }, words)),
    h("section", { class: "card wide", "aria-label": "in short" }, facts),
    !single && h("section", { class: "card histogram" }, h("h2", {}, report.dedup ? "Score of each removable document" : report.command === "query" ? "Best match of each query" : `Best match of each ${UNIT}`),
      bars.picture,
      h("div", { class: "screen" }, slider, h("div", { class: "tools" },
        h("label", { for: "threshold" }, "threshold ", outputText), h("span", { class: "grow" }), h("label", {}, "measure ", measure))),
      h("p", { class: "faint", id: "slider-help" }, "The slider chooses which pairs are listed and joined to clusters. ",
        !report.dedup && bins[0] > 0 && `${count(bins[0], report.command === "query" ? QUERY : UNIT)} in no ${partial ? "listed pair" : "pair found"} of 1% or more ${bins[0] === 1 ? "is" : "are"} not drawn.`,
        own.size > 0 && " The match of a query with itself, as it is stored, is only in the list of pairs.",
        partial && report.left_out.beyond_top === 0 && ` By this measure only ${report.command === "pairs" ? UNIT : "document"}s of listed pairs are counted.`)),
    !single && h("section", { class: "card graph" }, h("h2", {}, "Clusters"), graphPlace, clusterPlace),
    report.dedup && totals(),
    h("section", { class: "card wide list", "aria-labelledby": "list-title" }, h("h2", { id: "list-title" }, report.dedup ? "Removable documents, largest group first" : report.command === "query" ? "Matches" : "Pairs"),
      h("div", { class: "tools" }, h("label", {}, "filter ", filter), chosen, shownText, h("span", { class: "grow" }),
        h("button", { type: "button", id: "csv", onclick: () => save(listed) }, "Save as CSV")),
      h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "table" }, h("table", {}, h("thead", {}, heads), rows), more)),
    about(), failures(), glossary()));
  update();
  remember("");
}

// What is removable, by cause and by source.
function totals() {
  const { causes, sources } = report.dedup;
  const table = (id, heads, rows) => h("table", { id }, h("thead", {}, h("tr", {}, heads.map((words, at) => h("th", { scope: "col", class: at && "number" }, words)))),
    h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell, at) => h("td", { class: at && "number" }, cell))))));
  return h("section", { class: "card wide", "aria-label": "totals" }, h("h2", {}, "What would go"),
    table("causes", ["because", "documents"], Object.entries(causes).map(([cause, documents]) => [cause, grouped(documents)])),
    sources.length > 0 && h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "sources" }, table("sources", ["source", "documents", "removable", "share", "bytes"],
      sources.map(({ source, documents, removable, bytes }) => [source ? name(source) : "(the current folder)", grouped(documents), grouped(removable), percent(removable / documents), size(bytes)]))));
}

// Documents that are in no pair for want of text, so that nobody takes them for unlike all others.
function tooShort() {
  const [number, names] = [report.too_short, report.too_short_names || []];
  const named = names.length === 0 ? "" : `: ${names.map(inLine).join(", ")}${names.length < number ? ", \u2026" : ""}`;
  return `${count(number, outside ? "document" : UNIT)} ${number === 1 ? "has" : "have"} no text or too little to compare${named}.`;
}

// What handed-out text counts in. Only pairs are measured without it.
function handedOutCounts() {
  const is = report.boilerplate === 1;
  return report.command === "pairs"
    ? `count${is ? "s" : ""} in no figure of this report: documents are compared by what remains.`
    : `${is ? "is" : "are"} in no match, but ${is ? "is" : "are"} part of the size of the documents that hold them: the shares are lower than those of fpdb pairs, which leaves such text out of the sizes too.`;
}

// The names of handed-out text, as far as the report lists them.
function handedOut() {
  const names = report.boilerplate_documents || [];
  return names.length === 0 ? "" : ` Handed-out text in the database: ${names.map(inLine).join(", ")}${names.length < 20 ? "." : " and perhaps more."}`;
}

// Words of a query that look like others.
function inDisguise({ name, disguised: { words, example, start, file, extracted } }) {
  return `${grouped(words)} words of ${inLine(name)} look like others and do not match them, ${example ? `such as ${inLine(example)}` : "the first"} at byte ${grouped(start)}${extracted ? ` of the text of ${inLine(file ?? name)}` : file ? ` of ${inLine(file)}` : ""} (look-alike letters of another alphabet, or zero-width spaces).`;
}

// Pairs that rank below those of the report.
const lower = (number) => `${count(number, "further pair")} with a lower ${MEASURES[report.measure].title.replace(/^the |,.*/g, "")}`;

// What this report does not hold, in sentences.
function left() {
  const { pairs, least, pages, bytes } = report.left_out;
  const notes = [];
  if (pairs > 0 && report.dedup) notes.push(`${count(pairs, "removable document")} of smaller groups ${pairs === 1 ? "is" : "are"} not in this report: --max-report-pairs takes more. The totals count all.`);
  else if (pairs > 0) notes.push(`${lower(pairs)}${least === null ? "" : ` (${percent(least)} or below)`} ${pairs === 1 ? "is" : "are"} not in this report: --max-report-pairs takes more.${report.left_out.beyond_top ? "" : " The histogram counts all."}`);
  if (report.left_out.beyond_top > 0) notes.push(`${lower(report.left_out.beyond_top)} ${report.left_out.beyond_top === 1 ? "was found. It is" : "were found. They are"} not in this report: --top takes more. The histogram counts only documents of the best pairs.`);
  const byFiles = ranked.filter((pair) => pair.by_files).length;
  if (byFiles > 0) notes.push(`${count(byFiles, "pair")} (\u201ctwo files alike\u201d) ${byFiles === 1 ? "is" : "are"} below the limits as a whole, but two of the files reach them. With the threshold at 0% all are listed.`);
  if (pages > 0) notes.push(`The passages and texts of ${count(pages, "listed pair")} are not in this report, to keep it below ${size(bytes)}: --max-report-size takes more. Their measures are listed.`);
  if (report.left_out.unlisted > 0) notes.push(`${count(report.left_out.unlisted, `further ${UNIT}`)} that match${report.left_out.unlisted === 1 ? "es" : ""} a query ${report.left_out.unlisted === 1 ? "is" : "are"} not in this report: --top takes more.`);
  const { below } = report.left_out;
  if (below > 0) notes.push(`${count(below, "more pair")} share${below === 1 ? "s" : ""} a fingerprint, but less than was asked for (--min-resemblance and like limits), and ${below === 1 ? "is" : "are"} not in this report.`);
  if (report.boilerplate > 0) notes.push(`${count(report.boilerplate, "fingerprint")} of handed-out text (boilerplate) ${handedOutCounts()}${handedOut()}`);
  if (report.too_short > 0) notes.push(tooShort());
  report.documents.filter((document) => document.disguised).forEach((document) => notes.push(inDisguise(document)));
  if (report.common > 0) notes.push(`${count(report.common, "fingerprint")} held by more documents than --max-df allows ${report.common === 1 ? "was" : "were"} not counted.`);
  return notes;
}

function about() {
  const { profile } = report;
  const row = (term, value) => value !== null && value !== undefined && [h("dt", {}, term), h("dd", {}, value)];
  const unit = { char: "character", word: "word", byte: "byte", token: "token" }[profile.unit] || profile.unit;
  const runs = (symbols) => (profile.unit === "char" ? `${grouped(symbols)} letters and digits` : count(symbols, unit));
  // Source code in two views has a k and a w of its text as written too.
  const written = (symbols) => (profile.text ? `; as written, ${grouped(symbols(profile.text))} words and marks` : "");
  return h("section", { class: "card" }, h("h2", {}, report.command === "diff" ? "How it was compared" : "What was searched"), h("dl", { class: "about" },
    row("command", `fpdb ${report.command}`),
    report.database && row("database", [report.database.path !== null && [name(report.database.path), ", "], count(report.database.documents, "document")]),
    row("profile", `unit ${profile.unit}${profile.words ? ` (${profile.words})` : ""}, k ${profile.k}, w ${profile.w}, selection ${profile.selection}`),
    row("as written", profile.text ? `k ${profile.text.k}, w ${profile.text.w}` : null),
    row("noise", `nothing shorter than ${runs(profile.k)} can match${written((text) => text.k)}`),
    row("guarantee", profile.guarantee ? `every shared run of ${runs(profile.guarantee)} is found${written((text) => text.guarantee)}` : "none with this selection"),
    report.options.map(([flag, value]) => row(flag, seen(value))),
    row("names begin with", beginning ? inLine(beginning) : null),
    row("ranked by", MEASURES[report.measure].title),
    row("names", report.anonymous ? "replaced by numbers" : null),
    row("made by", `fpdb ${report.version}`)));
}

// The words of this report that not every reader knows.
function glossary() {
  const { profile } = report;
  const symbols = { char: "A letter or a digit; capitals, spaces and punctuation do not count", word: "A word", byte: "A byte",
    token: "A word or a sign of a program" }[profile.unit] || "What a text is made of as it is compared";
  const row = (term, words) => [h("dt", {}, term), h("dd", {}, words)];
  const both = (setting) => `${profile[setting]}${profile.text ? ` (as written ${profile.text[setting]})` : ""}`;
  return h("details", { class: "card wide", id: "glossary" }, h("summary", {}, "Words of this report"), h("dl", { class: "about" },
    row("symbol", `${symbols}. Lengths are counted in symbols.`),
    row("fingerprint", "A number made of some symbols that follow each other. Two documents with the same run of symbols have the same fingerprints of it."),
    profile.text && row("structure", "A program as its tokens; all names are equal, and comments are none."),
    profile.text && row("as written", "The same program as its words and marks, comments included: a second view, with fingerprints of its own."),
    row(`k ${both("k")}`, "How many symbols make one fingerprint: no shorter run can match."),
    row(`w ${both("w")}`, profile.guarantee ? "Of so many fingerprints in a row at least one is kept, so that no shared run of the length guaranteed is missed." : "Not used by this selection."),
    row(`selection ${profile.selection}`, "The rule that chooses which fingerprints are kept."),
    row("score", `The number that ranks the list, here the ${MEASURES[report.measure].title}.`),
    row("cluster", "Documents joined by pairs at or above the threshold. Each is like some other one in it, not like all."),
    report.dedup && row("survivor", "The document that stays, beside which another one is removable."),
    report.dedup && row("undecided", "Documents that stay because the limit on work did not suffice to decide about them.")));
}

function failures() {
  // Only a comparison of two files has no database, and so no ingest.
  const others = report.database && h("p", { class: "faint", id: "not-ingested" },
    "Documents that an ingest could not read are not in the database, and not listed here.");
  return h("section", { class: "card" }, h("h2", {}, "What this report could not read"), others, report.failures.length === 0
    ? h("p", { class: "faint" }, report.texts ? "Every text shown could be read." : "No text was to be shown.")
    : h("div", { class: "failures", tabindex: 0, role: "region", "aria-label": "failures" }, h("table", { id: "failures" },
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "document"), h("th", { scope: "col" }, "why"))),
      h("tbody", {}, report.failures.map((failure) => h("tr", {}, h("td", {}, name(failure.name)), h("td", {}, seen(failure.error))))))));
}

// The pairs listed, as a table for a spreadsheet. A cell that it might take for a formula is made text by an apostrophe.
function save(pairs) {
  const cell = (value) => {
    let text = String(value ?? "");
    if (typeof value === "string" && /^[=+\-@\t\r]/.test(text)) text = `'${text}`;
    return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  };
  const groups = clusters(pairs);
  const cluster = new Map(groups.flatMap((group, number) => group.map((document) => [document, number + 1])));
  const ofText = TWO_VIEWS ? ["score", "text_shared", "text_resemblance", "text_containment_a", "text_containment_b"] : [];
  const sides = ["a", "b"];
  const facts = sides.flatMap((side) => [[`${side}_date`, (pair) => dateIn(pair, side)],
    [`${side}_metadata`, (pair) => JSON.stringify(report.documents[pair[side]].metadata || {})]]);
  const lines = [["pair", "a", "b", "shared", "resemblance", "containment_a", "containment_b", ...ofText, "identical", "passages", "longest_passage", "cluster", ...(report.dedup ? ["group", "because", "novel", "bytes", "id"] : []), ...facts.map(([title]) => title)]];
  for (const pair of pairs) lines.push([pair.number + 1, report.documents[pair.a].name, report.documents[pair.b].name, pair.shared, pair.resemblance,
    pair.containment_a, pair.containment_b, ...ofText.map((measure) => pair[measure]), pair.identical, pair.passages, pair.longest, cluster.get(drawnAs(pair.a)),
    ...(report.dedup ? [pair.removal.group, pair.removal.because, pair.removal.novel, report.documents[pair.a].bytes, pair.removal.id] : []),
    ...facts.map(([, of]) => of(pair))]);
  const url = URL.createObjectURL(new Blob([`${lines.map((line) => line.map(cell).join(",")).join("\r\n")}\r\n`], { type: "text/csv" }));
  h("a", { href: url, download: "pairs.csv" }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
