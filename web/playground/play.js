// The page: what is asked of the worker, and what it says.

import { bars, confusion, curve, scatter, surface } from "./charts.js";

const $ = (id) => document.getElementById(id);
const worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });

/** What is on the page. */
const now = { name: "", target: "", task: "", least: 0, points: [], columns: [] };
/** What the tests read: milliseconds from a question to what it showed first and last, and from the
 * opening of a table to what was seen of it first. */
const figures = { asked: 0, first: undefined, last: undefined, fits: 0, opened: 0, seen: undefined };
window.figures = figures;

function say(text, fault = false) {
  $("status").textContent = text;
  $("status").classList.toggle("fault", fault);
}

const count = (n) => n.toLocaleString("en");
const plain = (value) => String(Number(value.toPrecision(3)));
const percent = (share) => `${(100 * share).toFixed(share < 0.1 ? 2 : 1)} %`;

// Questions.

function ask(question, what = {}) {
  worker.postMessage({ ...what, question });
}

function open(what, name) {
  say(`Opening ${name}.`);
  forget();
  for (const id of ["target", "task"]) $(id).disabled = true;
  $("task").value = "";
  figures.opened = performance.now();
  figures.seen = undefined;
  ask("open", what);
}

/** What was said of another table, or another target, is none of this one. */
function forget() {
  now.points = [];
  now.columns = [];
  for (const id of ["curve", "held", "importance", "surface"]) $(id).replaceChildren();
  for (const id of ["across", "up"]) $(id).replaceChildren();
  $("score").textContent = "Nothing is fitted yet.";
  $("command").textContent = $("python").textContent = "...";
  $("compared").textContent = "";
  $("save").disabled = true;
}

function read() {
  forget();
  now.target = $("target").value;
  ask("read", { target: now.target, task: $("task").value || undefined });
}

const features = () => 2 ** Number($("features").value);
const width = () => 2 ** (Number($("width").value) / 4);

function options() {
  const [map, kernel, device] = ["map", "kernel", "device"].map((id) => $(id).value);
  return { map, kernel, device, features: features(), width: width() };
}

function fit() {
  if (!now.target) return;
  figures.asked = performance.now();
  figures.first = figures.last = undefined;
  now.points = [];
  $("progress").value = 0;
  ask("fit", { options: options() });
}

// Answers.

const HEARD = {
  opened({ name, size, columns, target, bytes, seconds }) {
    now.name = name;
    $("target").replaceChildren(...columns.map((column) => new Option(column, column)));
    $("target").value = target;
    for (const id of ["target", "task"]) $(id).disabled = false;
    $("table").hidden = !bytes;
    if (bytes) link($("table"), bytes, name);
    say(`${name}: ${count(size)} bytes, ${columns.length} columns, in ${plain(seconds)} s.`);
    read();
  },

  state({ text }) {
    say(text);
  },

  read({ rows, testRows, task, seconds }) {
    now.task = task;
    // What is drawn of no error at all.
    now.least = task === "regression" ? 1e-6 : 0.5 / testRows;
    const kind = task === "regression" ? "an amount" : "a label";
    say(`${now.name}: ${count(rows)} rows to fit, ${count(testRows)} held out; ${now.target} is ` +
      `taken for ${kind}. Read in ${plain(seconds)} s.`);
    fit();
  },

  progress({ features, rung, rungs, share }) {
    // The sums of a fit are as the square of its features.
    const before = rung === 0 ? 0 : 4 ** (rung + 1 - rungs);
    const all = 4 ** (rung + 1 - rungs);
    $("progress").value = before / 1.34 + ((all - before / 1.34) * share);
    say(`Fitting ${count(features)} features to ${now.name}.`);
  },

  look(found) {
    held(found);
    $("score").textContent = `${score(found)}; a first look, its width is that of a rule`;
  },

  rung(found) {
    const [value, deviation] = found.values;
    now.points.push({ features: found.features, error: Math.max(1 - value, now.least), deviation });
    curve($("curve"), now.points, now.task === "regression" ? "1 - R2" : "share of wrong labels");
    held(found);
    $("score").textContent = score(found);
    if (found.last) finished(found);
  },

  looked({ columns, numbers, importance }) {
    bars($("importance"), columns, importance);
    const order = [...numbers].sort((a, b) => importance[b] - importance[a]);
    const names = order.map((j) => [columns[j], j]);
    const kept = ["across", "up"].map((id) => $(id).selectedOptions[0]?.text);
    ["across", "up"].forEach((id, at) => {
      $(id).replaceChildren(...names.map(([name, j]) => new Option(name, j)));
      const same = names.find(([name]) => name === kept[at]) ?? names[at];
      if (same) $(id).value = same[1];
    });
    now.columns = columns;
    if (order.length > 1) drawSurface();
    else $("surface").textContent = "There are no two columns of numbers.";
  },

  surface({ columns: [across, up], ...of }) {
    surface($("surface"), of, [now.columns[across], now.columns[up]]);
    figures.surfaces = (figures.surfaces ?? 0) + 1;
  },

  compared({ error, rows, cpu, gpu, off, device }) {
    $("compared").textContent = error ? `WebGPU does not predict here: ${error}`
      : `${count(rows)} rows held out take ${plain(cpu)} ms on the CPU and ${plain(gpu)} ms on ` +
        `WebGPU (${device}); the predictions differ by ${off.toExponential(0)} of the largest.`;
    figures.off = off;
  },

  saved({ bytes }) {
    const anchor = document.createElement("a");
    link(anchor, bytes, `${now.name.replace(/\.(csv|tsv|txt)(\.gz)?$/i, "")}.model`);
    anchor.click();
  },

  fault({ text }) {
    $("progress").value = 0;
    say(text, true);
  },
};

