/** Runs a worker until a signal arrives, or with --once until nothing is ready. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { listen } from "../http/listen.ts";
import { absoluteAddress, withoutPassword } from "../operate/store-address.ts";
import { createRuntime } from "../runtime/create-runtime.ts";
import { reserveStdout } from "../terminal/reserve-stdout.ts";
import { stopOnSignals } from "../terminal/stop-on-signals.ts";
import { createWorker, type Worker } from "../worker/create-worker.ts";
import { CliError } from "./cli-error.ts";
import { EXIT } from "./command.ts";
import type { WorkerCommandOptions } from "./commands/worker.ts";
import { runtimeOptionsOf } from "./load-config.ts";
import { parseLabels } from "./parse-labels.ts";
import { loadSettingsFor } from "./project-settings.ts";
import type { Screen } from "./screen.ts";
import { servedWorkflows } from "./served-workflows.ts";
import { surviveUnhandledErrors } from "./survive-errors.ts";

const DEFAULT_DRAIN_MS = 30_000;

export async function runWorker(screen: Screen, options: WorkerCommandOptions): Promise<number> {
  const config = await loadSettingsFor(screen);
  const workflows = servedWorkflows(config);
  const { programs, agents } = config ?? {};
  if (Object.keys({ ...workflows, ...programs, ...agents }).length === 0)
    throw new CliError(
      "CLI_CONFIG_INVALID",
      "There is nothing for a worker to run: no workflows, agents or programs are named.",
      'Name them in toolwright.config.ts: export default { workflows: { order: "./order.tsx" } };',
    );
  surviveUnhandledErrors("a run");
  const restore = screen.isJson ? reserveStdout() : () => undefined;
  const { drainMs = DEFAULT_DRAIN_MS } = options;
  using stop = stopOnSignals({
    onFirst: (name) => screen.warn(`${name}: draining. Send it again to exit immediately.`),
    onOverdue: () => screen.warn("a run did not stop in time; exiting. Another worker takes it over."),
    exitCode: () => EXIT.failed,
    graceMs: drainMs + 10_000,
  });
  const store = absoluteAddress(options.store);
  await using runtime = createRuntime({ ...runtimeOptionsOf(config), store });
  const worker = createWorker({
    runtime,
    workflows,
    agents,
    programs,
    concurrency: options.concurrency,
    leaseMs: options.leaseMs,
    drainMs,
    build: options.build,
    labels: parseLabels(options.label),
    sharedRoot: options.sharedRoot,
  });
  const stopped = new Promise<void>((done) => {
    if (stop.signal.aborted) done();
    stop.signal.addEventListener("abort", () => done());
  });
  const health =
    options.healthPort === undefined ? undefined : await answerHealth(worker, options.healthPort);
  try {
    await worker.start();
    const names = Object.keys({ ...workflows, ...programs, ...agents });
    if (options.once !== true)
      screen.print(
        `Worker on ${withoutPassword(options.store)} serves ${names.join(", ")}.${health === undefined ? "" : ` Health: ${health.url}`}`,
      );
    await (options.once === true ? Promise.race([worker.idle(), stopped]) : stopped);
    await worker.drain();
  } finally {
    health?.server.close();
    health?.server.closeAllConnections();
    restore();
  }
  const { claimed } = worker.status();
  screen.printJson({ claimed });
  if (options.once === true) screen.print(`${claimed} ${claimed === 1 ? "run" : "runs"} taken.`);
  return EXIT.finished;
}

/** `/healthz`: the process answers. `/readyz`: it takes runs, and its database works. */
async function answerHealth(
  worker: Worker,
  port: number,
): Promise<{ readonly server: Server; readonly url: string }> {
  const server = createServer((request, response) => {
    const status = worker.status();
    const isReady = status.state === "active" && status.lastError === null;
    const isKnown = request.url === "/healthz" || request.url === "/readyz";
    const code = !isKnown ? 404 : request.url === "/readyz" && !isReady ? 503 : 200;
    response.writeHead(code, { "content-type": "application/json", "cache-control": "no-store" });
    // The port has no token, and probes reach it over the network: no ids, names or messages.
    const { state, concurrency, running, claimed } = status;
    const shown = { ready: isReady, state, concurrency, running: running.length, claimed };
    response.end(JSON.stringify(isKnown ? shown : { error: "not found" }));
  });
  await listen(server, { surface: "worker --health-port", port });
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/healthz` };
}
