// Which view is shown, from the address; who asks.
import { ask, key } from "./ask.js";
import { comparePage } from "./compare.js";
import { documentsPage } from "./documents.js";
import { say } from "./dom.js";

const VIEWS = { compare: comparePage, documents: documentsPage };
let session = null;

function route(event) {
  const [view, query] = location.hash.slice(1).split("?");
  const known = Object.hasOwn(VIEWS, view) ? view : "compare";
  for (const link of document.querySelectorAll("#bar nav a")) {
    if (link.hash === `#${known}`) link.setAttribute("aria-current", "page"); else link.removeAttribute("aria-current");
  }
  const main = document.getElementById("main");
  if (!session) return main.replaceChildren();
  VIEWS[known](main, new URLSearchParams(query), session);
  if (event) main.focus();
}

// What the key allows. Without a key that the service knows, it is asked for.
async function enter() {
  const form = document.getElementById("key");
  const field = document.getElementById("key-text");
  const who = document.getElementById("who");
  try {
    session = await ask("GET", "v1/session");
    field.value = "";
    form.hidden = !session.keys;
    who.textContent = session.keys ? `${session.name}: may ${session.rights}` : "";
    say("");
  } catch (error) {
    session = null;
    who.textContent = "";
    form.hidden = error.status !== 401;
    const asked = key.get() ? "The service does not know this key. Check it, or enter another one." : "Enter a key of this service.";
    say(error.status === 401 ? asked : error.message, error.status !== 401 || key.get() !== "");
    // A wrong key stays, to be corrected; typing replaces it.
    if (!form.hidden) field.select();
  }
  route();
}

document.getElementById("key").addEventListener("submit", (event) => {
  event.preventDefault();
  key.set(document.getElementById("key-text").value.trim());
  enter();
});
// A link to a part of this page; the address stays that of the view.
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  document.getElementById("main").focus();
});
addEventListener("hashchange", route);
enter();
