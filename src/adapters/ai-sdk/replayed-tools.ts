/**
 * The tools of an AI SDK agent in a replay. Our own tools read their results from the fixture. Tools of other libraries
 * are not logged, so their results come from the request that followed the call. None of them runs.
 */
import { ToolwrightError } from "../../errors.ts";
import { isRecord } from "../../invoke/recording/hidden-values.ts";
import type { Replay } from "../../invoke/replay/replay.ts";
import { carriesSpec } from "../../tool/copied-tool.ts";

export function replayedTools(
  tools: Readonly<Record<string, unknown>>,
  replay: Replay,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(tools).map(([name, tool]) => [
      name,
      carriesSpec(tool) ? tool : withoutEffect(name, tool, replay),
    ]),
  );
}

function withoutEffect(name: string, tool: unknown, replay: Replay): unknown {
  if (!isRecord(tool) || typeof tool["execute"] !== "function") return tool;
  const execute = (_input: unknown, { toolCallId = "" }: { readonly toolCallId?: string } = {}): unknown => {
    const found = replay.foreignResult(toolCallId);
    if (found === undefined)
      throw new ToolwrightError(
        "TOOL_REPLAY_DIFFERS",
        `The recorded run has no result for "${name}", a tool from another library. Nothing was run.`,
        { details: { tool: name }, hint: "Convert the tool with fromTool, so that its calls are logged." },
      );
    const { type, value } = isRecord(found.output) ? found.output : {};
    if (type === "error-text" || type === "error-json") throw new Error(String(value));
    return value;
  };
  // Both are part of the result that is recorded.
  return { ...tool, execute, toModelOutput: undefined, needsApproval: undefined };
}
