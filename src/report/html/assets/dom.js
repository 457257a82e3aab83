// Elements and words. All text enters the page as text nodes and attributes: there is no markup made of strings here.
"use strict";

const SVG = "http://www.w3.org/2000/svg";

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(9).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

const h = (tag, properties, ...children) => fill(document.createElement(tag), properties, children);
const s = (tag, properties, ...children) => fill(document.createElementNS(SVG, tag), properties, children);

// Characters that are seen by nobody or that turn the text around them: shown as what they are. U+200C and U+200D are not among
// them: they are part of words of some languages, and of emoji. The program has the same characters in escape.rs.
const UNSEEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;
const NAMES = { 0xad: "SHY", 0x61c: "ALM", 0x180e: "MVS", 0x200b: "ZWSP", 0x200e: "LRM", 0x200f: "RLM", 0x2060: "WJ", 0x202a: "LRE", 0x202b: "RLE", 0x202c: "PDF", 0x202d: "LRO", 0x202e: "RLO", 0x2066: "LRI", 0x2067: "RLI",
  0x2068: "FSI", 0x2069: "PDI", 0xfeff: "BOM", 0x2028: "LS", 0x2029: "PS" };
const seen = (text) => text.replace(UNSEEN, (character) => {
  const code = character.codePointAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return "\u2421";
  return "\u27ea" + (NAMES[code] || code.toString(16).toUpperCase().padStart(4, "0")) + "\u27eb";
});

// A document's name, which may be in any script and hold anything; in a line, without what all names begin with.
const inLine = (text) => seen(text.replace(/[\t\n\r]/g, (c) => String.fromCharCode(0x2400 + c.charCodeAt(0))));
const short = (text) => inLine(text.startsWith(beginning) ? text.slice(beginning.length) : text);
// A time in seconds since 1970, if there is one. No calendar has some times that files have.
const moment = (seconds) => Number.isNaN(new Date(1000 * seconds).getTime()) ? ""
  : new Date(1000 * seconds).toISOString().replace(".000Z", "Z");
// When the file of a document was changed, if the report shows it.
const changed = ({ modified }) => moment(modified);
const name = (text) => h("bdi", { dir: "auto", title: inLine(text) }, short(text));

// Of last year, say: not compared with other old ones.
const oldNote = (document) => (document.old ? " (old)" : "");

const grouped = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, "\u202f");
const count = (number, what) => `${grouped(number)} ${what}${number === 1 ? "" : "s"}`;
// A share that is there is never none, and one that lacks something is never all.
const percent = (share) => (share > 0 && share < 0.0005 ? "<0.1%" : share < 1 && share >= 0.9995 ? "99.9%" : `${(100 * share).toFixed(1)}%`);
const size = (bytes) => {
  for (const unit of ["bytes", "KiB", "MiB", "GiB"]) {
    if (bytes < 1024 || unit === "GiB") return `${unit === "bytes" ? bytes : bytes.toFixed(1)} ${unit}`;
    bytes /= 1024;
  }
};

// A share as a bar and a number.
const meter = (share, digits = true, estimated = false) => {
  const bar = h("i");
  bar.style.width = `${Math.max(0, Math.min(1, share)) * 100}%`;
  return [h("span", { class: "meter", "aria-hidden": "true" }, bar), digits && (estimated ? "~" : "") + percent(share)];
};

const say = (text) => { document.getElementById("status").textContent = text; };
