/**
 * The last part of `npm test`: the checks beside the tests, since the tests wait for processes and leases a quarter of the time.
 * Arguments are passed to Vitest.
 */
import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";

const CHECKS = ["check", "check:package"];

/** The type checkers, programs in Go, divide their work by cores and do some of it twice. The tests use the other cores. */
const ONE_CORE = { GOMAXPROCS: "1" };

interface Ended {
  readonly name: string;
  readonly isPassed: boolean;
  readonly output: string;
}

async function runCheck(name: string): Promise<Ended> {
  // One stream, so that the lines keep their order.
  const child = spawn("sh", ["-c", `npm run --silent ${name} 2>&1`], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, ...ONE_CORE },
  });
  const ended = exitCodeOf(child);
  const output = await text(child.stdout);
  return { name, isPassed: (await ended) === 0, output };
}

async function runChecks(): Promise<Ended[]> {
  const results: Ended[] = [];
  // One after the other, so that most of the machine is left to the tests.
  for (const name of CHECKS) results.push(await runCheck(name));
  return results;
}

function exitCodeOf(child: ReturnType<typeof spawn>): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve(code ?? 1));
  });
}

const projects = ["--project", "all", "--project", "on PostgreSQL"];
const tests = spawn("vitest", ["run", ...projects, ...process.argv.slice(2)], { stdio: "inherit" });
const [checks, testCode] = await Promise.all([runChecks(), exitCodeOf(tests)]);

for (const { name, isPassed, output } of checks)
  console.log(isPassed ? `npm run ${name}: passed` : `npm run ${name}: FAILED\n${output}`);
process.exitCode = testCode === 0 && checks.every(({ isPassed }) => isPassed) ? 0 : 1;
