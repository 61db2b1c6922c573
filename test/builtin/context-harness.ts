/** A runtime on a fresh store, calls that must succeed, and an embedding model with predictable vectors. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createRuntime,
  type Runtime,
  type RuntimeOptions,
  type Tool,
  type ToolwrightError,
} from "toolwright";
import { onTestFinished } from "vitest";
import type { StoreKind } from "../store-kinds.ts";

export interface ContextWorld {
  readonly address: string;
  readonly root: string;
  readonly runtime: Runtime;
  readonly open: (options?: RuntimeOptions) => Runtime;
  /** The output of a call that has to succeed. */
  readonly ok: <Args, Output>(tool: Tool<Args, Output>, args: Args, runtime?: Runtime) => Promise<Output>;
  /** The error of a call that has to fail. */
  readonly failed: <Args>(tool: Tool<Args>, args: Args) => Promise<ToolwrightError>;
}

export async function createContextWorld(
  kind: StoreKind,
  options: RuntimeOptions = {},
): Promise<ContextWorld> {
  const store = await kind.fresh();
  const root = mkdtempSync(join(tmpdir(), "toolwright-context-"));
  const runtimes: Runtime[] = [];
  const open = (more: RuntimeOptions = {}): Runtime => {
    const runtime = createRuntime({ store: store.address, rootDir: root, ...options, ...more });
    runtimes.push(runtime);
    return runtime;
  };
  onTestFinished(async () => {
    for (const runtime of runtimes) await runtime[Symbol.asyncDispose]();
    await store[Symbol.asyncDispose]();
    rmSync(root, { recursive: true, force: true });
  });
  const first = open();
  return {
    address: store.address,
    root,
    runtime: first,
    open,
    async ok(tool, args, runtime = first) {
      const outcome = await runtime.call(tool, args);
      if (outcome.status !== "success") throw outcome.status === "error" ? outcome.error : new Error("waits");
      return outcome.output;
    },
    async failed(tool, args) {
      const outcome = await first.call(tool, args);
      if (outcome.status !== "error") throw new Error(`it is a ${outcome.status}`);
      return outcome.error;
    },
  };
}

/** One dimension for each list of synonyms. */
const MEANINGS = [
  ["car", "automobile", "vehicle"],
  ["fruit", "apple", "pear"],
  ["money", "revenue", "income"],
];

export interface FakeEmbeddingModel {
  readonly provider: string;
  readonly modelId: string;
  readonly maxEmbeddingsPerCall: number;
  /** The texts of each request. */
  readonly requests: string[][];
  isDown: boolean;
  doEmbed(options: { values: string[] }): Promise<{ embeddings: number[][] }>;
}

export function createEmbeddingModel(modelId = "fake-1"): FakeEmbeddingModel {
  const model: FakeEmbeddingModel = {
    provider: "fake",
    modelId,
    maxEmbeddingsPerCall: 3,
    requests: [],
    isDown: false,
    async doEmbed({ values }) {
      if (model.isDown) throw new Error("the model is down");
      model.requests.push(values);
      return {
        embeddings: values.map((text) => [
          ...MEANINGS.map((words) => words.filter((word) => text.toLowerCase().includes(word)).length),
          0.1,
        ]),
      };
    },
  };
  return model;
}
