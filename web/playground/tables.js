// Tables that are there: one of a file, and three that are made, of which the truth is known.

/** Numbers from 0 to 1, the same on every machine (Park & Miller 1988). */
function uniform(seed) {
  let state = seed;
  return () => (state = (state * 48271) % 2147483647) / 2147483647;
}

/** Normal numbers (Box & Muller 1958). */
function normal(draw) {
  return () => Math.sqrt(-2 * Math.log(draw())) * Math.cos(2 * Math.PI * draw());
}

function text(names, rows, row) {
  const lines = [names.join(",")];
  for (let i = 0; i < rows; i++) lines.push(row(i).join(","));
  return new TextEncoder().encode(`${lines.join("\n")}\n`);
}

/** 10 sin(pi x1 x2) + 20 (x3 - 1/2)^2 + 10 x4 + 5 x5, and columns of noise (Friedman 1991). */
function friedman(rows, columns) {
  const draw = uniform(7);
  const noise = normal(uniform(11));
  const names = [...Array(columns).keys()].map((j) => `x${j + 1}`);
  return text([...names, "y"], rows, () => {
    const x = names.map(draw);
    const y = 10 * Math.sin(Math.PI * x[0] * x[1]) + 20 * (x[2] - 0.5) ** 2 + 10 * x[3] + 5 * x[4];
    return [...x.map((v) => v.toFixed(4)), (y + noise()).toFixed(3)];
  });
}

/** Two spirals that wind about each other. */
function spirals(rows) {
  const draw = uniform(3);
  const noise = normal(uniform(5));
  return text(["across", "up", "arm"], rows, (i) => {
    const turn = 1 + 3 * Math.PI * Math.sqrt(draw());
    const angle = turn + (i % 2) * Math.PI;
    const [x, y] = [Math.cos(angle), Math.sin(angle)].map((v) => turn * v + 0.25 * noise());
    return [x.toFixed(4), y.toFixed(4), i % 2 ? "left" : "right"];
  });
}

/** Rents with words, gaps and a long tail. */
function rents(rows) {
  const draw = uniform(17);
  const noise = normal(uniform(19));
  const districts = ["harbour", "hill", "market", "mill", "station"];
  const of = { harbour: 1.5, hill: 1.25, market: 1.35, mill: 0.9, station: 1 };
  return text(["area", "floor", "built", "district", "rent"], rows, () => {
    const area = 20 + 130 * draw() ** 2;
    const floor = Math.floor(7 * draw());
    const built = 1890 + Math.floor(134 * draw());
    const district = districts[Math.floor(districts.length * draw())];
    const age = 1 - 0.25 * Math.sin(((built - 1890) / 134) * Math.PI);
    const rent = 9 * area ** 0.9 * of[district] * age * (1 + 0.02 * floor) * Math.exp(0.08 * noise());
    return [area.toFixed(1), draw() < 0.04 ? "" : floor, built, district, rent.toFixed(0)];
  });
}

const EXAMPLES = {
  friedman: { name: "friedman.csv", target: "y", of: () => friedman(10000, 20) },
  many: { name: "friedman-100000.csv", target: "y", of: () => friedman(100000, 20) },
  spirals: { name: "spirals.csv", target: "arm", of: () => spirals(4000) },
  rents: { name: "rents.csv", target: "rent", of: () => rents(6000) },
  digits: { name: "digits.csv", target: "label" },
};

/** A table by its key: its name, its target and its bytes. */
export async function make(key) {
  const { name, target, of } = EXAMPLES[key];
  if (of) return { name, target, bytes: of() };
  const answer = await fetch(name);
  if (!answer.ok) throw new Error(`${name}: the server says ${answer.status}`);
  return { name, target, bytes: new Uint8Array(await answer.arrayBuffer()) };
}
