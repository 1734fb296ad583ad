// The page clicked through.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Keeps the devices that the page opens, so that they can be lost. */
const KEEP = `
  window.opened = [];
  if (window.GPUAdapter) {
    const open = GPUAdapter.prototype.requestDevice;
    GPUAdapter.prototype.requestDevice = async function (...given) {
      const device = await open.apply(this, given);
      window.opened.push(device);
      return device;
    };
  }`;

/** What is drawn: a seven, in the canvas' own pixels. */
const SEVEN = [[70, 50], [125, 50], [185, 50], [165, 100], [145, 145], [125, 210]];

export async function page({ browser, url, models, pictures, expect }) {
  const save = async (tab, name) => writeFile(join(pictures, `${name}.png`), await tab.picture());
  const text = (tab, id) => tab.run("(id) => document.getElementById(id).textContent", id);
  const until = (tab, body, what) => tab.until(body, what);

  // Once to fill the cache, once to measure.
  const first = await browser.page(url);
  await until(first, "() => figures.first !== undefined", "a first prediction");
  await first.close();
  const tab = await browser.page(url, { scripts: [KEEP] });
  const opened = await until(tab, "() => figures.first", "a first prediction");
  console.log(`first prediction ${opened.toFixed(0)} ms after opening the page from the cache`);
  expect(opened < 2000, `first prediction within 2 s (${opened})`);
  await until(tab, "() => figures.gpu !== undefined", "a prediction on WebGPU");
  await save(tab, "light");

  // A mouse, at its own pace.
  const box = await tab.run(`() => {
    const { left, top, width } = document.getElementById("canvas").getBoundingClientRect();
    return { left, top, scale: width / 256 };
  }`);
  const place = ([x, y]) => ({ x: box.left + x * box.scale, y: box.top + y * box.scale });
  const mouse = (type, point) => tab.send("Input.dispatchMouseEvent", {
    type, ...place(point), button: "left", buttons: type === "mouseReleased" ? 0 : 1, clickCount: 1,
  });
  await mouse("mousePressed", SEVEN[0]);
  for (let i = 1; i < SEVEN.length; i++) {
    for (let part = 1; part <= 8; part++) {
      const between = (k) => SEVEN[i - 1][k] + ((SEVEN[i][k] - SEVEN[i - 1][k]) * part) / 8;
      await mouse("mouseMoved", [between(0), between(1)]);
    }
  }
  await mouse("mouseReleased", SEVEN.at(-1));
  await until(tab, "() => document.getElementById('class').textContent === '7'", "a seven drawn");
  const bars = await tab.run(`() => [...document.querySelectorAll("#scores tr")].map((row) => ({
    label: row.cells[0].textContent, best: row.classList.contains("best"),
    width: row.querySelector(".bar").getBoundingClientRect().width }))`);
  expect(bars.length === 10 && bars.filter((bar) => bar.best).length === 1 && bars[7].best,
    "ten bars, the seventh the best");
  expect(bars.every((bar) => bar.width <= bars[7].width), "the longest bar is the best");
  expect(bars.filter((bar) => bar.width > 3).length > 1, "the other bars are seen, too");
  await save(tab, "seven");

  // How many predictions a second while something moves all the time, and how many frames.
  const rate = await tab.run(`async () => {
    const canvas = document.getElementById("canvas");
    // Such events are of no pointer that could be held.
    canvas.setPointerCapture = () => {};
    const { left, top } = canvas.getBoundingClientRect();
    const channel = new MessageChannel();
    const next = () => new Promise((resolve) => {
      channel.port1.onmessage = resolve;
      channel.port2.postMessage(0);
    });
    const move = (i) => canvas.dispatchEvent(new PointerEvent(i ? "pointermove" : "pointerdown", {
      clientX: left + 128 + 80 * Math.cos(i / 40), clientY: top + 128 + 90 * Math.sin(i / 40),
      buttons: 1, bubbles: true }));
    document.getElementById("clear").click();
    let frames = 0;
    const frame = () => { frames += 1; requested = requestAnimationFrame(frame); };
    let requested = requestAnimationFrame(frame);
    const [start, before] = [performance.now(), figures.predictions];
    for (let i = 0; performance.now() - start < 3000; i++) {
      move(i % 250);
      await next();
    }
    const seconds = (performance.now() - start) / 1000;
    delete canvas.setPointerCapture;
    cancelAnimationFrame(requested);
    return { rate: (figures.predictions - before) / seconds, frames: frames / seconds,
      cpu: figures.cpu, gpu: figures.gpu };
  }`);
  console.log(`${rate.rate.toFixed(0)} predictions and ${rate.frames.toFixed(0)} frames a second ` +
    "while drawing, " +
    `${rate.cpu.toFixed(2)} ms on the CPU, ${rate.gpu.toFixed(2)} ms on WebGPU`);
  // A slow machine has fewer frames, too.
  const least = Math.min(60, rate.frames);
  expect(rate.rate >= least, `${least} predictions a second while drawing (${rate.rate})`);

  // Clearing, and keys: a one from top to bottom.
  await tab.run("() => document.getElementById('clear').click()");
  await until(tab, "() => document.getElementById('class').textContent === '?'", "nothing drawn");
  await tab.run("() => document.getElementById('canvas').focus()");
  const key = async (key) => {
    const given = key === " " ? { text: " ", code: "Space" } : { code: key };
    await tab.send("Input.dispatchKeyEvent", { type: "keyDown", key, ...given });
    await tab.send("Input.dispatchKeyEvent", { type: "keyUp", key, code: given.code });
  };
  for (let i = 0; i < 5; i++) await key("ArrowUp");
  await key(" ");
  for (let i = 0; i < 10; i++) await key("ArrowDown");
  await until(tab, "() => document.getElementById('class').textContent === '1'", "a one by keys");
  await save(tab, "keys");
  await key("Delete");
  await until(tab, "() => document.getElementById('class').textContent === '?'", "cleared by a key");

  // A finger.
  const touch = (type, points) => tab.send("Input.dispatchTouchEvent", {
    type, touchPoints: points.map((point) => place(point)),
  });
  const before = await tab.run("() => figures.predictions");
  await touch("touchStart", [SEVEN[0]]);
  for (const point of SEVEN) await touch("touchMove", [point]);
  await touch("touchEnd", []);
  await until(tab, `() => figures.predictions > ${before}`, "a finger draws");
  await until(tab, "() => document.getElementById('class').textContent === '7'", "a seven again");

  await files(tab, { models, until, text, expect, save });

  // The device is lost: a word, and both go on.
  const count = await tab.run(`() => {
    opened.forEach((device) => device.destroy());
    figures.gpu = undefined;
    return opened.length;
  }`);
  await mouse("mousePressed", [100, 100]);
  await mouse("mouseMoved", [120, 140]);
  await mouse("mouseReleased", [120, 140]);
  await until(tab, "() => document.getElementById('status').textContent.includes('lost')", "a word");
  console.log(`lost device: ${await text(tab, "status")}`);
  await until(tab, `() => opened.length > ${count} && figures.gpu !== undefined`, "opened again");
  const more = await tab.run("() => figures.predictions");
  await mouse("mousePressed", [90, 90]);
  await mouse("mouseReleased", [90, 90]);
  await until(tab, `() => figures.predictions > ${more}`, "the CPU goes on");
  const own = await text(tab, "gpu-time");
  expect(/ms/.test(own), `WebGPU goes on after a loss: ${own}`);
  expect(tab.faults.length === 0, `nothing was thrown in the page: ${tab.faults}`);
  await tab.close();

  for (const [name, look] of [
    ["dark", { dark: true }], ["narrow", { width: 380, height: 800 }],
    ["narrow-dark", { width: 380, height: 800, dark: true }],
  ]) {
    const other = await browser.page(url, look);
    await until(other, "() => figures.gpu !== undefined", "a prediction");
    const wide = await other.run("() => document.documentElement.scrollWidth - innerWidth");
    expect(wide <= 0, `${name}: nothing is wider than the window (${wide})`);
    await save(other, name);
    await other.close();
  }
}

