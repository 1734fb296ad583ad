import type { FitOptions, LoadOptions, Model, Numbers } from "./native.js";

/** `Table` takes a .csv file once `start` is done; fits of it go step by step. */
export { Model, Table } from "./native.js";
export type {
  DeviceName,
  ErrorName,
  FitOptions,
  LoadOptions,
  Numbers,
  Outcome,
  Study,
  StudyOptions,
  Surface,
  Trial,
  TrialOptions,
} from "./native.js";

/**
 * Loads the WebAssembly, once; `load` and `fit` do so by themselves. `source` is where it is or its
 * bytes, where that is not beside this file.
 */
export function start(source?: string | URL | Request | Response | BufferSource): Promise<unknown>;

/** Reads a model file (its bytes) and loads it on a device. Rejects with one clear line. */
export function load(
  bytes: Uint8Array | ArrayBuffer,
  options?: LoadOptions,
): Promise<Model>;

/** Fits a small model: rows one after the other, of so many columns, and a target for each. */
export function fit(
  rows: Numbers,
  columns: number,
  targets: Numbers | string[],
  options?: FitOptions,
): Promise<Model>;
