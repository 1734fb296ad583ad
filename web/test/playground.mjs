// The playground clicked through, and its commands typed.

import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

/** Keeps tables and models that the page hands out, and the longest time in which it stood still. */
const KEEP = `
  window.handed = [];
  const make = URL.createObjectURL;
  URL.createObjectURL = (blob) => {
    const address = make.call(URL, blob);
    window.handed.push(blob);
    return address;
  };
  window.stood = 0;
  let last = performance.now();
  setInterval(() => {
    const now = performance.now();
    window.stood = Math.max(window.stood, now - last);
    last = now;
  }, 4);`;

/** Bytes of the table that is dropped, and how long the page may stand still meanwhile: a tenth of
 * a second is asked for, and half as much again is room for other programs. */
const DROPPED = 20_000_000;
const STILL = 150;
/** Milliseconds to what a fit shows first, and after a slider, half as much again as is asked for. */
const [FIRST, MOVED] = [3000, 1500];
/** How far scores of the same fit may lie apart: browsers multiply and add in two roundings, and the
 * penalties that are chosen may be as small as these. Another width or another seed is ten times as
 * far off. */
const NEAR = 1e-3;

const text = (tab, id) => tab.run("(id) => document.getElementById(id).textContent", id);
const fits = (tab) => tab.run("() => figures.fits");

/** Waits until one more fit is done and looked at. */
async function fitted(tab, before, what) {
  await tab.until(`() => {
    const status = document.getElementById("status");
    if (status.classList.contains("fault")) throw new Error(status.textContent);
    return figures.fits > ${before} && document.querySelector("#importance svg") !== null;
  }`, what);
  return tab.run("() => ({ seen: figures.seen, first: figures.first, last: figures.last })");
}

async function example(tab, name) {
  const before = await fits(tab);
  await tab.run("(name) => document.querySelector(`[data-example=${name}]`).click()", name);
  const took = await fitted(tab, before, name);
  const score = await text(tab, "score");
  console.log(`playground ${name}: ${score}; seen ${took.seen.toFixed(0)} ms after it was ` +
    `opened, fitted in ${took.last.toFixed(0)} ms`);
  return { ...took, score };
}

/** What a slider or a choice is set to. */
async function set(tab, id, value) {
  const before = await fits(tab);
  await tab.run(`(id, value) => {
    const input = document.getElementById(id);
    input.value = value;
    input.dispatchEvent(new Event(input.type === "range" ? "input" : "change"));
  }`, id, value);
  return fitted(tab, before, `${id} ${value}`);
}

export async function playground({ browser, url, program, pictures, expect }) {
  const save = async (tab, name) =>
    writeFile(join(pictures, `playground-${name}.png`), await tab.picture());
  const tab = await browser.page(url, { scripts: [KEEP] });
  // The WebAssembly is compiled with the first table.
  const first = await example(tab, "friedman");
  expect(first.seen < FIRST, `a first fit of 10,000 x 20 rows within ${FIRST} ms (${first.seen})`);
  await command(tab, program, { score: "r2", expect });
  await tab.until("() => document.getElementById('compared').textContent", "WebGPU predicts");
  console.log(`  ${await text(tab, "compared")}`);
  const off = await tab.run("() => figures.off");
  expect(off < 1e-4, `WebGPU predicts what the CPU does (${off})`);
  await tab.until("() => document.querySelector('#surface svg') !== null", "a surface");
  await save(tab, "friedman");
  const moved = await set(tab, "width", "4");
  console.log(`  width moved: first ${moved.first.toFixed(0)} ms, all ${moved.last.toFixed(0)} ms`);
  expect(moved.first < MOVED, `a moved slider is seen within ${MOVED} ms (${moved.first})`);
  await command(tab, program, { score: "r2", expect });
  for (const [id, value] of [["map", "sorf"], ["map", "nystrom"], ["kernel", "matern32"]]) {
    const took = await set(tab, id, value);
    console.log(`  ${value}: ${await text(tab, "score")}; first ${took.first.toFixed(0)} ms`);
    await command(tab, program, { score: "r2", expect });
  }
  await set(tab, "map", "fourier");
  await set(tab, "kernel", "gaussian");
  await set(tab, "width", "0");
  for (const [name, score] of [["spirals", "accuracy"], ["rents", "r2"], ["digits", "accuracy"]]) {
    await example(tab, name);
    await command(tab, program, { score, expect });
    await save(tab, name);
    // Sums of another device, of features that are rounded otherwise.
    if (name !== "rents") continue;
    const device = await set(tab, "device", "gpu");
    console.log(`  WebGPU: ${await text(tab, "score")}; first ${device.first.toFixed(0)} ms, all ` +
      `${device.last.toFixed(0)} ms`);
    await command(tab, program, { score, expect });
    const state = await text(tab, "status");
    expect(state.startsWith("Fitted"), `a fit on WebGPU, not ${state}`);
    await set(tab, "device", "cpu");
  }
  const label = await tab.run("() => document.querySelectorAll('#held tbody tr').length");
  expect(label === 10, `ten rows of labels (${label})`);
  await model(tab, expect);
  await bad(tab, expect);
  await large(tab, expect);
  expect(tab.faults.length === 0, `nothing was thrown in the playground: ${tab.faults}`);
  await tab.close();
  for (const [name, look] of [
    ["dark", { dark: true }], ["narrow", { width: 380, height: 800 }], ["wide", { width: 1600 }],
  ]) {
    const other = await browser.page(url, look);
    await example(other, "spirals");
    await other.until("() => document.querySelector('#surface svg') !== null", "a surface");
    const wide = await other.run("() => document.documentElement.scrollWidth - innerWidth");
    expect(wide <= 0, `${name}: nothing is wider than the window (${wide})`);
    await save(other, name);
    await other.close();
  }
}

