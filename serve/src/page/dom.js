// Elements from values: never markup from strings.

export function h(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "value") element.value = value;
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

// Goes to a view; to the one that is shown as well, which is then drawn anew.
export function goTo(view, values = {}) {
  const query = new URLSearchParams(values).toString();
  const hash = `#${view}${query && `?${query}`}`;
  if (location.hash === hash) dispatchEvent(new Event("hashchange")); else location.hash = hash;
}

const status = () => document.getElementById("status");

// Says what happens; a failure stands out.
export function say(text, failed = false) {
  status().textContent = text;
  status().className = failed ? "failed" : "";
}

export const grouped = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, "\u202f");

export const count = (number, what) => `${grouped(number)} ${what}${number === 1 ? "" : "s"}`;

export const size = (bytes) => (bytes < 1024 ? `${bytes} B` : bytes < 1 << 20 ? `${(bytes / 1024).toFixed(1)} KiB` : `${(bytes / (1 << 20)).toFixed(1)} MiB`);
