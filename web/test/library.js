// What the tests do with the package, in the page.

import { fit, load, start } from "/bochner/index.js";

export { fit, load };

const fetched = async (name) => (await fetch(name)).arrayBuffer();
export const bytesOf = async (name) => new Uint8Array(await fetched(`/models/${name}`));
export const floatsOf = async (name) => new Float64Array(await fetched(`/models/${name}`));

/** The tensors of a model file: name, type and place; and the text of its header. */
export function tensors(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const length = Number(view.getBigUint64(0, true));
  const text = new TextDecoder().decode(bytes.subarray(8, 8 + length));
  const entries = Object.entries(JSON.parse(text)).filter(([name]) => name !== "__metadata__");
  return entries.map(([name, { dtype, shape, data_offsets: [from, to] }]) => ({
    name, dtype, shape, from: 8 + length + from, to: 8 + length + to,
  }));
}

const named = (bytes, name) => tensors(bytes).find((tensor) => tensor.name === name);

function values(bytes, { from, to }) {
  return new Float64Array(bytes.slice(from, to).buffer);
}

const worst = (a, b) => {
  if (a.length !== b.length) return Infinity;
  // NaN is no number that is small enough.
  let most = 0;
  for (let i = 0; i < a.length; i++) {
    const off = Math.abs(a[i] - b[i]);
    if (!(off <= most)) most = off;
  }
  return most;
};

/** One model on one device: how far its outputs are off, in bounds. */
export async function check(entry, device) {
  await start();
  const [bytes, x, expected] = await Promise.all([
    bytesOf(`${entry.name}.model`), floatsOf(`${entry.name}.rows`), floatsOf(`${entry.name}.scores`),
  ]);
  const model = await load(bytes, { device });
  try {
    const scores = await model.scores(x, entry.columns);
    const predicted = [...(await model.predict(x, entry.columns))];
    const labels = predicted.filter((label, i) => label === entry.predicted[i]).length;
    const parts = { bad: undefined, features: undefined };
    // One row at a time, and a few: other shaders and other tiles.
    let alone = 0;
    for (const rows of [1, 3, 17]) {
      const few = await model.scores(x.subarray(0, rows * entry.columns), entry.columns);
      alone = Math.max(alone, worst(few, expected.subarray(0, rows * entry.outputs)));
    }
    const [beta, intercept] = [named(bytes, "coefficients"), named(bytes, "intercept")];
    if (entry.formula) {
      const z = await model.featurize(x.subarray(0, 20 * entry.columns), entry.columns);
      const [b, c, t] = [values(bytes, beta), values(bytes, intercept), entry.outputs];
      const outputs = new Float64Array(20 * t);
      for (let i = 0; i < 20; i++) {
        for (let k = 0; k < t; k++) {
          let sum = c[k];
          for (let j = 0; j < model.features; j++) sum += z[i * model.features + j] * b[j * t + k];
          outputs[i * t + k] = sum;
        }
      }
      parts.features = worst(outputs, expected.subarray(0, 20 * t)) / entry.bound;
    }
    return {
      ...parts, device: model.device, onGpu: model.onGpu, note: model.note, labels,
      off: worst(scores, expected) / entry.bound, alone: alone / entry.bound,
    };
  } finally {
    model.free();
  }
}

/** The negative control: with one of its coefficients changed, the outputs must be off. */
export async function spoilt(entry, device) {
  const [bytes, x, expected] = await Promise.all([
    bytesOf(`${entry.name}.model`), floatsOf(`${entry.name}.rows`), floatsOf(`${entry.name}.scores`),
  ]);
  const { from } = named(bytes, "coefficients");
  const beta = values(bytes, named(bytes, "coefficients"));
  const largest = beta.reduce((best, b, j) => (Math.abs(b) > Math.abs(beta[best]) ? j : best), 0);
  new DataView(bytes.buffer).setFloat64(from + 8 * largest, 1.03 * beta[largest], true);
  const model = await load(bytes, { device });
  try {
    return worst(await model.scores(x, entry.columns), expected) / entry.bound;
  } finally {
    model.free();
  }
}

/** The fit that was done natively, once more here: drawn tensors that differ, and labels. */
export async function refit(entry, plan) {
  const x = (await floatsOf("digits.rows")).subarray(0, entry.columns * plan.labels.length);
  const options = { ...plan, classify: true, device: "cpu" };
  const begun = performance.now();
  const model = await fit(x, entry.columns, plan.labels, options);
  const seconds = (performance.now() - begun) / 1000;
  const [here, there] = [model.toBytes(), await bytesOf("fit.model")];
  const drawn = tensors(there).filter(({ name }) => !["coefficients", "intercept", "facts"].includes(name));
  const differ = drawn.filter(({ name, from, to }) => {
    const own = named(here, name);
    return !own || own.to - own.from !== to - from ||
      here.subarray(own.from, own.to).some((byte, i) => byte !== there[from + i]);
  });
  const predicted = await model.predict(x, entry.columns);
  const native = await load(there, { device: "cpu" });
  const expected = await native.predict(x, entry.columns);
  const same = predicted.filter((label, i) => label === expected[i]).length;
  const words = await fit(x, entry.columns, plan.labels.map((l) => `digit ${l}`), options);
  const label = (await words.predict(x.subarray(0, entry.columns), entry.columns))[0];
  [model, native, words].forEach((one) => one.free());
  return {
    drawn: drawn.map(({ name }) => name), differ: differ.map(({ name }) => name), same, seconds, label,
  };
}

/** What bad input says. */
export async function refused(entry) {
  const bytes = await bytesOf(`${entry.name}.model`);
  const x = await floatsOf(`${entry.name}.rows`);
  const model = await load(bytes, { device: "cpu" });
  const said = {};
  const tried = async (what, work) => {
    try {
      await work();
      said[what] = "nothing";
    } catch (error) {
      said[what] = `${error.name}: ${error.message}`;
    }
  };
  const newer = new TextDecoder("latin1").decode(bytes).replace(
    /(format_version\\?":\\?")1/, "$19");
  const withNan = x.slice(0, 2 * entry.columns);
  withNan[entry.columns + 3] = NaN;
  await tried("truncated", () => load(bytes.subarray(0, bytes.length - 100)));
  await tried("cut short", () => load(bytes.subarray(0, 5)));
  await tried("empty", () => load(new Uint8Array(0)));
  await tried("newer", () => load(Uint8Array.from(newer, (c) => c.charCodeAt(0))));
  await tried("columns", () => model.predict(x.subarray(0, 30), 30));
  await tried("part of a row", () => model.predict(x.subarray(0, 30), entry.columns));
  await tried("NaN", () => model.predict(withNan, entry.columns));
  await tried("no numbers", () => model.predict("rows", entry.columns));
  await tried("device", () => load(bytes, { device: "abacus" }));
  await tried("csv", () => model.predictCsv("a.csv", new TextEncoder().encode("a,b\n1,2\n")));
  await tried("fit", () => fit(x.subarray(0, 64), 64, [1, 2], {}));
  await tried("options", () => fit(x.subarray(0, 128), 64, [1, 2], { features: 0.5 }));
  said.after = (await model.predict(x.subarray(0, entry.columns), entry.columns))[0];
  model.free();
  return said;
}
