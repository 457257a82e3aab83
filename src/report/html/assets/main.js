// Which page is shown, from the address; the head of all pages; keys; printing.
"use strict";

const CAUTION = [
  "Similarity is not proof. Two texts may quote a third, follow one template, use one library, or tell of the same thing in the words it is usually told in. What a share means is for a person to judge who reads the passages.",
  "Share of A in B: how much of A's fingerprints B holds too. A short text copied whole into a long one has a large share of itself in the other, and the long one a small share: look at both.",
  "Resemblance: what both hold, of all that either holds. It is low where the lengths differ, whatever was copied.",
  "A passage is a pair of places that match. Its two sides are the same, but for layout and capitals, where the table says so; a percentage is the share of it that is equal, the rest being small edits; where it says \u201cabout\u201d, the ends are inferred from fingerprints and may fall short of what is shared.",
  "Nothing shorter than the noise threshold is found, nor is a translation or a thorough paraphrase: a low share proves nothing either.",
];

function top_(title, subtitle, back) {
  document.getElementById("top").replaceChildren(
    h("div", { class: "headline" }, h("h1", { tabindex: -1 }, title, subtitle && h("span", { class: "faint" }, " ", subtitle)), back || ""),
    h("details", { class: "caution" }, h("summary", {}, "Similarity is not proof: how to read this report"), h("div", {}, h("ul", {}, CAUTION.map((words) => h("li", {}, words))))));
}

function route(event) {
  const address = new URLSearchParams(location.hash.slice(1));
  const [pair, passage] = ["pair", "passage"].map((key) => Math.floor(Number(address.get(key))) || 0);
  relist = null;
  recall(location.hash.slice(1));
  if (report.pairs[pair - 1]) pairPage(pair, passage, address.get("files") === "whole");
  else {
    current = null;
    overview();
  }
  // A page that was turned to is read from its heading.
  if (event) document.querySelector("h1").focus();
}

addEventListener("hashchange", route);
// The address is that of a page of the report, and stays.
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  document.getElementById("main").focus();
});
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
  if (!current) return;
  const acts = { n: () => current.move && current.move(1), p: () => current.move && current.move(-1), d: () => current.moveDifference && current.moveDifference(1), D: () => current.moveDifference && current.moveDifference(-1), "[": () => turn(-1), "]": () => turn(1), s: () => current.together && current.together(), o: () => { location.hash = ""; } };
  const act = acts[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});
// On paper everything is in sight.
addEventListener("beforeprint", () => {
  if (relist) {
    view.unprinted = view.shown;
    view.shown = Infinity;
    relist();
  }
  for (const half of (current && current.halves) || []) if (half.pane) half.pane.makeSome(Infinity);
  for (const details of document.querySelectorAll("details")) details.open = true;
});

addEventListener("afterprint", () => {
  if (!relist || !view.unprinted) return;
  view.shown = view.unprinted;
  relist();
});

view.threshold = firstThreshold();
if (!location.hash && report.command === "diff" && report.pairs.length === 1) location.replace("#pair=1");
route();