/** The rows held out, and the time that it took to see some. */
function held(found) {
  if (found.confusion) confusion($("held"), found.labels, found.confusion);
  else scatter($("held"), found.points, now.target);
  figures.first ??= performance.now() - figures.asked;
  figures.seen ??= performance.now() - figures.opened;
}

function score({ scores, values, features }) {
  const with_ = (name, at) => `${name} ${plain(values[2 * at])}`;
  if (now.task === "classification") {
    return `${percent(1 - values[0])} of the labels wrong (± ${percent(values[1])}), with ` +
      `${count(features)} features`;
  }
  const names = { r2: "R2", rmse: "root mean squared error", mae: "mean error" };
  return `${scores.map((name, at) => with_(names[name] ?? name, at)).join(", ")}, with ` +
    `${count(features)} features`;
}

function finished(found) {
  figures.last = performance.now() - figures.asked;
  figures.fits += 1;
  [figures.score] = found.values;
  $("progress").value = 1;
  $("save").disabled = false;
  $("command").textContent = `${found.command} -o ${stem()}.model`;
  $("python").textContent = python(found.command);
  say(`Fitted in ${plain(found.seconds)} s, penalty ${found.lambda.toExponential(1)}: ${found.map}.`);
}

const stem = () => now.name.replace(/\.(csv|tsv|txt)(\.gz)?$/i, "").replace(/[^\w.-]/g, "_");

/** The same fit in Python; a width that was moved is in the model alone. */
function python(command) {
  const kind = now.task === "regression" ? "KernelRidgeRegressor" : "KernelRidgeClassifier";
  const { map, kernel, features } = options();
  if (width() !== 1) {
    return `import bochner\n\nmodel = bochner.${kind}.load("${stem()}.model")\n`;
  }
  const given = [`n_components=${features}`];
  if (map !== "fourier") given.push(`map="${map}"`);
  if (kernel !== "gaussian") given.push(`kernel="${kernel}"`);
  const missing = command.includes("--missing") ? ', missing="indicator"' : "";
  const [name, target] = [now.name, now.target].map((text) => JSON.stringify(text));
  return `import bochner\n\nrows = bochner.scan(${name}, target=${target}${missing})\n` +
    `model = bochner.${kind}(${given.join(", ")}, random_state=0).fit(rows)\n`;
}

/** Where a link leads to bytes, and under which name they are saved. */
function link(anchor, bytes, name) {
  URL.revokeObjectURL(anchor.href);
  anchor.href = URL.createObjectURL(bytes);
  anchor.download = name;
}

function drawSurface() {
  const [across, up] = ["across", "up"].map((id) => Number($(id).value));
  if (across !== up) ask("surface", { across, up });
}

worker.onmessage = ({ data }) => HEARD[data.kind](data);
worker.onerror = (event) => say(`The worker failed: ${event.message}`, true);

// What a reader does.

function showSliders() {
  $("features-value").textContent = count(features());
  const times = width();
  $("width-value").textContent = times === 1 ? "as chosen"
    : times > 1 ? `${plain(times)} × wider` : `${plain(1 / times)} × narrower`;
}

for (const id of ["features", "width"]) {
  $(id).addEventListener("input", () => {
    showSliders();
    fit();
  });
}
for (const id of ["map", "kernel", "device"]) $(id).addEventListener("change", fit);
for (const id of ["target", "task"]) $(id).addEventListener("change", read);
for (const id of ["across", "up"]) $(id).addEventListener("change", drawSurface);
$("save").addEventListener("click", () => ask("save"));
$("file").addEventListener("change", ({ target }) => {
  if (target.files.length > 0) open({ file: target.files[0] }, target.files[0].name);
});
for (const button of document.querySelectorAll("[data-example]")) {
  button.addEventListener("click", () => open({ example: button.dataset.example }, "the table"));
}
for (const type of ["dragover", "dragleave", "drop"]) {
  document.addEventListener(type, (event) => {
    event.preventDefault();
    $("drop").classList.toggle("over", type === "dragover");
  });
}
document.addEventListener("drop", ({ dataTransfer: { files } }) => {
  if (files.length > 0) open({ file: files[0] }, files[0].name);
});
showSliders();
