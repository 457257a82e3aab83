// Clusters: documents joined by pairs at or above the threshold, as a list and as a graph. A cluster says only that each of its
// documents is like some other one of it.
"use strict";

const NODES_DRAWN = 300;
// Pixels.
const NAME_SIZE = 12;

function clusters(pairs) {
  const parent = new Map();
  const root = (document) => {
    while (parent.get(document) !== document) {
      parent.set(document, parent.get(parent.get(document)));
      document = parent.get(document);
    }
    return document;
  };
  for (const pair of pairs.filter((pair) => !pair.own)) {
    const ends = [drawnAs(pair.a), drawnAs(pair.b)];
    for (const document of ends) if (!parent.has(document)) parent.set(document, document);
    const [a, b] = ends.map(root);
    if (a !== b) parent.set(Math.max(a, b), Math.min(a, b));
  }
  const members = new Map();
  for (const document of [...parent.keys()].sort((a, b) => a - b)) {
    if (!members.has(root(document))) members.set(root(document), []);
    members.get(root(document)).push(document);
  }
  return [...members.values()].sort((a, b) => b.length - a.length || a[0] - b[0]);
}

// What documents are called in little room: the last part of their names, or where several share that, the part before it.
function labelled(documents, called) {
  const labels = new Map(documents.map((document) => [document, called(document).split("/").pop()]));
  const uses = new Map();
  // A folder tells no documents of one name apart.
  for (const document of new Map(documents.map((document) => [called(document), document])).values()) {
    uses.set(labels.get(document), (uses.get(labels.get(document)) || 0) + 1);
  }
  for (const document of documents) {
    const parts = called(document).split("/");
    if (uses.get(labels.get(document)) > 1 && parts.length > 1) labels.set(document, parts[parts.length - 2]);
  }
  return labels;
}

// The largest clusters that fit, laid out by forces: always the same way, for d3-force draws no true lots.
function graph(groups, pairs, open, choose) {
  const nodes = [];
  const index = new Map();
  let drawn = 0;
  for (const group of groups) {
    if (drawn > 0 && nodes.length + group.length > NODES_DRAWN) break;
    for (const document of group.slice(0, NODES_DRAWN)) {
      index.set(document, nodes.length);
      nodes.push({ document, group: drawn });
    }
    drawn += 1;
  }
  const nodeOf = (document) => index.get(drawnAs(document));
  const inside = pairs.filter((pair) => !pair.own && nodeOf(pair.a) !== undefined && nodeOf(pair.b) !== undefined);
  const links = inside.slice(0, 4 * NODES_DRAWN).map((pair) => ({ source: nodeOf(pair.a), target: nodeOf(pair.b), pair }));
  d3.forceSimulation(nodes).stop()
    .force("charge", d3.forceManyBody().strength(-90))
    .force("link", d3.forceLink(links).distance((link) => 30 + 60 * (1 - score(link.pair))))
    .force("collide", d3.forceCollide(14))
    .force("x", d3.forceX().strength(0.07)).force("y", d3.forceY().strength(0.13))
    .tick(nodes.length > 150 ? 120 : 250);
  const xs = nodes.map((node) => node.x);
  const ys = nodes.map((node) => node.y);
  const box = [Math.min(...xs) - 30, Math.min(...ys) - 30];
  box.push(Math.max(...xs) + 30 - box[0], Math.max(...ys) + 30 - box[1]);
  const wide = Math.max(box[2], 360);
  const high = Math.max(box[3], 180);
  const [left, top] = [box[0] - (wide - box[2]) / 2, box[1] - (high - box[3]) / 2];
  const called = (document) => short(report.documents[document].name);
  const labels = labelled(nodes.map((node) => node.document), called);
  const picture = s("svg", { viewBox: [left, top, wide, high].map((x) => x.toFixed(1)).join(" "),
    role: "img", "aria-label": `${count(nodes.length, "document")} in ${count(drawn, "cluster")}; the list below names them` });
  for (const link of links) {
    picture.append(s("line", { x1: link.source.x.toFixed(1), y1: link.source.y.toFixed(1), x2: link.target.x.toFixed(1), y2: link.target.y.toFixed(1),
      "stroke-width": (1 + 3 * score(link.pair)).toFixed(1), "stroke-opacity": (0.25 + 0.7 * score(link.pair)).toFixed(2), onclick: () => open(link.pair) },
    s("title", {}, `${percent(score(link.pair))}: ${called(link.pair.a)} and ${called(link.pair.b)}`)));
  }
  for (const node of nodes) {
    const document = report.documents[node.document];
    picture.append(s("circle", { cx: node.x.toFixed(1), cy: node.y.toFixed(1), r: 7, class: `c${node.group % 7} ${document.role}`, onclick: () => choose([node.document]) },
      s("title", {}, called(node.document))));
  }
  // Names where there is room for them, those of the documents with most pairs first; the others show theirs when pointed at.
  const degree = new Map();
  for (const link of links) for (const end of [link.source, link.target]) degree.set(end, (degree.get(end) || 0) + 1);
  const first = [...nodes].sort((a, b) => (degree.get(b) || 0) - (degree.get(a) || 0));
  const names = s("g");
  picture.append(names);
  // The picture is drawn larger or smaller than its own units, and names always in the same size.
  const write = ({ width, height }) => {
    if (width === 0 || height === 0) return;
    const scale = Math.max(wide / width, high / height);
    const size = NAME_SIZE * scale;
    // The picture is drawn in the middle of its place, all of which can be seen.
    const aside = (width * scale - wide) / 2;
    const over = (height * scale - high) / 2;
    const named = [];
    names.style.fontSize = `${size}px`;
    names.replaceChildren();
    for (const node of first) {
      const last = labels.get(node.document);
      const words = inLine(last.length > 20 ? `${last.slice(0, 18)}\u2026` : last);
      const half = (words.length * 0.29 + 0.3) * size;
      // Above and below its document, a name moves to the side as far as needed to be seen as a whole.
      const seenAt = (x) => Math.min(Math.max(x, left - aside + half), left + wide + aside - half);
      const fits = ({ x, y }) => x === seenAt(x) && y - size > top - over && y + size / 3 < top + high + over;
      const covers = (place) => (other) => Math.abs(other.y - place.y) < 1.2 * size && Math.abs(other.x - place.x) < other.half + half;
      // The middle of a line is a third of its size above its place.
      const hides = (place) => (other) => other !== node && Math.abs(other.y - place.y + size / 3) < 7 + size / 2 && Math.abs(other.x - place.x) < 7 + half;
      const middle = seenAt(node.x);
      const place = [[middle, 8 + size], [middle, -11], [node.x + half + 9, size / 3], [node.x - half - 9, size / 3]].map(([x, y]) => ({ x, y: node.y + y, half }))
        .find((one) => fits(one) && !named.some(covers(one)) && !nodes.some(hides(one)));
      if (!place) continue;
      named.push(place);
      names.append(s("text", { x: place.x.toFixed(1), y: place.y.toFixed(1), "text-anchor": "middle" }, words));
    }
  };
  new ResizeObserver((entries) => write(entries[entries.length - 1].contentRect)).observe(picture);
  const others = groups.length - drawn + (nodes.length < (groups[0] || []).length ? 1 : 0);
  return { picture, left: inside.length > links.length || others > 0 };
}
