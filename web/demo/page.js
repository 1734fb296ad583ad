// The page: a digit as it is drawn, and models and files of the reader's own.

import { load } from "../bochner/index.js";
import { Pen } from "./pen.js";

const $ = (id) => document.getElementById(id);
const EXAMPLE = [[[85, 70], [120, 45], [160, 62], [158, 100], [118, 122]],
  [[118, 122], [165, 142], [168, 185], [125, 212], [82, 190]]];

/** What the tests read. */
const figures = { predictions: 0, first: undefined, cpu: undefined, gpu: undefined };
window.figures = figures;

function say(text, fault = false, where = "status") {
  $(where).textContent = text;
  $(where).classList.toggle("fault", fault);
}

const words = (error) => (error instanceof Error ? error.message : String(error));

/** Models of the digits, on the CPU and where there is one on the GPU. */
const digits = { bytes: undefined, cpu: undefined, gpu: undefined };

const pen = new Pen($("canvas"), changed);
let busy = false;
let again = false;

async function changed() {
  again = true;
  if (busy || !digits.cpu) return;
  busy = true;
  while (again) {
    again = false;
    try {
      await predict();
    } catch (error) {
      say(words(error), true);
    }
    // Let the page take what was drawn meanwhile.
    await new Promise((resolve) => queue.push(resolve) && channel.port2.postMessage(0));
  }
  busy = false;
}

const channel = new MessageChannel();
const queue = [];
channel.port1.onmessage = () => queue.shift()?.();

async function predict() {
  const counts = pen.counts();
  if (!counts) {
    show(undefined);
    return;
  }
  const start = performance.now();
  const scores = await digits.cpu.scores(counts, 64);
  figures.cpu = smooth(figures.cpu, performance.now() - start);
  figures.predictions += 1;
  figures.first ??= performance.now();
  show(scores, digits.cpu.labels);
  if (digits.gpu && !asking) askGpu(counts);
}

let asking = false;
let asked = 0;

/** Asks the GPU beside the CPU, whose answer it need not keep waiting. */
async function askGpu(counts) {
  asking = true;
  try {
    const start = performance.now();
    await digits.gpu.scores(counts, 64);
    // The first one waits for the shaders to be compiled.
    if (asked++ > 0) figures.gpu = smooth(figures.gpu, performance.now() - start);
    if (!shown.frame) show(shown.scores, shown.labels);
  } catch (error) {
    digits.gpu.free();
    digits.gpu = figures.gpu = undefined;
    $("gpu-time").textContent = "none";
    const lost = error.name === "DeviceLostError";
    say(lost ? "The GPU was lost. The CPU goes on; the GPU is opened again." : words(error), true);
    if (lost) await openGpu();
  } finally {
    asking = false;
  }
}

const smooth = (before, now) => (before === undefined ? now : 0.8 * before + 0.2 * now);
const milliseconds = (ms) => `${ms < 10 ? ms.toFixed(2) : ms.toFixed(0)} ms`;

const rows = [];
const shown = { frame: undefined, scores: undefined, labels: undefined };

/** Shows the last scores with the next frame. */
function show(scores, labels) {
  Object.assign(shown, { scores, labels });
  shown.frame ??= requestAnimationFrame(() => {
    shown.frame = undefined;
    paint(shown.scores, shown.labels);
  });
}

function paint(scores, labels) {
  if (figures.cpu !== undefined) $("cpu-time").textContent = milliseconds(figures.cpu);
  if (figures.gpu !== undefined) $("gpu-time").textContent = milliseconds(figures.gpu);
  if (!scores) {
    $("class").textContent = "?";
    for (const { row, bar, number } of rows) {
      row.classList.remove("best");
      bar.style.width = "0";
      number.textContent = "";
    }
    return;
  }
  while (rows.length < scores.length) {
    const row = $("scores").insertRow();
    const head = Object.assign(document.createElement("th"), { scope: "row" });
    row.append(head);
    const bar = row.insertCell().appendChild(document.createElement("div"));
    bar.className = "bar";
    rows.push({ row, head, bar, number: row.insertCell() });
  }
  let best = 0;
  scores.forEach((score, k) => { if (score > scores[best]) best = k; });
  scores.forEach((score, k) => {
    const { row, head, bar, number } = rows[k];
    head.textContent = labels[k];
    row.classList.toggle("best", k === best);
    // The fit was to 1 for the class of a row and -1 for all others.
    bar.style.width = `${Math.max(0.01, Math.min(1, (score + 1) / 2)) * 100}%`;
    number.textContent = score.toFixed(2);
  });
  $("class").textContent = labels[best];
}

