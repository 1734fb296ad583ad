// bochner in a browser: `const model = await load(bytes); await model.predict(rows, columns)`.

import init, * as native from "./native.js";

export { Model, Table } from "./native.js";

let started;

/**
 * Loads the WebAssembly, once; `load` and `fit` do so by themselves. `source` is where it is or its
 * bytes, where that is not beside this file. One that failed may be tried again.
 */
export function start(source) {
  started ??= init(source === undefined ? undefined : { module_or_path: source }).catch((error) => {
    started = undefined;
    throw error;
  });
  return started;
}

/** Reads a model file (its bytes) and loads it on a device. */
export async function load(bytes, options) {
  await start();
  return native.load(new Uint8Array(bytes), options);
}

/** Fits a small model: rows one after the other, of so many columns, and a target for each. */
export async function fit(rows, columns, targets, options) {
  await start();
  return native.fit(rows, columns, targets, options);
}
