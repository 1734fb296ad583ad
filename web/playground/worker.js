// Where tables are read and fits are made, so that the page never waits. A new question ends a fit
// that is on its way, at its next step.

import { load, start, Table } from "../bochner/index.js";
import { make } from "./tables.js";

/** Fits double their features up to the last, from a sixteenth of them on. */
const RUNGS = 5;
/** Places of a surface to each side. */
const STEPS = 40;
/** Rows that are predicted on both devices. */
const COMPARED = 1000;
/** Features of a first look. */
const LOOK = 128;

let table;
let study;
let outcome;
/** Where the study sums. */
let device;
/** The last question that ends others. */
let latest = 0;

const words = (error) => (error instanceof Error ? error.message : String(error));

const channel = new MessageChannel();
const waiting = [];
channel.port1.onmessage = () => waiting.shift()?.();
/** Lets messages in that have come meanwhile. */
const turn = () => new Promise((resolve) => waiting.push(resolve) && channel.port2.postMessage(0));

function say(kind, what = {}, transfer = []) {
  postMessage({ kind, ...what }, transfer);
}

/** Sizes of the fits before one of so many features, and that one. */
function rungs(features) {
  const all = [];
  for (let size = features; all.length < RUNGS && size >= 16; size = Math.floor(size / 4) * 2) {
    all.unshift(size);
  }
  return all.length > 0 ? all : [features];
}

async function open({ file, example }) {
  study?.free();
  table?.free();
  study = table = undefined;
  const begin = performance.now();
  const made = example ? await make(example) : { name: file.name, target: undefined };
  const bytes = example ? made.bytes : new Uint8Array(await file.arrayBuffer());
  await start();
  table = new Table(made.name, bytes);
  const { columns } = table;
  say("opened", {
    name: made.name,
    size: bytes.length,
    columns,
    target: made.target ?? columns.at(-1),
    bytes: example ? new Blob([bytes], { type: "text/csv" }) : undefined,
    seconds: (performance.now() - begin) / 1000,
  });
}

async function read({ target, task }, job) {
  study?.free();
  study = undefined;
  const begin = performance.now();
  say("state", { text: "Reading the rows." });
  await turn();
  if (job !== latest) return;
  study = table.study(target, { task });
  device = "cpu";
  const { rows, testRows, task: taken } = study;
  say("read", { rows, testRows, task: taken, seconds: (performance.now() - begin) / 1000 });
}

async function fit({ options }, job) {
  if (!study) return;
  const begin = performance.now();
  if (options.device !== device) {
    await study.useDevice(options.device);
    if (job !== latest) return;
    ({ device } = options);
  }
  if (!study.isPrepared(options)) {
    await look(options);
    say("state", { text: "Choosing the width by rows left out." });
    await turn();
    if (job !== latest) return;
    study.prepare(options);
  }
  const sizes = rungs(options.features);
  for (const [at, features] of sizes.entries()) {
    const trial = study.fit({ ...options, features });
    let more = true;
    while (more) {
      await turn();
      if (job !== latest) return trial.free();
      more = await trial.step();
      say("progress", { features, rung: at, rungs: sizes.length, share: trial.progress });
    }
    await turn();
    if (job !== latest) return trial.free();
    const found = trial.finish();
    outcome?.free();
    outcome = found;
    const last = at + 1 === sizes.length;
    say("rung", { ...result(found), last, seconds: (performance.now() - begin) / 1000 });
  }
  await turn();
  if (job !== latest) return;
  say("looked", { columns: outcome.columns, numbers: [...outcome.numbers],
    importance: [...outcome.importance()] });
  await compare(job);
}

/** Predicts rows held out on WebGPU, too, where there is some. */
async function compare(job) {
  const [bytes, rows] = [outcome.toBytes(), outcome.heldOut(COMPARED)];
  const [cpu, gpu] = await Promise.all(["cpu", "gpu"].map((device) =>
    load(bytes, { device }).catch((error) => ({ error: words(error) }))));
  if (cpu.error || gpu.error) return say("compared", { error: cpu.error ?? gpu.error });
  const timed = async (model) => {
    // The first call waits for the shaders to be compiled.
    await model.scores(rows, model.columns);
    const begin = performance.now();
    const scores = await model.scores(rows, model.columns);
    return { scores, ms: performance.now() - begin };
  };
  try {
    const [host, device] = [await timed(cpu), await timed(gpu)];
    let [off, size] = [0, 0];
    host.scores.forEach((score, at) => {
      off = Math.max(off, Math.abs(score - device.scores[at]));
      size = Math.max(size, Math.abs(score));
    });
    const what = { rows: rows.length / cpu.columns, cpu: host.ms, gpu: device.ms };
    if (job === latest) say("compared", { ...what, off: off / size, device: gpu.device });
  } finally {
    cpu.free();
    gpu.free();
  }
}

/** A first look at few features, whose width is that of a rule. */
async function look(options) {
  const trial = study.fit({ ...options, features: Math.min(options.features, LOOK), byRule: true });
  while (await trial.step());
  const found = trial.finish();
  say("look", result(found));
  found.free();
}

function result(found) {
  const { features, scores, values, points, labels, confusion, command, map, lambda } = found;
  return { features, scores, values: [...values], points, labels, confusion, command, map, lambda };
}

function surface({ across, up }) {
  if (!outcome) return;
  const drawn = outcome.surface(across, up, STEPS);
  const places = { across: drawn.across, up: drawn.up };
  const { values, of } = drawn;
  drawn.free();
  say("surface", { columns: [across, up], ...places, values, of, steps: STEPS });
}

function save() {
  if (outcome) say("saved", { bytes: new Blob([outcome.toBytes()]) });
}

const TASKS = { open, read, fit, surface, save };
/** What makes all before it worth nothing. */
const ENDS = ["open", "read", "fit"];

onmessage = async ({ data }) => {
  if (ENDS.includes(data.question)) latest += 1;
  const job = latest;
  try {
    await TASKS[data.question](data, job);
  } catch (error) {
    if (job === latest) say("fault", { text: words(error) });
  }
};
