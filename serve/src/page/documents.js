// Documents: browse, search, show, add and remove them.
import { ask, documentPath } from "./ask.js";
import { count, goTo, grouped, h, say, size } from "./dom.js";

const linkTo = (view, values) => `#${view}?${new URLSearchParams(values)}`;

export function documentsPage(main, address, session) {
  const name = address.get("name");
  return name ? onePage(main, name, address.get("id") || undefined, session) : listPage(main, address, session);
}

function listPage(main, address, session) {
  const search = h("input", { id: "search", type: "search", "aria-label": "part of a name", placeholder: "Part of a name", value: address.get("contains") || "" });
  const body = h("tbody");
  const more = h("button", { type: "button", hidden: true, onclick: () => load() }, "More");
  let next = 0;
  const load = async () => {
    try {
      const page = await ask("GET", "v1/documents", { query: { contains: search.value, from: next, limit: 100 } });
      body.append(...page.documents.map((document) => row(document, session)));
      next = page.next;
      more.hidden = next === undefined;
      say(`${count(body.children.length, "document")}${more.hidden ? "" : ", and there may be more"}.`);
    } catch (error) {
      say(error.message, true);
    }
  };
  const again = () => {
    body.replaceChildren();
    next = 0;
    return load();
  };
  main.replaceChildren(h("section", { class: "stored", "aria-label": "documents" },
    h("form", { class: "row-of-tools", role: "search", onsubmit: (event) => { event.preventDefault(); goTo("documents", { contains: search.value }); } },
      search, h("button", { type: "submit" }, "Search")),
    session.rights !== "read" && addForm(session, again),
    h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "name"), h("th", { scope: "col", class: "number" }, "size"),
      h("th", { scope: "col", class: "wide-only" }, "format"), h("th", { scope: "col", class: "wide-only" }, "added"), h("th", { scope: "col" }, h("span", { class: "hidden" }, "actions")))), body),
    h("div", { class: "row-of-tools" }, more)));
  load();
}

// A name may have several versions, so each row is about the one with its number.
function row(document, session) {
  const { name, id } = document;
  const line = h("tr", {},
    h("td", { class: "name" }, h("a", { href: linkTo("documents", { name, id }) }, h("bdi", { dir: "auto" }, name))),
    h("td", { class: "number" }, size(document.bytes)),
    h("td", { class: "wide-only" }, document.format, document.boilerplate && " (boilerplate)"),
    h("td", { class: "wide-only" }, new Date(1000 * document.ingested_at).toLocaleDateString()),
    h("td", {}, h("a", { href: linkTo("compare", { document: name, id }) }, "Compare"), " ",
      session.rights !== "read" && removeButton(document, () => line.remove())));
  return line;
}

// Asks once more before a document is removed, in the place of the button.
function removeButton({ name, id }, done) {
  let asked = false;
  const button = h("button", { type: "button", "aria-label": `remove ${name}`, onclick: async () => {
    if (!asked) {
      asked = true;
      button.textContent = "Really remove?";
      return;
    }
    try {
      const { removed } = await ask("DELETE", documentPath(name), { query: { id } });
      say(`${count(removed, "document")} removed.`);
      done();
    } catch (error) {
      say(error.message, true);
    }
  }, onblur: () => { asked = false; button.textContent = "Remove"; } }, "Remove");
  return button;
}

// Files, each stored under its name; with a prefix, as in a folder.
function addForm(session, again) {
  const files = h("input", { id: "add", type: "file", multiple: true, "aria-label": "files to add" });
  const prefix = h("input", { id: "prefix", type: "text", "aria-label": "beginning of their names", placeholder: "Beginning of their names, such as essays/" });
  return h("form", { class: "row-of-tools", onsubmit: async (event) => {
    event.preventDefault();
    const problems = [];
    let added = 0;
    for (const file of files.files) {
      say(`Adding ${file.name}\u2026`);
      try {
        if (file.size > session.max_body) throw new Error(`larger than ${size(session.max_body)}`);
        const { warnings = [] } = await ask("PUT", documentPath(prefix.value + file.name), { body: file, type: "application/octet-stream" });
        added += 1;
        problems.push(...warnings.map((warning) => `${file.name}: ${warning}.`));
      } catch (error) {
        problems.push(`${file.name}: ${error.message}`);
      }
    }
    await again();
    say([`${count(added, "document")} stored.`, ...problems].join(" "), problems.length > 0);
  } }, files, prefix, h("button", { type: "submit" }, "Add"));
}

async function onePage(main, name, id, session) {
  const back = h("p", {}, h("a", { href: "#documents" }, "All documents"));
  try {
    const document = await ask("GET", documentPath(name), { query: { text: true, identical: true, id } });
    const facts = [["size", size(document.bytes)], ["symbols", grouped(document.symbols)], ["fingerprints", grouped(document.fingerprints)],
      ["format", document.format], ["encoding", document.encoding], ["added", new Date(1000 * document.ingested_at).toLocaleString()],
      ["same bytes as", (document.identical_to || []).join(", ")], ...Object.entries(document.metadata)];
    main.replaceChildren(h("section", { class: "stored", "aria-labelledby": "name" }, back,
      h("h2", { id: "name" }, h("bdi", { dir: "auto" }, document.name)),
      h("div", { class: "row-of-tools" }, h("a", { href: linkTo("compare", { document: name, id: document.id }) }, "Compare"),
        session.rights !== "read" && removeButton(document, () => goTo("documents"))),
      h("dl", { class: "about" }, facts.filter(([, value]) => value).flatMap(([key, value]) => [h("dt", {}, key), h("dd", {}, value)])),
      document.text === null ? h("p", { class: "faint" }, "Its text is not stored, and cannot be read again.") : h("pre", { dir: "auto", tabindex: 0, "aria-label": "text" }, document.text),
      document.text_base64 && h("p", { class: "faint" }, "Its bytes are not UTF-8: some of them are shown as \ufffd.")));
    say("");
  } catch (error) {
    main.replaceChildren(h("section", { class: "stored" }, back));
    say(error.message, true);
  }
}
