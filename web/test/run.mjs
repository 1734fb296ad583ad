// The package and the pages in Chromium: `node run.mjs SITE MODELS CHROMIUM PICTURES PROGRAM`.

import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { Browser, serve } from "./browser.mjs";
import { page as testPage } from "./page.mjs";
import { playground } from "./playground.mjs";

const [site, models, chromium, pictures, program] = process.argv.slice(2);
const here = dirname(fileURLToPath(import.meta.url));
const GPU = ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"];
/** Bytes of the WebAssembly, gzipped: half again the 1.4 MB that were seen. */
const MOST = 2_100_000;

const failed = [];
export function expect(holds, what) {
  if (!holds) failed.push(what);
  if (!holds) console.log(`  FAILED: ${what}`);
}

const wasm = await readFile(join(site, "bochner/native_bg.wasm"));
const zipped = gzipSync(wasm, { level: 9 }).length;
console.log(`native_bg.wasm: ${wasm.length} bytes, ${zipped} gzipped`);
expect(zipped <= MOST, `at most ${MOST} bytes gzipped`);

await rm(join(site, "models"), { recursive: true, force: true });
await cp(models, join(site, "models"), { recursive: true });
await mkdir(join(site, "test"), { recursive: true });
await cp(join(here, "library.js"), join(site, "test/library.js"));
await mkdir(pictures, { recursive: true });
const list = JSON.parse(await readFile(join(models, "manifest.json"), "utf8"));
const digits = list.models.find(({ name }) => name === "digits");

const server = await serve(site);
const browser = await Browser.start(chromium, GPU);
try {
  await library(await browser.page(`${server.url}/blank`));
  await testPage({ browser, url: `${server.url}/demo/index.html`, models, pictures, expect });
  await playground({ browser, url: `${server.url}/playground/index.html`, program, pictures, expect });
} finally {
  await browser.close();
}
const without = await Browser.start(chromium, []);
try {
  await noGpu(await without.page(`${server.url}/blank`));
} finally {
  await without.close();
  server.close();
}
if (failed.length > 0) {
  console.log(`${failed.length} failed:\n${failed.join("\n")}`);
  process.exit(1);
}
console.log("all passed");

/** Calls a function of library.js in the page. */
function call(page, name, ...values) {
  const body = `async (...values) => (await import("/test/library.js")).${name}(...values)`;
  return page.run(body, ...values);
}

async function library(page) {
  for (const device of ["cpu", "gpu"]) {
    for (const entry of list.models) {
      const found = await call(page, "check", entry, device);
      const { off, alone, features, labels, onGpu, note } = found;
      console.log(`${device} ${entry.name}: off by ${off.toFixed(3)}, few rows ${alone.toFixed(3)}` +
        `${features == null ? "" : `, features ${features.toFixed(3)}`} of the bound, ` +
        `${labels} of ${entry.rows} as native${note ? ` (${note})` : ""}`);
      const what = `${entry.name} on ${device}`;
      expect(off <= 1 && alone <= 1, `${what}: outputs within the bound`);
      expect(features == null || features <= 1, `${what}: features within the bound`);
      if (entry.name !== "regression") expect(labels === entry.rows, `${what}: labels as native`);
      const binned = entry.name.startsWith("binn");
      expect(onGpu === (device === "gpu" && !binned), `${what}: runs there`);
      const wrong = await call(page, "spoilt", entry, device);
      expect(wrong > 1, `${what}: a coefficient 3 % off is seen (${wrong.toFixed(2)} bounds)`);
    }
    console.log(`${device}: ${(await call(page, "check", digits, device)).device}`);
  }
  const fitted = await call(page, "refit", digits, list.fit);
  console.log(`fit: ${JSON.stringify(fitted)}`);
  expect(fitted.differ.length === 0 && fitted.drawn.includes("frequencies"), "the same bits drawn");
  expect(fitted.same === list.fit.labels.length, "a fit in the page labels as a native one");
  expect(/^digit \d$/.test(fitted.label), "labels that are text");
  const said = await call(page, "refused", digits);
  console.log(`bad input: ${JSON.stringify(said, null, 1)}`);
  const words = {
    truncated: "truncated", "cut short": "truncated", empty: "truncated", newer: "newer",
    columns: "30 columns, the model takes 64", "part of a row": "whole rows",
    NaN: "row 1, column 3 is NaN", "no numbers": "array of numbers", device: "abacus",
    csv: "column", fit: "2 targets for 1 rows", options: "whole number",
  };
  for (const [what, word] of Object.entries(words)) {
    expect(said[what].startsWith("BochnerError: ") && said[what].includes(word) &&
      !said[what].includes("\n"), `${what}: one clear line, not ${said[what]}`);
  }
  expect(said.after === digits.predicted[0], "predictions go on after bad input");
  expect(page.faults.length === 0, `nothing else went wrong: ${page.faults}`);
}

/** Where there is no WebGPU, `auto` is the CPU with a word of why, and `gpu` an error. */
async function noGpu(page) {
  const said = await page.run(`async () => {
    const { load, bytesOf } = await import("/test/library.js");
    const bytes = await bytesOf("digits.model");
    const model = await load(bytes);
    let error;
    try { await load(bytes, { device: "gpu" }); } catch (e) { error = e.message; }
    return { onGpu: model.onGpu, note: model.note, error };
  }`);
  console.log(`without WebGPU: ${JSON.stringify(said)}`);
  expect(!said.onGpu && said.note?.includes("no GPU"), "auto says why it is the CPU");
  expect(said.error && !said.error.includes("\n"), "gpu is an error");
  const demo = await page.browser.page(`${server.url}/demo/index.html`);
  await demo.until("() => !document.getElementById('gpu-note').hidden", "the word on WebGPU");
  const note = await demo.run("() => document.getElementById('gpu-note').textContent");
  console.log(`  ${note}`);
  expect(note.includes("on the CPU"), "the page says what to do without WebGPU");
  expect(await demo.run("() => figures.predictions > 0"), "the page predicts without WebGPU");
  await writeFile(join(pictures, "no-webgpu.png"), await demo.picture());
}
