// The page of one pair: its measures, its passages, and both texts side by side.
"use strict";

let current = null;
// The causes of removal by which nothing is lost.
const SAME_TEXTS = ["identical", "same-text"];

// With `whole`, of two submissions all files that share text, side by side.
async function pairPage(number, passage, whole) {
  const pair = report.pairs[number - 1];
  const [a, b] = [report.documents[pair.a], report.documents[pair.b]];
  current = { pair };
  const mine = current;
  const step = (by, words, key) => h("button", { type: "button", disabled: !beside(pair, by), onclick: () => turn(by) }, words, " ", h("kbd", {}, key));
  top_(["Pair ", String(number)], [name(a.name), oldNote(a), " and ", name(b.name), oldNote(b)], h("nav", { class: "tools screen", "aria-label": "pairs" },
    (beside(pair, -1) || beside(pair, 1)) && [step(-1, "\u2190", "["), step(1, "\u2192", "]")],
    pair.of !== undefined && h("a", { id: "up", href: `#pair=${pair.of + 1}` }, "Its submissions"),
    pair.files && whole && h("a", { id: "up", href: `#pair=${number}` }, "Its files"),
    h("a", { href: "#" }, report.command === "diff" ? "About this comparison" : "All pairs")));
  document.title = `Pair ${number}: ${seen(a.name)} and ${seen(b.name)} - fpdb report`;
  const main = document.getElementById("main");
  const listing = pair.files && !(whole && canBeWhole(pair));
  document.body.className = listing ? "" : "pair";
  if (listing) return main.replaceChildren(measures(pair), filesOf(pair));
  main.replaceChildren(measures(pair), h("p", { class: "gone" }, "Loading\u2026"));
  let data;
  let texts;
  try {
    if (pair.files) {
      const made = await wholeSubmissions(pair);
      if (mine === current) draw(main, pair, made.documents, made.evidence, made.texts, passage);
      return;
    }
    data = pair.page ? await load(`pair-${number}`) : { match: {}, a: { text: false }, b: { text: false } };
    texts = await Promise.all([[data.a, pair.a], [data.b, pair.b]].map(([side, at]) => (side.text ? load(`text-${at + 1}`) : null)));
  } catch (error) {
    if (mine === current) main.replaceChildren(measures(pair), h("p", { class: "notice", role: "alert" }, error.message));
    return;
  }
  const found = pair.page ? passagesOf(data, texts) : { passages: [], marks: [null, null] };
  if (mine === current) draw(main, pair, [a, b], { ...found, match: data.match }, texts, passage);
}

// Of source code: whether a passage is the same text, or the same structure with other names.
function likeness({ agreement, names }) {
  if (agreement === null) return "";
  if (names === null && agreement < 1) return "as written";
  return names === null || names === 1 ? "same" : names === 0 ? "others" : percent(names);
}

const range = ([first, last]) => (first === last ? String(first) : `${first}\u2013${last}`);
const pageOf = ([first, last]) => (first === last ? `page ${first}` : `pages ${first}\u2013${last}`);

// The next pair or the one before: of the ranked ones, or of the same submissions.
function beside(pair, by) {
  const other = report.pairs[pair.number + by];
  return other && other.of === pair.of ? other : null;
}

function turn(by) {
  const other = beside(current.pair, by);
  if (other) location.hash = `pair=${other.number + 1}`;
}

function measures(pair) {
  const bar = (id, words, measure) => h("span", { id }, h("span", { class: "text" }, words, " "), meter(pair[measure], true, isEstimate(pair, measure)));
  const interval = pair.interval && h("span", { class: "faint" }, ` 95% interval of the ${MEASURES[report.measure].title}: ${percent(pair.interval[0])} to ${percent(pair.interval[1])}`);
  const side = (letter) => h("span", { class: `side-${letter.toLowerCase()}` }, letter);
  const own = pair.containment_a_without_boilerplate;
  return h("div", { class: "measures" },
    bar("bar-a", ["share of ", side("A"), " in ", side("B")], "containment_a"),
    own !== undefined && h("span", { id: "own", class: "faint" }, `(${percent(own)} without boilerplate)`),
    bar("bar-b", ["share of ", side("B"), " in ", side("A")], "containment_b"),
    bar("bar-r", "resemblance", "resemblance"), pair.text_resemblance !== undefined && bar("bar-t", "text as written", "text_resemblance"), report.measure === "score" && bar("bar-s", "score", "score"), interval,
    h("span", { class: "faint" }, count(pair.shared, "shared fingerprint"), pair.text_shared !== undefined && ` and ${grouped(pair.text_shared)} of the text`, pair.identical && ", identical bytes"),
    pair.removal && h("span", { id: "removal", class: "faint" }, side("A"), ` is removable (${pair.removal.because}`, pair.removal.id && `, id ${inLine(pair.removal.id)}`,
      `, ${size(report.documents[pair.a].bytes)}), `, side("B"), " stays; the longest stretch that would be lost has ", count(pair.removal.novel, "symbol")));
}

