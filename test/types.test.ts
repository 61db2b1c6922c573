/** Types are inferred from the schemas without a cast; mistakes that fail at run time are compile errors. */
import {
  createRuntime,
  createTool,
  defineTool,
  type Outcome,
  type Reconciled,
  type Runtime,
  type Tool,
  type ToolContext,
  type ToolDefinition,
  type ToolwrightError,
} from "toolwright";
import { describe, expectTypeOf, it } from "vitest";
import { z } from "zod";

const schema = z.object({
  text: z.string(),
  limit: z.number().default(10),
  since: z.string().transform((text) => new Date(text)),
  tags: z.array(z.string()).optional(),
});
interface Sent {
  text: string;
  limit?: number | undefined;
  since: string;
  tags?: string[] | undefined;
}
interface Parsed {
  text: string;
  limit: number;
  since: Date;
  tags?: string[] | undefined;
}

const search = defineTool({
  name: "search",
  schema,
  execute: (args, ctx) => {
    expectTypeOf(args).toEqualTypeOf<Parsed>();
    expectTypeOf(ctx).toEqualTypeOf<ToolContext>();
    expectTypeOf(ctx.idempotencyKey).toEqualTypeOf<string>();
    expectTypeOf(ctx.signal).toEqualTypeOf<AbortSignal>();
    return { hits: [args.text] };
  },
});

const shaped = createTool({
  name: "shaped",
  schema,
  outputSchema: z.object({
    at: z.string().transform((text) => new Date(text)),
    count: z.number().default(0),
  }),
  func: async ({ since }) => {
    expectTypeOf(since).toEqualTypeOf<Date>();
    return { at: since.toISOString() };
  },
});

declare const runtime: Runtime;

describe("inputs and outputs of a tool", () => {
  it("defineTool: sent arguments in, the returned value out", () => {
    expectTypeOf<typeof search.execute>().parameter(0).toEqualTypeOf<Sent>();
    expectTypeOf<typeof search.execute>().returns.toEqualTypeOf<Promise<{ hits: string[] }>>();
    expectTypeOf(search).toEqualTypeOf<Tool<Sent, { hits: string[] }>>();
  });

  it("createTool with outputSchema: the parsed output out", () => {
    expectTypeOf<typeof shaped.invoke>().parameter(0).toEqualTypeOf<Sent>();
    expectTypeOf<typeof shaped.invoke>().returns.toEqualTypeOf<Promise<{ at: Date; count: number }>>();
  });

  it("asynchronous and synchronous functions give the same type", () => {
    const slow = defineTool({ name: "slow", schema: z.object({}), execute: async () => 1 });
    const quick = defineTool({ name: "quick", schema: z.object({}), execute: () => 1 });
    expectTypeOf(slow).toEqualTypeOf<Tool<Record<string, never>, number>>();
    expectTypeOf<typeof quick.execute>().returns.toEqualTypeOf<Promise<number>>();
  });

  it("the outcome of runtime.call is inferred from the tool", () => {
    const call = () => runtime.call(search, { text: "a", since: "2026" }, { runId: "r" });
    expectTypeOf(call).returns.toEqualTypeOf<Promise<Outcome<{ hits: string[] }>>>();
    const read = (outcome: Outcome<{ hits: string[] }>) => {
      switch (outcome.status) {
        case "success":
          return expectTypeOf(outcome.output).toEqualTypeOf<{ hits: string[] }>();
        case "error":
          return expectTypeOf(outcome.error).toEqualTypeOf<ToolwrightError>();
        case "pending":
          return expectTypeOf(outcome.approval.id).toEqualTypeOf<string>();
        case "denied":
          return expectTypeOf(outcome.error).toEqualTypeOf<ToolwrightError>();
      }
    };
    expectTypeOf(read).toBeFunction();
  });
});

