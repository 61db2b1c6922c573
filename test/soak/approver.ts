/** Answers every request for approval, as an operator does who looks at the ledger first. */
import { setTimeout as sleep } from "node:timers/promises";
import type { ApprovalRequest, Runtime } from "../../src/index.ts";
import type { Ledger } from "./ledger.ts";
import { TOKEN } from "./programs/soak-process.ts";
import type { Slot } from "./slot.ts";
import type { Tally } from "./tally.ts";

const LOOK_MS = 150;

export interface ApproverOptions {
  readonly runtime: Runtime;
  readonly server: Slot;
  readonly ledger: Ledger;
  readonly tally: Tally;
}

type Decision =
  | { approved: boolean }
  | { resolution: "happened"; output: object }
  | { resolution: "run-again" };

export class Approver {
  readonly #options: ApproverOptions;
  /** Requests that it has answered, or tried to. */
  readonly answered = new Set<string>();
  readonly #over = new AbortController();
  #running: Promise<void> | undefined;
  #isByServer = false;

  constructor(options: ApproverOptions) {
    this.#options = options;
  }

  start(): void {
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#over.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { runtime, tally } = this.#options;
    while (!this.#over.signal.aborted) {
      try {
        for (const request of await runtime.approvals({ status: "pending" })) await this.#answer(request);
      } catch (error) {
        // The database is down, or the server was killed. The request is listed again.
        tally.trace(`approver: ${String(error).slice(0, 300)}`);
      }
      await sleep(LOOK_MS, undefined, { signal: this.#over.signal }).catch(() => undefined);
    }
  }

  async #answer(request: ApprovalRequest): Promise<void> {
    const { runtime, tally } = this.#options;
    const decision = this.#decide(request);
    tally.trace(`decision about ${JSON.stringify(request.args)}: ${JSON.stringify(decision)}`);
    tally.count("decisions");
    this.answered.add(request.id);
    this.#isByServer = !this.#isByServer;
    const url = this.#isByServer ? await this.#serverUrl() : undefined;
    if (url === undefined) await runtime.resolveToolApproval(request.id, decision);
    else await decideOverHttp(url, request, decision);
  }

  #decide({ kind, args }: ApprovalRequest): Decision {
    const { sku } = args as { sku: string };
    if (kind !== "replay") return { approved: !sku.endsWith(".deny") };
    const [order] = this.#options.ledger.ordersOf(sku);
    return order === undefined ? { resolution: "run-again" } : { resolution: "happened", output: order };
  }

  /** Does not wait for one that starts. */
  #serverUrl(): Promise<string | undefined> {
    return Promise.race([this.#options.server.url(), sleep(50, undefined)]);
  }
}

async function decideOverHttp(
  url: string,
  { id, argsHash }: ApprovalRequest,
  decision: Decision,
): Promise<void> {
  const response = await fetch(`${url}/api/v1/approvals/${id}/decision`, {
    method: "POST",
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
    body: JSON.stringify({ ...decision, argsHash }),
    signal: AbortSignal.timeout(5_000),
  });
  if (!response.ok) throw new Error(`the server answered ${response.status}: ${await response.text()}`);
}