async function openGpu() {
  try {
    digits.gpu = await load(digits.bytes, { device: "gpu" });
    $("gpu-note").hidden = true;
    asked = 0;
    const counts = pen.counts();
    for (let i = 0; i < 2 && counts && digits.gpu; i++) await askGpu(counts);
  } catch (error) {
    $("gpu-time").textContent = "none";
    const how = navigator.gpu
      ? "The browser has WebGPU but no adapter for it: update the driver, or look at chrome://gpu."
      : "This browser has no WebGPU: Chrome and Edge from 113 on have it, Safari from 26, Firefox " +
        "from 141 on Windows; a page has to come from https or from this machine.";
    $("gpu-note").textContent = `${how} All goes on without, on the CPU. (${words(error)})`;
    $("gpu-note").hidden = false;
  }
}

async function fetched(name) {
  const answer = await fetch(name);
  if (!answer.ok) throw new Error(`${name}: the server says ${answer.status}`);
  return answer.arrayBuffer();
}

async function open() {
  try {
    digits.bytes = await fetched("digits.model");
    digits.cpu = await load(digits.bytes, { device: "cpu" });
  } catch (error) {
    say(`The model of the digits does not load: ${words(error)}`, true);
    return;
  }
  say("Ready. Draw over the example, or clear it.");
  if (pen.strokes.length === 0) {
    pen.strokes = structuredClone(EXAMPLE);
    pen.draw();
  }
  await changed();
  await openGpu();
}

$("clear").addEventListener("click", () => pen.clear());
let touched = false;
$("canvas").addEventListener("pointerdown", () => {
  // The first stroke takes the place of the example.
  if (!touched) pen.strokes.splice(0, pen.strokes.length - 1);
  touched = true;
  pen.draw();
});

/** The reader's own model; the digits' until there is one. */
const own = { model: undefined, url: undefined };

async function takeModel(file) {
  try {
    const model = await load(await file.arrayBuffer(), { device: "auto" });
    own.model?.free();
    own.model = model;
    const classes = model.labels ? `, ${model.labels.length} classes` : "";
    say(`${file.name}: ${model.learner}, ${model.columns} columns${classes}; ${model.map}; on ` +
      `${model.onGpu ? "the GPU" : "the CPU"}.`, false, "own-status");
  } catch (error) {
    say(`${file.name}: ${words(error)}`, true, "own-status");
  }
}

async function takeData(file) {
  const model = own.model ?? digits.cpu;
  if (!model) {
    say("The model is still loading; drop the file once more.", true, "own-status");
    return;
  }
  try {
    const start = performance.now();
    const text = await model.predictCsv(file.name, new Uint8Array(await file.arrayBuffer()));
    const lines = text.trimEnd().split("\n");
    const count = lines.length - 1;
    URL.revokeObjectURL(own.url);
    own.url = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
    $("download").href = own.url;
    $("result").hidden = false;
    $("preview").hidden = false;
    $("preview").textContent = lines.slice(0, 6).join("\n") + (count > 5 ? "\n..." : "");
    say(`${file.name}: ${count} predictions in ${milliseconds(performance.now() - start)}.`, false,
      "own-status");
  } catch (error) {
    if (error.name === "DeviceLostError" && own.model) {
      own.model.free();
      own.model = undefined;
    }
    $("result").hidden = true;
    $("preview").hidden = true;
    say(words(error), true, "own-status");
  }
}

const isData = (file) => /\.(csv|tsv|txt)(\.gz)?$/i.test(file.name);

/** Models before data, for both may be dropped together. */
async function take(files) {
  const all = [...files];
  for (const file of all.filter((file) => !isData(file))) await takeModel(file);
  for (const file of all.filter(isData)) await takeData(file);
}

$("model-file").addEventListener("change", async (event) => {
  for (const file of event.target.files) await takeModel(file);
});
$("data-file").addEventListener("change", async (event) => {
  for (const file of event.target.files) await takeData(file);
});
const drop = $("drop");
for (const type of ["dragover", "dragleave", "drop"]) {
  document.addEventListener(type, (event) => {
    event.preventDefault();
    drop.classList.toggle("over", type === "dragover");
  });
}
document.addEventListener("drop", (event) => take(event.dataTransfer.files));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => pen.draw());

open();
