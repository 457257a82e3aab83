// Compare: a text, a file or a stored document is asked about; the answer is a report.
import { ask } from "./ask.js";
import { count, goTo, h, say } from "./dom.js";

// The text, and the question about a text or file that was asked last: it is asked again when the reader comes back
// from the documents, which may have changed.
const last = { text: "", question: null };
// Counts questions, and views of this page: an answer to an earlier question, or for an earlier view, is dropped.
let questions = 0;

export function comparePage(main, address, session) {
  questions += 1;
  const most = { top: Math.min(100, session.max_results) };
  const stored = address.get("document");
  const text = h("textarea", { id: "text", "aria-label": "text", placeholder: "Paste a text, or drop a file here", value: last.text, oninput: () => { last.text = text.value; } });
  const file = h("input", { id: "file", type: "file", "aria-label": "file", onchange: () => file.files[0] && aboutFile(file.files[0]) });
  const name = h("input", { id: "stored", type: "text", list: "names", "aria-label": "stored document", placeholder: "Name of a stored document", value: stored || "", autocomplete: "off", oninput: () => suggest(name.value, names) });
  const names = h("datalist", { id: "names" });
  const results = h("div", { id: "results" });
  const asking = h("details", { id: "asking", open: true });
  const form = h("form", { class: "ask", onsubmit: (event) => { event.preventDefault(); if (text.value.trim()) aboutText(); else say("Paste a text first.", true); } },
    text,
    h("div", { class: "row-of-tools" }, h("button", { type: "submit", id: "ask" }, "Find shared text"), file),
    h("div", { class: "row-of-tools" }, name, names, h("button", { type: "button", id: "ask-stored", onclick: () => { if (name.value) goTo("compare", { document: name.value }); } }, "Compare stored document")));
  form.addEventListener("dragover", (event) => { event.preventDefault(); form.classList.add("dropping"); });
  form.addEventListener("dragleave", () => form.classList.remove("dropping"));
  form.addEventListener("drop", (event) => {
    event.preventDefault();
    form.classList.remove("dropping");
    if (event.dataTransfer.files[0]) aboutFile(event.dataTransfer.files[0]);
    else { text.value = event.dataTransfer.getData("text"); last.text = text.value; }
  });
  name.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    document.getElementById("ask-stored").click();
  });
  asking.append(h("summary", {}, "What to compare"), form);
  main.replaceChildren(asking, results);

  const about = async (question, place) => {
    const number = (questions += 1);
    results.replaceChildren();
    say("Looking for shared text\u2026");
    try {
      const report = await question();
      if (number !== questions) return;
      const pairs = report.overview.pairs.length;
      say(pairs ? `${count(pairs, "document")} share${pairs === 1 ? "s" : ""} text.` : "No stored document shares text with it.");
      if (pairs) show(report, place);
    } catch (error) {
      if (number === questions) say(error.message, true);
    }
  };
  const options = { options: JSON.stringify(most) };
  const aboutNew = (question) => {
    last.question = question;
    // A text has no address.
    history.replaceState(null, "", "#compare");
    about(question, "");
  };
  const aboutText = () => {
    const body = { text: text.value, name: "pasted text", options: most };
    aboutNew(() => ask("POST", "v1/report", { body }));
  };
  const aboutFile = (chosen) => aboutNew(() => ask("POST", "v1/report", { body: chosen, type: "application/octet-stream", query: { name: chosen.name, ...options } }));

  // The place in the report stands in the address of this page, too: pairs can be bookmarked where the query is a stored document.
  const show = (report, place) => {
    window.fpdbReport = report;
    const frame = h("iframe", { class: "results", title: "documents that share text", src: `page/report.html${place && `#${place}`}` });
    frame.addEventListener("load", () => {
      frame.contentWindow.addEventListener("hashchange", () => {
        const chosen = new URLSearchParams(location.hash.slice(1).split("?")[1]);
        const inside = frame.contentWindow.location.hash.slice(1);
        if (inside) chosen.set("view", inside); else chosen.delete("view");
        history.replaceState(null, "", `#compare?${chosen}`);
      });
    });
    results.replaceChildren(frame);
    // Room for the results; what was asked is a click away.
    asking.open = false;
  };
  const place = address.get("view") || "";
  const id = address.get("id");
  const body = { ...(id ? { id: Number(id) } : { document: stored }), options: most };
  if (stored) about(() => ask("POST", "v1/report", { body }), place);
  else if (last.question) about(last.question, place);
  else say("");
}

// Names that begin as what was typed, for the list below the field.
async function suggest(prefix, list) {
  try {
    const { documents } = await ask("GET", "v1/documents", { query: { prefix, limit: 20 } });
    list.replaceChildren(...documents.map((document) => h("option", { value: document.name })));
  } catch { /* A list that is missing is no error. */ }
}

