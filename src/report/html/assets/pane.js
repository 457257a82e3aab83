// Pane: one document's text with its passages marked. Offsets are UTF-16 units of the text. Lines stand in blocks that are made
// when they are wanted or when there is time; the browser lays out only blocks in sight, so that a long text costs little.
"use strict";

const LINES_OF_BLOCK = 80;
const UNITS_OF_BLOCK = 16000;
const UNITS_OF_ROW = 4000;
// More of a text than this is made only where it is looked at.
const UNITS_MADE_AHEAD = 4e6;

class Pane {
  // spans: {from, to, number} in order of number, which is that of the passage; common: {from, to} of what counts for nothing;
  // lost: whether what is in no passage is marked; tokens: {from, to, kind} of a program; differs: gives for a passage the ranges of its words that the other side lacks;
  // prose: whether it is set as a book is; unlike: {from, to, text} of what is not read as it stands there; heads: where lines stand that name a file and begin the count of lines anew.
  constructor(label, text, { spans, common, lost, tokens, differs, prose, unlike, heads }, choose) {
    this.text = text;
    this.spans = spans;
    this.common = common;
    this.lost = lost;
    this.tokens = tokens;
    // White space in a passage looks like the passage.
    this.markup = unlike.filter((range) => range.text === "" && /\S/.test(text.slice(range.from, range.to)));
    this.differs = differs;
    this.rows = rowsOf(text, heads);
    this.prose = prose;
    // The marks of the current passage.
    this.shown = [];
    this.element = h("div", { class: this.prose ? "pane prose" : "pane", tabindex: 0, role: "region", "aria-label": label, onclick: (event) => this.clicked(event, choose) });
    this.blocks = [];
    for (let first = 0; first < this.rows.length;) {
      let last = first;
      let units = 0;
      while (last < this.rows.length && last - first < LINES_OF_BLOCK && units < UNITS_OF_BLOCK) {
        const length = this.rows[last].to - this.rows[last].from;
        units += length;
        last += 1;
      }
      this.blocks.push({ element: h("div", { class: "block" }), first, last, from: this.rows[first].from, to: this.rows[last - 1].to, made: false });
      first = last;
    }
    this.element.append(...this.blocks.map((block) => block.element));
  }

  // Gives blocks the heights that they are to have, as far as the width of the pane tells. They are kept when a block is made: its
  // height changes only when it comes in sight.
  estimate() {
    const [letter, high] = this.prose ? [7.2, 23.25] : [7.85, 19.5];
    const wide = Math.max(10, Math.floor((this.element.clientWidth - 75) / letter));
    for (const block of this.blocks) {
      let tall = 0;
      for (let at = block.first; at < block.last; at += 1) tall += Math.max(1, Math.ceil((this.rows[at].to - this.rows[at].from) / wide));
      block.element.style.containIntrinsicSize = `auto ${Math.round(tall * high)}px`;
    }
  }

  make(block) {
    if (block.made) return;
    block.made = true;
    const inside = (spans) => spans.filter((span) => span.from < block.to && span.to > block.from);
    const [spans, common] = [inside(this.spans), inside(this.common)];
    for (let at = block.first; at < block.last; at += 1) block.element.append(this.row(this.rows[at], spans, common));
    this.highlight(block);
  }

