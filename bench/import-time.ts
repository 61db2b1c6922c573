/** The cost of importing the package root, against importing `zod` alone, each in a fresh process. */
import { execFileSync } from "node:child_process";
import type { Row } from "./bench.ts";
import { median } from "./measure.ts";

const REPEATS = 15;

export async function benchImport(): Promise<Row[]> {
  const times = { zod: [] as number[], toolwright: [] as number[] };
  for (let repeat = 0; repeat < REPEATS; repeat += 1) {
    for (const name of ["zod", "toolwright"] as const) times[name].push(importTime(name));
  }
  const [zod, root] = [median(times.zod), median(times.toolwright)];
  return [
    { what: "import zod", value: zod, unit: "ms", ratio: 1 },
    { what: "import toolwright", value: root, unit: "ms", ratio: root / zod, target: 1.6 },
  ];
}

function importTime(name: string): number {
  const program = `const t = performance.now(); await import("${name}"); console.log(performance.now() - t);`;
  return Number(execFileSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" }));
}
