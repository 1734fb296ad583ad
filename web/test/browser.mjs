// Chromium without a window, spoken to through a pipe; and a server of a folder.

import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { extname, join, normalize } from "node:path";

const TYPES = {
  ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".json": "application/json",
  ".wasm": "application/wasm",
};

/** Serves files of a folder on 127.0.0.1; browsers may keep them. */
export function serve(folder) {
  const server = createServer(async (request, response) => {
    if (request.url === "/favicon.ico") return response.writeHead(204).end();
    const path = normalize(decodeURIComponent(new URL(request.url, "http://x").pathname));
    try {
      const body = path === "/blank" ? "<!doctype html><title>blank</title>"
        : await readFile(join(folder, path));
      const type = path === "/blank" ? TYPES[".html"] : TYPES[extname(path)];
      response.writeHead(200, {
        "content-type": type ?? "application/octet-stream",
        "cache-control": "max-age=3600",
      });
      response.end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      resolve({ url: `http://127.0.0.1:${server.address().port}`, close: () => server.close() });
    });
  });
}

/** One Chromium. */
export class Browser {
  static async start(program, flags) {
    const browser = new Browser();
    browser.profile = await mkdtemp(join(tmpdir(), "bochner-web-"));
    const all = ["--headless", "--no-sandbox", "--disable-quic", "--no-first-run",
      "--disable-background-networking", "--disable-component-update", "--disable-sync",
      "--remote-debugging-pipe", `--user-data-dir=${browser.profile}`, ...flags];
    browser.process = spawn(program, all, { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
    browser.waiting = new Map();
    browser.heard = [];
    browser.number = 0;
    let rest = "";
    browser.process.stdio[4].on("data", (data) => {
      const parts = (rest + data).split("\0");
      rest = parts.pop();
      parts.forEach((part) => browser.hear(JSON.parse(part)));
    });
    browser.process.on("exit", () => {
      for (const { reject } of browser.waiting.values()) reject(new Error("the browser has ended"));
    });
    return browser;
  }

  hear(message) {
    const waiting = this.waiting.get(message.id);
    if (!waiting) {
      for (const listener of this.heard) listener(message);
      return;
    }
    this.waiting.delete(message.id);
    if (message.error) waiting.reject(new Error(message.error.message));
    else waiting.resolve(message.result);
  }

  send(method, params = {}, sessionId = undefined) {
    const id = ++this.number;
    this.process.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + "\0");
    return new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject }));
  }

  /** A tab; `scripts` run in it before anything of the page does. */
  async page(url, { scripts = [], width = 1000, height = 900, dark = false } = {}) {
    const { targetId } = await this.send("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await this.send("Target.attachToTarget", { targetId, flatten: true });
    const page = new Page(this, sessionId, targetId);
    this.heard.push((message) => message.sessionId === sessionId && page.hear(message));
    await page.send("Page.enable");
    await page.send("Runtime.enable");
    await page.send("Log.enable");
    for (const source of scripts) await page.send("Page.addScriptToEvaluateOnNewDocument", { source });
    await page.show({ width, height, dark });
    await page.go(url);
    return page;
  }

  async close() {
    await this.send("Browser.close").catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 300));
    this.process.kill();
    await rm(this.profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 });
  }
}

/** One tab. */
class Page {
  constructor(browser, sessionId, targetId) {
    Object.assign(this, { browser, sessionId, targetId, faults: [], loads: [] });
  }

  send(method, params) {
    return this.browser.send(method, params, this.sessionId);
  }

  hear({ method, params }) {
    if (method === "Page.loadEventFired") this.loads.splice(0).forEach((resolve) => resolve());
    if (method === "Runtime.exceptionThrown") {
      const { exception, text } = params.exceptionDetails;
      this.faults.push(exception?.description ?? text);
    }
    if (method === "Log.entryAdded" && params.entry.level === "error") {
      this.faults.push(`${params.entry.text} ${params.entry.url ?? ""}`);
    }
  }

  async go(url) {
    const loaded = new Promise((resolve) => this.loads.push(resolve));
    await this.send("Page.navigate", { url });
    await loaded;
  }

  show({ width, height, dark }) {
    return Promise.all([
      this.send("Emulation.setDeviceMetricsOverride", {
        width, height, deviceScaleFactor: 1, mobile: width < 500,
      }),
      this.send("Emulation.setEmulatedMedia", {
        features: [{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }],
      }),
    ]);
  }

  /** The value of a function, awaited, in the page. */
  async run(body, ...values) {
    const given = values.map((value) => JSON.stringify(value)).join(", ");
    const answer = await this.send("Runtime.evaluate", {
      expression: `(${body})(${given})`, awaitPromise: true, returnByValue: true,
    });
    const fault = answer.exceptionDetails;
    if (fault) throw new Error(fault.exception?.description ?? fault.text);
    return answer.result.value;
  }

  /** Waits until a function of the page is true; its value. What is slow is no fault. */
  async until(body, what, seconds = 180) {
    const end = Date.now() + 1000 * seconds;
    for (;;) {
      const value = await this.run(body);
      if (value) return value;
      if (Date.now() > end) throw new Error(`not within ${seconds} s: ${what}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async picture() {
    const { data } = await this.send("Page.captureScreenshot", {
      format: "png", captureBeyondViewport: true,
    });
    return Buffer.from(data, "base64");
  }

  close() {
    return this.browser.send("Target.closeTarget", { targetId: this.targetId });
  }
}
