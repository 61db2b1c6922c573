/** Rewrites the inventory of tools. If the model fails, the existing inventory is kept. */
import { ToolwrightError } from "../../errors.ts";
import { messageOf } from "../../invoke/error-record.ts";
import { CAPABILITIES_FILE, readCapabilities, writeCapabilities } from "../../runtime/capabilities-file.ts";
import { cleanLine } from "../../terminal/clean-text.ts";
import { summarise } from "./fixed-summary.ts";
import type { InventoryTool } from "./inventory.ts";
import { summariseByModel } from "./model-summary.ts";

export interface RefreshRequest {
  readonly rootDir: string;
  readonly tools: readonly InventoryTool[];
  /** Without a model, the fixed summary is written. */
  readonly model: unknown;
  readonly signal?: AbortSignal | undefined;
}

export interface Refreshed {
  readonly path: string;
  readonly written_by: "model" | "fixed_summary";
  readonly tools: number;
  readonly changed: boolean;
  readonly note?: string;
}

/** @throws TOOL_EXECUTION_FAILED if the model fails and an inventory exists */
export async function refreshCapabilities(request: RefreshRequest): Promise<Refreshed> {
  const { rootDir, tools, model } = request;
  const { body, by, note } = model === undefined ? fixed(tools) : await byModel(request);
  const { changed } = await writeCapabilities(rootDir, body);
  return {
    path: CAPABILITIES_FILE,
    written_by: by,
    tools: tools.length,
    changed,
    ...(note === undefined ? {} : { note }),
  };
}

interface Written {
  readonly body: string;
  readonly by: Refreshed["written_by"];
  readonly note?: string;
}

function fixed(tools: readonly InventoryTool[]): Written {
  return { body: summarise(tools), by: "fixed_summary" };
}

async function byModel({ rootDir, tools, model, signal }: RefreshRequest): Promise<Written> {
  try {
    return { body: await summariseByModel(model, tools, signal), by: "model" };
  } catch (error) {
    signal?.throwIfAborted();
    const reason = cleanLine(messageOf(error));
    if ((await readCapabilities(rootDir)) === undefined) {
      const note = `The model failed, so this is the fixed summary: ${reason}`;
      return { ...fixed(tools), note };
    }
    throw new ToolwrightError(
      "TOOL_EXECUTION_FAILED",
      `The model failed, so ${CAPABILITIES_FILE} was not changed: ${reason}`,
      {
        hint: ToolwrightError.is(error)
          ? error.hint
          : "Try again later. The existing inventory stays in use.",
        effect: "none",
        retryable: true,
        cause: error,
      },
    );
  }
}
