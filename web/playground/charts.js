// Pictures of a fit, drawn as SVG so that they follow the page's colours; each has a text that says
// what it shows.

const NAMESPACE = "http://www.w3.org/2000/svg";
const [WIDTH, HEIGHT] = [460, 300];
const EDGE = { left: 58, right: 12, top: 12, bottom: 40 };
/** From low to high (viridis, by its publishers' five stops). */
const COLOURS = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];

function element(name, attributes, text) {
  const made = document.createElementNS(NAMESPACE, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

const short = (value) => {
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e5 || size < 1e-3)) return value.toExponential(1);
  return String(Number(value.toPrecision(3)));
};

/** Round numbers between two, about so many. */
function ticks(from, to, about = 5) {
  const rough = (to - from) / about;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((of) => of * power).find((of) => of >= rough);
  const all = [];
  for (let at = Math.ceil(from / step) * step; at <= to + step * 1e-9; at += step) all.push(at);
  return all;
}

/** A frame with axes; `x` and `y` turn values into places. */
function frame(into, label, [x0, x1], [y0, y1], { xTicks, yTicks, xName, yName, log = [] }) {
  const svg = element("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label });
  const scale = (from, to, start, end, isLog) => {
    const of = isLog ? Math.log : (value) => value;
    const span = of(to) - of(from) || 1;
    return (value) => start + ((of(value) - of(from)) / span) * (end - start);
  };
  const x = scale(x0, x1, EDGE.left, WIDTH - EDGE.right, log.includes("x"));
  const y = scale(y0, y1, HEIGHT - EDGE.bottom, EDGE.top, log.includes("y"));
  svg.append(element("path", { class: "axis",
    d: `M${EDGE.left},${EDGE.top}V${HEIGHT - EDGE.bottom}H${WIDTH - EDGE.right}` }));
  for (const at of xTicks) {
    svg.append(element("text", { x: x(at), y: HEIGHT - EDGE.bottom + 16, "text-anchor": "middle",
      class: "quiet" }, short(at)));
  }
  for (const at of yTicks) {
    svg.append(element("text", { x: EDGE.left - 6, y: y(at) + 4, "text-anchor": "end",
      class: "quiet" }, short(at)));
  }
  const middle = (EDGE.left + WIDTH - EDGE.right) / 2;
  svg.append(element("text", { x: middle, y: HEIGHT - 6, "text-anchor": "middle" }, xName));
  if (yName) {
    svg.append(element("text", { transform: `translate(13,${HEIGHT / 2}) rotate(-90)`,
      "text-anchor": "middle" }, yName));
  }
  into.replaceChildren(svg);
  return { svg, x, y };
}

/** Errors by features, each with its deviation. */
export function curve(into, points, name) {
  const errors = points.map(({ error }) => error);
  const [low, high] = [Math.min(...errors) / 1.3, Math.max(...errors) * 1.3];
  const sizes = points.map(({ features }) => features);
  const label = `${name}: ${points.map((p) => `${short(p.error)} with ${p.features}`).join(", ")}`;
  const span = [sizes[0], sizes.at(-1) === sizes[0] ? sizes[0] * 2 : sizes.at(-1)];
  const yTicks = high / low > 30 ? [0.001, 0.01, 0.1, 1].filter((t) => t > low && t < high)
    : ticks(low, high, 4).filter((t) => t > low);
  const { svg, x, y } = frame(into, label, span, [low, high], {
    xTicks: sizes, yTicks, xName: "features", yName: name, log: ["x", "y"] });
  const at = (p) => `${x(p.features)},${y(p.error)}`;
  svg.append(element("path", { class: "line", d: `M${points.map(at).join("L")}` }));
  for (const p of points) {
    const ends = [p.error - p.deviation, p.error + p.deviation]
      .map((end) => y(Math.min(Math.max(end, low), high)));
    svg.append(element("line", { class: "band", x1: x(p.features), x2: x(p.features), y1: ends[0],
      y2: ends[1] }));
    svg.append(element("circle", { class: "mark", cx: x(p.features), cy: y(p.error), r: 4 }));
  }
}

/** What was predicted over what was there. */
export function scatter(into, points, name) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of points) [low, high] = [Math.min(low, value), Math.max(high, value)];
  const some = ticks(low, high);
  const label = `${points.length / 2} rows held out: what was predicted over what was there`;
  const { svg, x, y } = frame(into, label, [low, high], [low, high], {
    xTicks: some, yTicks: some, xName: `${name}, as it is`, yName: "predicted" });
  let marks = "";
  for (let i = 0; i < points.length; i += 2) {
    const [cx, cy] = [x(points[i + 1]), y(points[i])];
    marks += `M${(cx - 1.5).toFixed(1)},${cy.toFixed(1)}h3v3h-3z`;
  }
  svg.append(element("path", { class: "mark", d: marks, opacity: 0.55 }));
  svg.append(element("line", { class: "guide", x1: x(low), y1: y(low), x2: x(high), y2: y(high) }));
}