describe("policies", () => {
  it("see parsed arguments and the output", () => {
    defineTool({
      name: "policies",
      schema,
      outputSchema: z.object({ id: z.string() }),
      sideEffect: true,
      needsApproval: (args, ctx) => {
        expectTypeOf(args).toEqualTypeOf<Parsed>();
        expectTypeOf(ctx.runId).toEqualTypeOf<string>();
        return args.limit > 5;
      },
      approvalPrompt: async (args) => args.text,
      idempotencyKey: ({ text }) => text,
      reconcile: (args): Reconciled<{ id: string }> => ({ happened: true, output: { id: args.text } }),
      retry: { shouldRetry: (error, attempt) => error.message !== "" && attempt < 3 },
      execute: ({ text }, ctx) => ({ id: `${text} ${ctx.seq}` }),
    });
    defineTool({
      name: "cached",
      schema,
      cache: { keyFn: ({ since }) => since.getTime() },
      execute: () => 1,
    });
  });
});

describe("ToolDefinition", () => {
  it("gives a plain object its types through satisfies", () => {
    const definition = {
      name: "plain",
      inputSchema: schema,
      outputSchema: z.object({ message: z.string() }),
      execute: async (args, ctx) => {
        expectTypeOf(args).toEqualTypeOf<Parsed>();
        expectTypeOf(ctx).toEqualTypeOf<ToolContext>();
        return { message: args.text };
      },
    } satisfies ToolDefinition<typeof schema, z.ZodObject<{ message: z.ZodString }>>;
    expectTypeOf(definition.execute).returns.toEqualTypeOf<Promise<{ message: string }>>();
  });
});

describe("capabilities", () => {
  interface Db {
    query(sql: string): string[];
  }
  it("are named by the annotation of ctx, and reach the other functions of the tool", () => {
    const tool = defineTool({
      name: "db",
      schema: z.object({ sql: z.string() }),
      execute: ({ sql }, ctx: ToolContext<{ conn: Db }>) => ctx.conn.query(sql),
      needsApproval: (_args, ctx) => {
        expectTypeOf(ctx.conn).toEqualTypeOf<Db>();
        return false;
      },
      approvalPrompt: ({ sql }, ctx) => ctx.conn.query(sql).join(),
    });
    expectTypeOf(tool).toEqualTypeOf<Tool<{ sql: string }, string[]>>();
    createTool({
      name: "db2",
      schema: z.object({ sql: z.string() }),
      func: ({ sql }, ctx: ToolContext<{ conn: Db }>) => ctx.conn.query(sql),
    });
  });
});

describe("mistakes", () => {
  it("are errors of the compiler", () => {
    const never = (): void => {
      // @ts-expect-error a number is not a text
      void search.execute({ text: 5, since: "2026" });
      // @ts-expect-error since is missing
      void search.invoke({ text: "a" });
      // @ts-expect-error a date is what the tool gets, not what is sent
      void runtime.call(search, { text: "a", since: new Date() });
      // @ts-expect-error no such option of a call
      void runtime.call(search, { text: "a", since: "2026" }, { run: "r" });
      // @ts-expect-error a misspelt option
      defineTool({ name: "x", schema, sideEffects: true, execute: () => 1 });
      defineTool({
        name: "x",
        schema,
        outputSchema: z.object({ id: z.string() }),
        // @ts-expect-error the output does not fit its schema
        execute: () => ({ id: 5 }),
      });
      // @ts-expect-error func belongs to createTool
      defineTool({ name: "x", schema, func: () => 1 });
      // @ts-expect-error execute belongs to defineTool
      createTool({ name: "x", schema, execute: () => 1 });
      defineTool({
        name: "x",
        schema,
        // @ts-expect-error there is no such field
        execute: (args) => args.missing,
      });
      defineTool({
        name: "x",
        schema,
        // @ts-expect-error ctx has no such capability
        execute: (_args, ctx) => ctx.conn,
      });
      // @ts-expect-error no such option of a runtime
      createRuntime({ allowNetworks: true });
      // @ts-expect-error no such isolation
      createRuntime({ isolation: "none" });
    };
    expectTypeOf(never).toBeFunction();
  });
});