/** The command that the page shows scores the same on this machine, with its own table. */
async function command(tab, program, { score, expect }) {
  const { line, table, name, shown } = await tab.run(`async () => {
    const tables = handed.filter((blob) => blob.type === "text/csv");
    return { line: document.getElementById("command").textContent, shown: figures.score,
      table: await tables.at(-1).text(), name: document.getElementById("table").download };
  }`);
  const folder = await mkdtemp(join(tmpdir(), "bochner-play-"));
  try {
    await writeFile(join(folder, name), table);
    const words = line.match(/'[^']*'|\S+/g).map((word) => word.replaceAll("'", ""));
    const given = [...words.slice(1), "--device", "cpu", "--json"];
    const { stdout } = await promisify(execFile)(program, given, { cwd: folder, maxBuffer: 1 << 24 });
    const found = JSON.parse(stdout)[score];
    console.log(`  ${line}: ${found}, in the page ${shown}`);
    expect(Math.abs(found - shown) < NEAR, `${line} scores ${found}, not ${shown}`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The model that is saved predicts. */
async function model(tab, expect) {
  await tab.run("() => document.getElementById('save').click()");
  await tab.until("() => handed.some((blob) => blob.type === '')", "a model");
  const found = await tab.run(`async () => {
    const { load } = await import("/bochner/index.js");
    const bytes = await handed.findLast((blob) => blob.type === "").arrayBuffer();
    const model = await load(bytes, { device: "cpu" });
    return [model.columns, model.labels.length, model.features];
  }`);
  expect(found.join() === "64,10,512", `the model that is saved is of the digits (${found})`);
}

async function give(tab, name, made) {
  await tab.run(`(name, made) => {
    const list = new DataTransfer();
    const bytes = typeof made === "string" ? made : window.made;
    list.items.add(new File([bytes], name));
    document.dispatchEvent(new DragEvent("drop", { dataTransfer: list, bubbles: true }));
  }`, name, made);
}

/** What is no table, and a target of nothing but one label: a word, and the page goes on. */
async function bad(tab, expect) {
  for (const [name, made, word] of [
    ["a.csv", "", "a.csv"], ["b.csv", "x,y\n1,2\n1\n", "b.csv"], ["c.csv", "x\n1\n2\n", "c.csv"],
    ["d.xlsx", "x", "d.xlsx"], ["e.csv", `x,y\n${"1,a\n".repeat(40)}`, "classes"],
  ]) {
    await give(tab, name, made);
    await tab.until("() => document.getElementById('status').className === 'fault'", name);
    const said = await text(tab, "status");
    console.log(`  ${name}: ${said}`);
    expect(said.includes(word) && !said.includes("\n"), `${name}: a clear word, not ${said}`);
  }
}

/** A large table is dropped, and the page does not stand still. */
async function large(tab, expect) {
  await tab.run(`async (size) => {
    const row = (i) => [...Array(20)].map((_, j) => ((i * (j + 7) * 7919) % 10007) / 10007)
      .map((v) => v.toFixed(6)).join(",");
    const lines = ["${[...Array(20)].map((_, j) => `x${j}`).join(",")},y"];
    for (let i = 0, bytes = 0; bytes < size; i++) {
      const x = row(i);
      const line = x + "," + (Number(x.slice(0, 8)) * Number(x.slice(9, 17))).toFixed(6);
      bytes += line.length + 1;
      lines.push(line);
    }
    window.made = new TextEncoder().encode(lines.join("\\n") + "\\n");
    await new Promise((resolve) => setTimeout(resolve, 300));
    window.stood = 0;
  }`, DROPPED);
  const before = await fits(tab);
  await give(tab, "large.csv", 0);
  const took = await fitted(tab, before, "a large table");
  const stood = await tab.run("() => stood");
  console.log(`  20 MB dropped: the page stood still for ${stood.toFixed(0)} ms at most; seen ` +
    `after ${took.seen.toFixed(0)} ms, fitted in ${took.last.toFixed(0)} ms; ${await text(tab, "score")}`);
  expect(stood < STILL, `the page stands still for less than ${STILL} ms (${stood})`);
}
