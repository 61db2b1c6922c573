/**
 * `get_tool_response`: returns the full input or output of a call from the store, in pages. All pages together are exactly the
 * text. It finds only calls of the run of the agent.
 */
import { z } from "zod";
import { createToolSpec, type ToolSpec } from "../../definition/tool-spec.ts";
import { ToolwrightError } from "../../errors.ts";
import { TOOL_RESPONSE } from "./tool-names.ts";
import { cutChars, cutLines, type Page } from "./paging.ts";
import { type CallSource, findCallText, listCallTexts } from "./call-text.ts";

/** Instead of a handle: lists all calls. */
export const ALL_CALLS = "all";

/** Default size of a page. */
const DEFAULT_PAGE_CHARS = 20_000;

const INPUT = z
  .object({
    executionId: z
      .string()
      .min(1)
      .optional()
      .describe(
        `The handle that stands where the result was archived or cut. "${ALL_CALLS}" lists all calls.`,
      ),
    tool_call_id: z.string().min(1).optional().describe("Or the id of the call."),
    part: z.enum(["output", "input"]).optional().describe("Default: output."),
    by: z.enum(["chars", "lines"]).optional().describe("What offset and limit count. Default: chars."),
    offset: z
      .int()
      .min(0)
      .optional()
      .describe("Where to begin. Default 0; nextOffset of the page before goes on."),
    limit: z.int().min(1).optional().describe("How much to return at most."),
  })
  .refine(({ executionId, tool_call_id: id }) => executionId !== undefined || id !== undefined, {
    message: "executionId or tool_call_id is needed",
  });

type Input = z.output<typeof INPUT>;

export interface PageSource extends CallSource {
  /** The limit for a page. Set for each response, whose calls share the limit for results. */
  maxChars: number;
}

export function createToolResponseSpec(): ToolSpec {
  return createToolSpec(
    {
      name: TOOL_RESPONSE,
      description:
        "Returns the whole input or output of an earlier call, page by page. Use it when a result was archived or cut and you need a detail of it.",
      schema: INPUT,
      execute: () => undefined,
    },
    {},
  );
}

/** Binds the tool to one invoke. */
export function withSource(spec: ToolSpec, source: PageSource): ToolSpec {
  return { ...spec, execute: (input) => readPage(input as Input, source) };
}

async function readPage(input: Input, source: PageSource): Promise<object> {
  const { part = "output", by = "chars", offset = 0 } = input;
  const found =
    input.executionId === ALL_CALLS ? await listCallTexts(source) : await findCallText(source, input, part);
  if (found === undefined) throw notFound(input);
  const max = Math.min(DEFAULT_PAGE_CHARS, source.maxChars);
  const page: Page =
    by === "chars"
      ? cutChars(found.text, offset, Math.min(input.limit ?? max, source.maxChars))
      : cutLines(found.text, offset, input.limit ?? Infinity, max);
  const { executionId, toolName, status } = found;
  return { executionId, toolName, status, part, ...page };
}

function notFound({ executionId, tool_call_id: id }: Input): ToolwrightError {
  const named =
    executionId === undefined
      ? `the id ${JSON.stringify(id)}`
      : `the executionId ${JSON.stringify(executionId)}`;
  return new ToolwrightError("TOOL_NOT_FOUND", `No call with ${named} was made in this run.`, {
    hint: "Use the executionId that stands where the result was archived, exactly as it is.",
    effect: "none",
  });
}
