/** Invalid definitions are refused with the names of the tool and of the option. */
import { createTool, defineTool, fromTool, ToolwrightError } from "toolwright";
import { describe, expect, it } from "vitest";
import { z } from "zod";

const base = { name: "tool", schema: z.object({ a: z.string() }), execute: () => "done" };

/** Calls it as a program without types would. */
function define(options: object): ToolwrightError {
  try {
    defineTool(options as typeof base);
  } catch (error) {
    if (ToolwrightError.is(error)) return error;
    throw error;
  }
  throw new Error("it was taken");
}

describe("an option of the wrong kind", () => {
  it.each<[string, unknown]>([
    ["name", ""],
    ["name", "   "],
    ["name", undefined],
    ["name", 5],
    ["description", 5],
    ["schema", undefined],
    ["schema", { type: "object" }],
    ["schema", "text"],
    ["outputSchema", { type: "object" }],
    ["execute", "code"],
    ["sideEffect", "yes"],
    ["idempotent", 1],
    ["acceptsIdempotencyKey", "no"],
    ["group", 5],
    ["terminal", "yes"],
    ["needsApproval", "always"],
    ["approvalPrompt", 5],
    ["approvalDefaults", "all"],
    ["approvalTtlMs", 0],
    ["approvalTtlMs", "1h"],
    ["maxExecutionsPerRun", -1],
    ["maxExecutionsPerRun", 1.5],
    ["maxExecutionsPerRun", Number.NaN],
    ["timeoutMs", 0],
    ["timeoutMs", -5],
    ["timeoutMs", "5"],
    ["settleMs", -1],
    ["idempotencyKey", "order"],
    ["reconcile", {}],
    ["replay", "always"],
    ["onUnknown", "retry"],
    ["costOf", 5],
    ["redact", true],
    ["redact", ["password"]],
    ["cli", "hidden"],
    ["retry", 3],
    ["retry", null],
    ["cache", "run"],
    ["cache", null],
  ])("%s: %j is refused by its name", (option, value) => {
    const error = define({ ...base, [option]: value });
    expect(error.code).toBe("TOOL_DEFINITION_INVALID");
    expect(error.message).toContain(option);
    expect(error.details).toMatchObject({ field: expect.stringContaining(option) });
    if (option !== "name") expect(error.message).toContain('Tool "tool"');
    expect(error.message).not.toContain("[object Object]");
  });

  it.each<[string, object]>([
    ["retry.maxRetries", { retry: { maxRetries: -1 } }],
    ["retry.backoffMs", { retry: { backoffMs: -1 } }],
    ["retry.maxBackoffMs", { retry: { maxBackoffMs: "x" } }],
    ["retry.shouldRetry", { retry: { shouldRetry: true } }],
    ["retry.circuitBreakerThreshold", { retry: { circuitBreakerThreshold: 0 } }],
    ["retry.breaker", { retry: { circuitBreakerThreshold: 1, breaker: "shared" } }],
    ["retry.breaker.scope", { retry: { breaker: { scope: "global" } } }],
    ["retry.breaker.resetMs", { retry: { breaker: { resetMs: -1 } } }],
    ["cache.ttlMs", { cache: { ttlMs: -1 } }],
    ["cache.keyFn", { cache: { keyFn: "url" } }],
    ["cache.scope", { cache: { scope: "shared" } }],
    ["redact.input", { redact: { input: "password" } }],
    ["redact.output", { redact: { output: [5] } }],
  ])("inside another one: %s", (field, options) => {
    const error = define({ ...base, ...options });
    expect(error.code).toBe("TOOL_DEFINITION_INVALID");
    expect(error.message).toContain(`Tool "tool": ${field} `);
  });

  it("a cache on a side effect", () => {
    expect(define({ ...base, sideEffect: true, cache: true }).message).toContain('Tool "tool": cache ');
  });

  it("approvalDefaults that cannot be stored are refused here, not when the approval is requested", () => {
    expect(define({ ...base, needsApproval: true, approvalDefaults: { choose: () => 1 } }).message).toContain(
      "approvalDefaults",
    );
  });
});

describe("an unknown option", () => {
  it.each([
    ["sideEffects", "sideEffect"],
    ["timeout", "timeoutMs"],
    ["sideeffect", "sideEffect"],
    ["needApproval", "needsApproval"],
    ["idempotant", "idempotent"],
    ["aprovalPrompt", "approvalPrompt"],
    ["excute", "execute"],
    ["maxExecutionPerRun", "maxExecutionsPerRun"],
  ])("%s is refused with a suggestion: %s", (wrong, right) => {
    const error = define({ ...base, [wrong]: true });
    expect(error).toMatchObject({ code: "TOOL_DEFINITION_INVALID" });
    expect(error.message).toContain('Tool "tool"');
    expect(error.message).toContain(wrong);
    expect(error.message).toContain(`Did you mean "${right}"?`);
  });

  it("is refused with the list of options if no name is similar", () => {
    const { message } = define({ ...base, colour: "red" });
    expect(message).toMatch(
      /^Tool "tool": unknown option "colour"\. Known options: name, .*, needsApproval, .*\.$/,
    );
    expect(message).not.toContain("Did you mean");
  });

  it.each<[string, object]>([
    ["retry.retries", { retry: { retries: 3 } }],
    ["cache.ttl", { cache: { ttl: 30_000 } }],
    ["redact.inputs", { redact: { inputs: ["password"] } }],
  ])("inside another one is refused too: %s", (field, options) => {
    expect(define({ ...base, ...options }).message).toContain(field.split(".")[1]);
  });

  it("is refused by createTool, by a plain definition and by the policy of a foreign tool alike", () => {
    const { name, schema, execute } = base;
    const wrong = { sideEffects: true };
    const refused = /unknown option "sideEffects"\. Did you mean "sideEffect"\?/;
    expect(() => createTool({ name, schema, func: execute, ...wrong })).toThrow(refused);
    expect(() => fromTool({ name, inputSchema: schema, execute, ...wrong })).toThrow(refused);
    expect(() => fromTool({ name, schema, invoke: execute }, wrong as object)).toThrow(refused);
  });
});

describe("a schema that is not Zod 4", () => {
  it("is refused with a message that says what is expected", () => {
    expect(define({ ...base, schema: { type: "object" } }).message).toBe(
      'Tool "tool": schema must be a Zod 4 schema, not an object. For a JSON Schema use z.fromJSONSchema(schema), or fromTool({ name, inputSchema, execute }).',
    );
  });

  it("a Zod 3 schema is refused too, even on a foreign tool", () => {
    const old = { _def: { typeName: "ZodObject" }, parse: () => ({}), safeParse: () => ({ success: true }) };
    expect(define({ ...base, schema: old }).message).toContain("must be a Zod 4 schema");
    expect(() => fromTool({ name: "lc", schema: old, invoke: () => 1 })).toThrow(/Tool "lc".*Zod 4/);
  });
});