// evidence: the passages, their places in both texts, and the match that they are of.
function draw(main, pair, documents, evidence, texts, wanted) {
  const { passages, marks: places, match } = evidence;
  const address = pair.files ? `pair=${pair.number + 1}&files=whole` : `pair=${pair.number + 1}`;
  // One typeface for both sides, so that the eye compares the words alone.
  const prose = documents.every(({ language }) => !language) && texts.some((text) => text && averageLine(text.text) > 100);
  const sides = ["query", "document"];
  // What no passage covers would be lost, unless the texts are the same. That is not known where passages were cut off.
  const differsFrom = Boolean(pair.removal) && !SAME_TEXTS.includes(pair.removal.because);
  const marksLost = differsFrom && pair.page && pair.removal.all_marked;
  const choose = (numbers) => {
    const at = numbers.indexOf(current.passage);
    select(numbers[(at + 1) % numbers.length]);
  };
  const asRead = texts.map((text) => (text ? text.ranges || unlikeOf(text) : []));
  // True for a passage whose words can differ.
  const isUnlike = ({ agreement }) => agreement !== null && (agreement < 1 || report.profile.unit === "token") && texts.every(Boolean);
  const NONE = { sides: [[], []], differences: [] };
  // The differing words of passages, found when they are first shown.
  const found = new Map();
  const edits = (number) => {
    if (!found.has(number)) {
      const words = isUnlike(passages[number - 1]) ? differing(texts.map(({ text }, side) => ({ text, unlike: asRead[side] })), places.map((marks) => marks[number - 1]), report.profile.unit === "token") : NONE;
      if (words === null) rows[number - 1].querySelector(".match").append(", too long to mark single words");
      found.set(number, words ?? NONE);
    }
    return found.get(number);
  };
  const halves = documents.map((document, side) => {
    const key = sides[side];
    const text = texts[side] && texts[side].text;
    // Without the text there are still the offsets, in bytes.
    const marks = text === null ? passages.map((passage) => [passage[key].start, passage[key].end]) : places[side];
    const spans = marks.map(([from, to], at) => ({ from, to, number: at + 1 }));
    const common = text === null ? [] : texts[side].ignored.map(([from, to]) => ({ from, to }));
    const letter = "AB"[side];
    const tokens = text === null ? [] : texts[side].tokens || tokensOf(text, document.language);
    const differs = (number) => edits(number).sides[side];
    const lost = side === 0 && marksLost;
    const pane = text === null ? null : new Pane(`${letter}: text of ${seen(document.name)}`, text, { spans, common, lost, tokens, differs, prose, unlike: asRead[side], heads: texts[side].heads }, choose);
    const band = strip(text === null ? document.bytes : text.length, spans, common, choose);
    const nothing = !report.texts ? "This report was made without texts." : document.why ? `The text cannot be shown: ${seen(document.why)}.`
      : pair.passages === null ? "The report was made without passages." : "The passages and texts of this pair are not in this report, for its size.";
    const head = h("h2", {}, h("span", { class: `side-${letter.toLowerCase()}` }, letter), name(document.name),
      h("small", {}, document.old && "old, ", document.role === "query" && report.command === "query" ? "query, " : "", size(document.bytes), document.symbols !== null && [", ", count(document.symbols, "symbol")], document.extracted && ", extracted text"));
    return { pane, band, element: h("section", { class: "half", "aria-label": `document ${letter}` }, head, known(document),
      h("div", { class: "strip-and-text" }, pane ? pane.element : h("p", { class: "gone pane" }, nothing), band.element)) };
  });
  // The name of a passage's file without that of its submission.
  const fileOf = ({ files }, side) => {
    const [whole, of] = [files[side], documents[side].name];
    return h("bdi", { class: "file", dir: "auto", title: inLine(whole) }, whole.startsWith(of) && "/!".includes(whole[of.length]) ? inLine(whole.slice(of.length + 1)) : short(whole));
  };
  const position = h("span", { id: "position" });
  const step = (by, words, key) => h("button", { type: "button", id: by > 0 ? "next" : "previous", disabled: passages.length === 0, onclick: () => move(by) }, words, " ", h("kbd", {}, key));
  const difference = h("span", { id: "difference", class: "faint" });
  const stepDifference = (by, words, key) => h("button", { type: "button", id: by > 0 ? "next-difference" : "previous-difference", onclick: () => moveDifference(by) }, words, " ", h("kbd", {}, key));
  const rows = passages.map((passage, at) => {
    // Of submissions, the lines are those of a file.
    const lines = (side) => {
      const { lines, pages } = passage[sides[side]];
      return [passage.files && [fileOf(passage, side), " "], pages && h("div", {}, pageOf(pages)), range(lines)];
    };
    return h("tr", { class: "link", onclick: (event) => { if (!event.target.closest("button")) select(at + 1); } },
      h("td", {}, h("button", { class: `chip ${look(at + 1)}`, type: "button", "data-n": at + 1, "aria-label": `passage ${at + 1}`, onclick: () => select(at + 1) })),
      h("td", { class: "number" }, grouped(passage.symbols)),
      h("td", { class: "number" }, lines(0)), h("td", { class: "number" }, lines(1)),
      h("td", { class: "faint match" }, passage.agreement === null ? "about" : passage.agreement === 1 ? "same" : percent(passage.agreement)),
      report.profile.unit === "token" && h("td", { class: "faint" }, likeness(passage)));
  });
  // The passages as they are stepped through: as the table has them.
  const order = passages.map((_, at) => at + 1);
  const body = h("tbody", {}, rows);
  const sorting = ["no.", "symbols", "lines A", "lines B"].map((words, column) => {
    const key = (number) => [number, -passages[number - 1].symbols, number, places[1] ? places[1][number - 1][0] : passages[number - 1].document.start][column];
    const sort = () => {
      order.sort((x, y) => key(x) - key(y) || x - y);
      body.append(...order.map((number) => rows[number - 1]));
      sorting.forEach((head, at) => { if (at === column) head.setAttribute("aria-sort", column === 1 ? "descending" : "ascending"); else head.removeAttribute("aria-sort"); });
    };
    return h("th", { scope: "col", class: column ? "number" : null, "aria-sort": column === 0 && "ascending" }, h("button", { class: "plain", type: "button", onclick: sort }, words));
  });
  const table = h("nav", { class: "passages", tabindex: 0, "aria-label": "passages" },
    pair.passages > passages.length && h("p", { class: "gone" }, passages.length === 0 ? count(pair.passages, "passage") : `Shown are ${grouped(passages.length)} of ${count(pair.passages, "passage")}: the longest, without short ones that stand in longer ones on both sides, and those that stand in far longer ones.`),
    passages.length === 0 && !pair.passages && h("p", { class: "gone" }, pair.passages === null ? "No passages were looked for."
      : pair.identical || (pair.removal && !differsFrom) ? "The two texts are the same. They have no fingerprint that counts." : "No passages."),
    match.inferred && passages.length > 0 && h("p", { class: "gone" }, `Where passages begin and end is inferred from fingerprints: ${seen(match.inferred)}.`),
    match.repeats > 0 && h("p", { class: "gone" }, "Both documents repeat themselves: not every place is paired with every other."),
    passages.length > 0 && h("table", {}, h("thead", {}, h("tr", {}, sorting, h("th", { scope: "col" }, "match"), report.profile.unit === "token" && h("th", { scope: "col" }, "names"))), body));
  const together = h("button", { type: "button", id: "together", "aria-pressed": String(view.together), onclick: () => {
    view.together = !view.together;
    together.setAttribute("aria-pressed", String(view.together));
    if (view.together && current.passage) hold(current.passage);
  } }, "scroll together ", h("kbd", {}, "s"));
  const bench = h("div", { class: view.folded ? "bench folded" : "bench" }, table, halves.map((half) => half.element));
  const fold = h("button", { type: "button", id: "fold", "aria-pressed": String(view.folded), onclick: () => {
    view.folded = bench.classList.toggle("folded");
    fold.setAttribute("aria-pressed", String(view.folded));
    if (current.passage) hold(current.passage);
  } }, "hide table");
  main.replaceChildren(measures(pair), h("div", { class: "measures screen", role: "toolbar", "aria-label": "passages" },
    step(-1, "previous", "p"), step(1, "next", "n"), position,
    passages.some(isUnlike) && [stepDifference(-1, "previous difference", "D"), stepDifference(1, "next difference", "d"), difference], fold, halves.every((half) => half.pane) && together,
    texts.some((text) => text && text.ignored.length > 0) && h("span", {}, h("mark", { class: "common" }, "grey"), " is not counted: boilerplate, quoted, a phrase to be ignored, or held by many documents"),
    halves.some(({ pane }) => pane && pane.markup.length > 0) && h("span", { id: "markup-legend" }, h("span", { class: "markup" }, "faint"), " is not read as text: markup, or outputs of a notebook"),
    passages.some(isUnlike) && h("span", { id: "differs-legend" }, h("b", { class: "differs" }, "bold"), " is not at this place on the other side"),
    marksLost && texts[0] && h("span", { id: "lost-legend" }, h("mark", { class: "lost" }, "marked so"), " is what the survivor lacks"),
    differsFrom && !marksLost && texts[0] && h("span", { id: "lost-legend" }, "Not marked is what the survivor lacks, for not all passages are shown"),
    pair.files && h("span", { class: "faint", id: "whole-note" }, "Files that share no text are not shown", pair.files_left_out > 0 && `, nor ${count(pair.files_left_out, "pair")} of files that share less`, "."),
    h("span", { class: "faint" }, "Click a passage to bring both sides to it; ", h("kbd", {}, "["), " ", h("kbd", {}, "]"), " other pairs, ", h("kbd", {}, "o"), " overview")), bench);
  Object.assign(current, { move, moveDifference, select, halves, passages, together: () => together.click() });

  const mine = current;
  for (const half of halves) if (half.pane) {
    const { pane, band } = half;
    half.scrolled = 0;
    pane.estimate();
    // Blocks out of sight have no true height: a half that was not in sight when its passage was chosen is brought to it again.
    new IntersectionObserver((entries) => {
      half.inSight = entries[entries.length - 1].isIntersecting;
      if (!half.inSight || !half.unsure) return;
      half.unsure = false;
      if (mine === current && current.passage) hold(current.passage, current.difference);
    }).observe(pane.element);
    // The reader's own hand ends the holding of a passage.
    for (const act of ["wheel", "pointerdown", "touchmove", "keydown"]) pane.element.addEventListener(act, () => { held = null; }, { passive: true });
    // A scroll may be told of when the pane has left the page, and has no height.
    const watch = () => { const all = pane.element; if (all.scrollHeight > 0) band.look(all.scrollTop / all.scrollHeight, (all.scrollTop + all.clientHeight) / all.scrollHeight); };
    pane.element.addEventListener("scroll", () => {
      watch();
      follow(half);
      // Blocks come in sight when one scrolls faster than they are made.
      const box = all(pane);
      for (const block of pane.blocks) {
        if (block.made) continue;
        const place = block.element.getBoundingClientRect();
        if (place.top > box.bottom + 500) break;
        if (place.bottom > box.top - 500) pane.make(block);
      }
    }, { passive: true });
    pane.makeSome(12);
    watch();
  }
  // The passage that is kept in its place while blocks around it are made, until the reader scrolls.
  let held = null;
  const later = () => {
    if (mine !== current) return;
    const unfinished = halves.filter((half) => half.pane && half.pane.makeSome(12));
    if (unfinished.length > 0) setTimeout(later, 0);
    else main.dataset.whole = "yes";
  };
  setTimeout(later, 0);
  remember(address + (wanted ? `&passage=${wanted}` : ""));
  // The longest passage tells most of a pair, and the first one may be a heading.
  const longest = () => order.reduce((best, number) => (passages[number - 1].symbols > passages[best - 1].symbols ? number : best), 1);
  if (passages.length > 0) select(Math.min(Math.max(wanted || longest(), 1), passages.length), !wanted);
  else position.textContent = "no passages";

  function move(by) {
    if (passages.length > 0) select(order[(order.indexOf(current.passage) + by + passages.length) % passages.length]);
  }

  // Where a passage begins, as words.
  function begins(number, side) {
    const passage = passages[number - 1];
    const { lines, pages } = passage[sides[side]];
    return `${pages ? `${pageOf([pages[0], pages[0]])}, ` : ""}line ${lines[0]} of ${passage.files ? `${fileOf(passage, side).textContent} of ` : ""}${"AB"[side]}`;
  }

  // Steps through the differences of the current passage.
  function moveDifference(by) {
    if (!current.passage) return;
    const { differences } = edits(current.passage);
    const at = current.difference === undefined ? (by > 0 ? 0 : -1) : current.difference + by;
    current.difference = differences.length > 0 ? (at + differences.length) % differences.length : undefined;
    difference.textContent = differences.length > 0 ? `difference ${current.difference + 1} of ${differences.length} in this passage` : "no differing words in this passage";
    say(difference.textContent);
    if (current.difference !== undefined) hold(current.passage, current.difference);
  }

  function select(number, quietly) {
    current.passage = number;
    current.difference = undefined;
    difference.textContent = "";
    position.textContent = `passage ${number} of ${passages.length}`;
    rows.forEach((row, at) => { if (at + 1 === number) row.setAttribute("aria-current", "true"); else row.removeAttribute("aria-current"); });
    rows[number - 1].scrollIntoView({ block: "nearest" });
    for (const half of halves) {
      half.band.show(number);
      half.unsure = !half.inSight;
    }
    hold(number);
    if (!quietly) {
      say(`Passage ${number} of ${passages.length}, ${count(passages[number - 1].symbols, "symbol")}, ${begins(number, 0)}, ${begins(number, 1)}`);
      remember(`${address}&passage=${number}`);
    }
  }

  // Keeps a passage, or one of its differences, in its place until nothing moves any more. Blocks take their true heights only when
  // they come in sight, and more of them are made all the time.
  function hold(number, at) {
    const wanted = { number, at };
    held = wanted;
    let steady = 0;
    const again = () => {
      if (mine !== current || held !== wanted) return;
      steady = align(number, at) ? 0 : steady + 1;
      if (steady > 3 && main.dataset.whole) held = null; else requestAnimationFrame(again);
    };
    again();
  }

  // Brings the beginnings of a passage, or of one of its differences, to the same height on both sides. Returns whether anything moved.
  function align(number, at) {
    const place = at === undefined ? null : edits(number).differences[at];
    const both = halves.filter((half) => half.pane).map((half) => {
      half.pane.show(number);
      const range = place && place[halves.indexOf(half)];
      half.pane.point(range);
      return { half, pane: half.pane.element, begin: range ? half.pane.spot(range.from) : half.pane.begin(number) };
    });
    const offset = ({ pane, begin }) => begin.getBoundingClientRect().top - pane.getBoundingClientRect().top + pane.scrollTop;
    const height = Math.min(...both.map((one) => Math.min(one.pane.clientHeight * 0.22, offset(one))));
    let moved = false;
    for (const one of both) {
      const target = Math.round(offset(one) - height);
      if (Math.abs(one.pane.scrollTop - target) > 1) {
        const before = one.pane.scrollTop;
        one.pane.scrollTop = target;
        moved = moved || one.pane.scrollTop !== before;
      }
      one.half.scrolled = one.pane.scrollTop;
    }
    return moved;
  }

  // What one side is scrolled by, so is the other.
  function follow(half) {
    const by = half.pane.element.scrollTop - half.scrolled;
    half.scrolled += by;
    if (by === 0 || !view.together || held) return;
    for (const other of halves) if (other !== half && other.pane) {
      other.pane.element.scrollTop += by;
      other.scrolled = other.pane.element.scrollTop;
    }
  }
}

// What the user or its container said of a document, and the time of its file.
function known(document) {
  const facts = Object.entries(document.metadata || {});
  if (changed(document)) facts.push(["file changed", changed(document)]);
  return facts.length > 0 && h("dl", { class: "known", tabindex: 0, "aria-label": "metadata" },
    facts.map(([name, value]) => h("div", {}, h("dt", {}, inLine(name)), h("dd", {}, h("bdi", { dir: "auto" }, inLine(value))))));
}

const all = (pane) => pane.element.getBoundingClientRect();