  row(row, spans, common) {
    const line = h("div", { class: row.head ? "row head" : "row", "data-n": row.line || "", dir: "auto" });
    const here = (all) => all.filter((span) => span.from < row.to && span.to > row.from);
    const [marked, grey] = [here(spans), here(common)];
    const inRow = (ranges) => ranges.slice(firstAfter(ranges, row.from), firstAfter(ranges, row.to) + 1).filter((range) => range.from < row.to);
    const [tokens, markup] = [inRow(this.tokens), inRow(this.markup)];
    const edits = marked.flatMap((span) => this.differs(span.number)).filter((edit) => edit.from < row.to && edit.to > row.from);
    const cuts = new Set([row.from, row.to]);
    for (const span of [...marked, ...grey, ...tokens, ...markup, ...edits]) for (const cut of [span.from, span.to]) if (cut > row.from && cut < row.to) cuts.add(cut);
    const places = [...cuts].sort((a, b) => a - b);
    for (let at = 0; at + 1 < places.length; at += 1) {
      const [from, to] = [places[at], places[at + 1]];
      const overlaps = (span) => span.from < to && span.to > from;
      const token = tokens.find(overlaps);
      const edited = edits.some(overlaps);
      let words = seen(this.text.slice(from, to));
      if (markup.some(overlaps)) {
        line.append(h("span", { class: "markup" }, words));
        continue;
      }
      if (token) words = h("span", { class: token.kind }, words);
      if (edited) words = h("b", { class: "differs", "data-from": from, title: "not at this place on the other side" }, words);
      // The shortest passage is on top, so that one inside another can be reached.
      const active = marked.filter(overlaps).sort((a, b) => a.to - a.from - (b.to - b.from) || a.number - b.number);
      for (const span of active) if (span.from === from) line.append(chip(span.number));
      if (active.length > 0) {
        line.append(h("mark", { class: `${look(active[0].number)}${active.length > 1 ? " many" : ""}`, "data-p": active.map((span) => span.number).join(" "),
          title: active.length > 1 ? `passages ${active.map((span) => span.number).join(", ")}` : `passage ${active[0].number}` }, words));
      } else if (grey.some(overlaps)) {
        line.append(h("mark", { class: "common", title: "held by many documents, boilerplate, quoted or a phrase to be ignored: not counted" }, words));
      } else if (this.lost && /\S/.test(this.text.slice(from, to))) {
        line.append(h("mark", { class: "lost", title: "in no passage: lost if this document is removed" }, words));
      } else line.append(words);
    }
    return line;
  }

  clicked(event, choose) {
    const mark = event.target.closest("mark[data-p], .chip");
    if (!mark || String(getSelection())) return;
    choose(mark.dataset.p ? mark.dataset.p.split(" ").map(Number) : [Number(mark.dataset.n)]);
  }

  // The place where a passage begins, made if it is not there yet, or null where it has none.
  begin(number) {
    const span = this.spans[number - 1];
    if (!span) return null;
    const at = this.blocks.findIndex((block) => span.from < block.to || block === this.blocks[this.blocks.length - 1]);
    for (const near of [at, at - 1, at + 1, at + 2]) if (this.blocks[near]) this.make(this.blocks[near]);
    for (const near of [at, at - 1, at + 1, at + 2]) {
      const chip = this.blocks[near] && this.blocks[near].element.querySelector(`.chip[data-n="${number}"]`);
      if (chip) return chip;
    }
    return this.blocks[at].element;
  }

  // The place of an offset in the text, made if it is not there yet: a part of the page that knows where it stands.
  spot(offset) {
    const at = this.blocks.findIndex((block) => offset < block.to || block === this.blocks[this.blocks.length - 1]);
    for (const near of [at, at - 1, at + 1, at + 2]) if (this.blocks[near]) this.make(this.blocks[near]);
    const { element, first, last } = this.blocks[at];
    let row = first;
    while (row + 1 < last && this.rows[row + 1].from <= offset) row += 1;
    const line = element.children[row - first];
    const place = document.createRange();
    place.selectNodeContents(line);
    // Characters that are shown by their names make the row longer than the text: then the place is a little above.
    let left = offset - this.rows[row].from;
    const words = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
    for (let node = words.nextNode(); node; node = words.nextNode()) {
      if (left < node.length) {
        place.setStart(node, left);
        place.setEnd(node, left + 1);
        break;
      }
      left -= node.length;
    }
    return place.getClientRects().length > 0 ? place : line;
  }

  // Marks the differing words of a range, or none, as those that one has stepped to.
  point(range) {
    for (const words of this.element.querySelectorAll(".differs")) {
      const from = Number(words.dataset.from);
      words.classList.toggle("current", range !== null && range !== undefined && from >= range.from && from < range.to);
    }
  }

  show(number) {
    if (this.current === number) return;
    for (const old of this.shown) old.classList.remove("current");
    this.shown = [];
    this.current = number;
    for (const block of this.blocks) this.highlight(block);
  }