/** Models and tables of one's own, good and bad. */
async function files(tab, { models, until, text, expect, save }) {
  const give = async (id, name, bytes) => {
    await tab.run(`(id, name, text) => {
      const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
      const list = new DataTransfer();
      list.items.add(new File([bytes], name));
      document.getElementById("own-status").textContent = "waiting";
      if (id === "drop") {
        document.dispatchEvent(new DragEvent("drop", { dataTransfer: list, bubbles: true }));
        return;
      }
      const input = document.getElementById(id);
      input.files = list.files;
      input.dispatchEvent(new Event("change"));
    }`, id, name, Buffer.from(bytes).toString("base64"));
    await until(tab, "() => document.getElementById('own-status').textContent !== 'waiting'", name);
    return text(tab, "own-status");
  };
  const words = await readFile(join(models, "words.model"));
  const list = JSON.parse(await readFile(join(models, "manifest.json"), "utf8"));
  const expected = list.models.find(({ name }) => name === "words").predicted;
  // The bytes of a small file lie somewhere in a pool.
  const raw = Uint8Array.from(await readFile(join(models, "words.rows")));
  const rows = new Float64Array(raw.buffer);
  const lines = expected.map((_, i) => [...rows.subarray(64 * i, 64 * i + 64)].join(","));
  // Without names of columns, for the model has none.
  const table = `${lines.join("\n")}\n`;

  const said = {};
  said.model = await give("model-file", "words.model", words);
  expect(said.model.includes("64 columns, 10 classes"), `a model is taken: ${said.model}`);
  said.data = await give("drop", "new.csv", Buffer.from(table));
  expect(said.data.includes(`${expected.length} predictions`), `a table is taken: ${said.data}`);
  const back = await tab.run(
    "async () => (await fetch(document.getElementById('download').href)).text()");
  expect(back.trimEnd().split("\n").slice(1).join() === expected.join(), "predictions as native ones");
  await save(tab, "own");

  const newer = Buffer.from(words.toString("latin1").replace(/(format_version\\?":\\?")1/, "$19"),
    "latin1");
  const bad = {
    truncated: ["model-file", "a.model", words.subarray(0, 5000), "truncated"],
    newer: ["drop", "b.model", newer, "newer"],
    columns: ["data-file", "c.csv", Buffer.from("a,b\n1,2\n"), "column"],
    NaN: ["drop", "d.csv", Buffer.from(table.replace("\n0,", "\nnan,")), "d.csv"],
    words: ["data-file", "e.csv", Buffer.from(table.replace("\n0,", "\nseven,")), "e.csv"],
    empty: ["data-file", "f.csv", Buffer.from(""), "f.csv"],
  };
  for (const [what, [id, name, bytes, word]] of Object.entries(bad)) {
    said[what] = await give(id, name, bytes);
    const fault = await tab.run("() => document.getElementById('own-status').className === 'fault'");
    expect(fault && said[what].includes(word), `${what}: a clear word, not ${said[what]}`);
  }
  const again = await give("data-file", "new.csv", Buffer.from(table));
  expect(again.includes(`${expected.length} predictions`), `the page goes on: ${again}`);
  console.log(`files: ${JSON.stringify(said, null, 1)}`);
}