/** How many rows of each label were taken for which. */
export function confusion(into, labels, counts) {
  const most = Math.max(...counts);
  const table = document.createElement("table");
  table.className = "cells";
  const cell = (row, name, text, scope) => {
    const made = row.appendChild(document.createElement(name));
    made.textContent = text;
    if (scope) made.scope = scope;
    return made;
  };
  const caption = table.createCaption();
  caption.textContent = "Rows: what was there. Columns: what was predicted.";
  const head = table.createTHead().insertRow();
  cell(head, "td", "");
  labels.forEach((label) => cell(head, "th", label, "col"));
  const body = table.createTBody();
  labels.forEach((label, i) => {
    const row = body.insertRow();
    cell(row, "th", label, "row");
    labels.forEach((_, j) => {
      const count = counts[i * labels.length + j];
      const colour = i === j ? "--bar" : "--best";
      const share = count === 0 ? 0 : Math.round(12 + 33 * (count / most));
      cell(row, "td", count || "").style.background =
        `color-mix(in srgb, var(${colour}) ${share}%, transparent)`;
    });
  });
  const scroll = Object.assign(document.createElement("div"), { className: "scroll" });
  scroll.append(table);
  into.replaceChildren(scroll);
}

/** The columns that move predictions most. */
export function bars(into, columns, values, most = 12) {
  const order = [...values.keys()].sort((a, b) => values[b] - values[a]).slice(0, most);
  const top = Math.max(values[order[0]], 1e-12);
  const height = 22 * order.length + 10;
  const label = order.map((j) => `${columns[j]} ${short(values[j])}`).join(", ");
  const svg = element("svg", { viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "aria-label": label });
  order.forEach((j, at) => {
    const middle = 22 * at + 15;
    const name = columns[j].length > 18 ? `${columns[j].slice(0, 17)}\u2026` : columns[j];
    svg.append(element("text", { x: 120, y: middle + 4, "text-anchor": "end" }, name));
    const width = Math.max(1, (260 * values[j]) / top);
    svg.append(element("rect", { class: "mark", x: 128, y: middle - 7, width, height: 14, rx: 3 }));
    svg.append(element("text", { x: 134 + width, y: middle + 4, class: "quiet" }, short(values[j])));
  });
  into.replaceChildren(svg);
}

function colour(share) {
  const place = Math.min(Math.max(share, 0), 1) * (COLOURS.length - 1);
  const at = Math.min(Math.floor(place), COLOURS.length - 2);
  const mix = COLOURS[at].map((v, k) => Math.round(v + (place - at) * (COLOURS[at + 1][k] - v)));
  return `rgb(${mix.join(",")})`;
}

/** Predictions over two columns, or scores of the label `of`. */
export function surface(into, { across, up, values, of, steps }, [xName, yName]) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const what = of === undefined ? "Predictions" : `Scores of ${of}`;
  const label = `${what} from ${short(low)} to ${short(high)} over ${xName} and ${yName}`;
  const spans = [across, up].map((places) => [places[0], places.at(-1)]);
  const { svg, x, y } = frame(into, label, spans[0], spans[1], {
    xTicks: ticks(...spans[0]), yTicks: ticks(...spans[1]), xName, yName });
  const [left, bottom] = [EDGE.left, HEIGHT - EDGE.bottom];
  const width = (WIDTH - EDGE.right - left) / steps;
  const height = (bottom - EDGE.top) / steps;
  values.forEach((value, at) => {
    const [row, column] = [Math.floor(at / steps), at % steps];
    svg.append(element("rect", { x: left + column * width, y: bottom - (row + 1) * height,
      width: width + 0.5, height: height + 0.5, "shape-rendering": "crispEdges", fill: colour((value - low) / (high - low || 1)) }));
  });
  const note = document.createElement("p");
  note.className = "small";
  note.textContent = `${what} from ${short(low)} (dark) to ${short(high)} (bright).`;
  into.append(note);
}
