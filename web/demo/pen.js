// Drawing with a mouse, a finger or keys, and the 8 x 8 counts of it that the digits data have.

const SIDE = 256;
const STEP = 16;

/** Strokes on a canvas; `changed` hears of every change. */
export class Pen {
  constructor(canvas, changed) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d", { willReadFrequently: true });
    this.changed = changed;
    this.strokes = [];
    this.keys = { x: SIDE / 2, y: SIDE / 2, down: false, shown: false };
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture?.(event.pointerId);
      this.keys.shown = false;
      this.begin(this.place(event));
    });
    canvas.addEventListener("pointermove", (event) => {
      if (event.buttons) this.extend(this.place(event));
    });
    canvas.addEventListener("keydown", (event) => this.key(event));
    canvas.addEventListener("blur", () => {
      this.keys.shown = false;
      this.draw();
    });
    this.draw();
  }

  place(event) {
    const box = this.canvas.getBoundingClientRect();
    return [
      ((event.clientX - box.left) * SIDE) / box.width,
      ((event.clientY - box.top) * SIDE) / box.height,
    ];
  }

  begin(point) {
    this.strokes.push([point]);
    this.draw();
    this.changed();
  }

  extend(point) {
    if (this.strokes.length === 0) this.strokes.push([]);
    this.strokes.at(-1).push(point);
    this.draw();
    this.changed();
  }

  clear() {
    this.strokes = [];
    this.keys.down = false;
    this.draw();
    this.changed();
  }

  key(event) {
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const keys = this.keys;
    if (event.key in moves) {
      const [x, y] = moves[event.key];
      keys.x = Math.min(SIDE, Math.max(0, keys.x + STEP * x));
      keys.y = Math.min(SIDE, Math.max(0, keys.y + STEP * y));
      keys.shown = true;
      if (keys.down) this.extend([keys.x, keys.y]);
    } else if (event.key === " ") {
      keys.down = !keys.down;
      keys.shown = true;
      if (keys.down) this.begin([keys.x, keys.y]);
    } else if (event.key === "Delete" || event.key === "Backspace") {
      this.clear();
    } else {
      return;
    }
    event.preventDefault();
    this.draw();
  }

  /** Shows the strokes with the next frame. */
  draw() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = undefined;
      this.paint();
    });
  }

  paint() {
    const { context, keys } = this;
    const style = getComputedStyle(this.canvas);
    context.clearRect(0, 0, SIDE, SIDE);
    trace(context, this.strokes, style.color, 22);
    if (keys.shown) {
      context.strokeStyle = keys.down ? "#d9730d" : "#888888";
      context.lineWidth = 3;
      context.beginPath();
      context.arc(keys.x, keys.y, 10, 0, 7);
      context.stroke();
    }
  }

  /**
   * The 64 columns of the digits data: a bitmap of 32 x 32 that the drawing fills, counted in blocks
   * of 4 x 4. `undefined` where nothing is drawn.
   */
  counts() {
    const points = this.strokes.flat();
    if (points.length === 0) return undefined;
    const xs = points.map((point) => point[0]);
    const ys = points.map((point) => point[1]);
    const [left, right] = [Math.min(...xs), Math.max(...xs)];
    const [top, bottom] = [Math.min(...ys), Math.max(...ys)];
    // A dot stays small.
    const scale = 24 / Math.max(bottom - top, right - left, SIDE / 4);
    const [cx, cy] = [(left + right) / 2, (top + bottom) / 2];
    const fit = ([x, y]) => [16 + (x - cx) * scale, 16 + (y - cy) * scale];
    small.clearRect(0, 0, 32, 32);
    trace(small, this.strokes.map((stroke) => stroke.map(fit)), "#000000", 5.2);
    const pixels = small.getImageData(0, 0, 32, 32).data;
    const counts = new Float64Array(64);
    for (let y = 0; y < 32; y++) {
      for (let x = 0; x < 32; x++) {
        if (pixels[4 * (32 * y + x) + 3] > 127) counts[8 * (y >> 2) + (x >> 2)] += 1;
      }
    }
    return counts;
  }
}

const small = Object.assign(document.createElement("canvas"), { width: 32, height: 32 })
  .getContext("2d", { willReadFrequently: true });

function trace(context, strokes, color, width) {
  Object.assign(context, { strokeStyle: color, lineWidth: width, lineCap: "round", lineJoin: "round" });
  for (const stroke of strokes) {
    context.beginPath();
    stroke.forEach(([x, y], i) => (i === 0 ? context.moveTo(x, y) : context.lineTo(x, y)));
    const [x, y] = stroke[0];
    if (stroke.length === 1) context.lineTo(x + 0.01, y);
    context.stroke();
  }
}
