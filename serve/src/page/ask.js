// Ask: requests to the service. The key is kept for this tab alone.

const STORE = "fpdb-key";

export const key = {
  get: () => sessionStorage.getItem(STORE) || "",
  set: (value) => (value ? sessionStorage.setItem(STORE, value) : sessionStorage.removeItem(STORE)),
};

// A problem as the service tells it (RFC 9457).
export class Refused extends Error {
  constructor(problem, status) {
    super([problem.title || `the service answered ${status}`, problem.detail, problem.hint].filter(Boolean).join(": "));
    this.status = status;
  }
}

// A request; its answer is parsed. `body` is JSON unless it is a file or a text with a media type.
export async function ask(method, path, { body, type, query } = {}) {
  const headers = {};
  if (key.get()) headers.Authorization = `Bearer ${key.get()}`;
  if (body !== undefined) {
    headers["Content-Type"] = type || "application/json";
    if (!type) body = JSON.stringify(body);
  }
  const given = Object.entries(query || {}).filter(([, value]) => value !== undefined && value !== "");
  const address = given.length ? `${path}?${new URLSearchParams(given)}` : path;
  let response;
  try {
    response = await fetch(address, { method, headers, body });
  } catch {
    throw new Refused({ title: "the service does not answer" }, 0);
  }
  if (response.ok) return response.status === 204 ? null : response.json();
  throw new Refused(await response.json().catch(() => ({})), response.status);
}

// The path of a document. Slashes are encoded, so that no part of a name is taken for a step up.
export const documentPath = (name) => `v1/documents/${encodeURIComponent(name)}`;