  // Shows what a block has of the current passage.
  highlight(block) {
    const span = this.current && this.spans[this.current - 1];
    if (!block.made || !span || span.from >= block.to || span.to <= block.from) return;
    for (const mark of block.element.querySelectorAll(`mark[data-p~="${this.current}"], .chip[data-n="${this.current}"]`)) {
      mark.classList.add("current");
      this.shown.push(mark);
    }
  }

  // Makes blocks until the time is used up; says whether there are more to make. With all the time there is it makes all, otherwise
  // only the beginning of a very long text.
  makeSome(milliseconds) {
    const until = performance.now() + milliseconds;
    for (const block of this.blocks) {
      if (block.from > UNITS_MADE_AHEAD && milliseconds !== Infinity) return false;
      if (block.made) continue;
      this.make(block);
      if (performance.now() > until) return true;
    }
    return false;
  }
}

// Lines as {from, to, line}; a very long one is several rows, of which the first has the number. So is one that holds carriage returns
// without a newline, which ended lines on old systems: the numbers count newlines, as those of the answers do. A head has no number.
function rowsOf(text, heads) {
  const rows = [];
  const starts = new Set(heads);
  let line = 1;
  for (let from = 0; from <= text.length; line += 1) {
    const head = starts.has(from);
    if (head) line = 0;
    let end = text.indexOf("\n", from);
    if (end < 0) end = text.length;
    if (from === text.length && rows.length > 0) break;
    let start = from;
    do {
      let stop = Math.min(end, start + UNITS_OF_ROW);
      const turn = text.slice(start, stop).indexOf("\r");
      if (turn >= 0 && start + turn + 1 < end) stop = start + turn + 1;
      // A pair of surrogates is not cut.
      if (stop < end && (text.charCodeAt(stop) & 0xfc00) === 0xdc00) stop -= 1;
      rows.push({ from: start, to: stop, line: start === from ? line : 0, head });
      start = stop;
    } while (start < end);
    from = end + 1;
  }
  return rows;
}

function averageLine(text) {
  const sample = text.slice(0, 20000);
  return sample.length / sample.split(/\r\n?|\n/).length;
}

// Seven colours times four underlines; the number tells all passages apart.
const look = (number) => `c${(number - 1) % 7} u${Math.floor((number - 1) / 7) % 4}`;
const chip = (number) => h("button", { class: `chip ${look(number)}`, type: "button", tabindex: -1, "data-n": number, "aria-label": `passage ${number}` });

// Where the passages are in the whole document, as a strip beside it. length: that of the document, in the unit of the spans.
function strip(length, spans, common, choose) {
  const HIGH = 1000;
  const scale = HIGH / Math.max(1, length);
  const box = (span, properties) => s("rect", { x: 2, width: 14, y: (span.from * scale).toFixed(1), height: Math.max(3, (span.to - span.from) * scale).toFixed(1), ...properties });
  const window_ = s("rect", { class: "view", x: 0, width: 18, y: 0, height: 0 });
  const picture = s("svg", { viewBox: `0 0 18 ${HIGH}`, preserveAspectRatio: "none", "aria-hidden": "true" },
    common.map((span) => box(span, { class: "common" })),
    spans.map((span) => box(span, { class: `p ${look(span.number)}`, "data-n": span.number })), window_);
  const element = h("div", { class: "strip", title: "where the passages are in the whole document", onclick: (event) => {
    const place = ((event.clientY - element.getBoundingClientRect().top) / element.clientHeight) * length;
    const near = (span) => Math.max(span.from - place, place - span.to, 0);
    const nearest = spans.reduce((best, span) => (best && near(best) <= near(span) ? best : span), null);
    if (nearest) choose([nearest.number]);
  } }, picture);
  return { element,
    show(number) { for (const rect of picture.querySelectorAll(".p")) rect.classList.toggle("current", Number(rect.dataset.n) === number); },
    look(from, to) {
      window_.setAttribute("y", (from * HIGH).toFixed(1));
      window_.setAttribute("height", Math.max(2, (to - from) * HIGH).toFixed(1));
    } };
}
