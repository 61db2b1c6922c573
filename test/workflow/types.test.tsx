/** Types follow from the schemas: run-time errors are also compile-time errors. */
import { createSmithers } from "toolwright";
import { expectTypeOf, it } from "vitest";
import { z } from "zod";

const { Workflow, Task, Loop, Branch, Parallel, smithers, outputs } = createSmithers({
  input: z.object({ file: z.string(), depth: z.number().default(1) }),
  review: z.object({ approved: z.boolean(), at: z.string().transform((text) => new Date(text)) }),
  count: z.number(),
});

it("the context knows the input and the outputs", () => {
  smithers((ctx) => {
    expectTypeOf(ctx.input).toEqualTypeOf<{ file: string; depth: number }>();
    expectTypeOf(ctx.output(outputs.review, { nodeId: "r" })).toEqualTypeOf<{
      approved: boolean;
      at: Date;
    }>();
    expectTypeOf(ctx.output("count", { nodeId: "c" })).toEqualTypeOf<number>();
    expectTypeOf(ctx.outputMaybe("count", { nodeId: "c" })).toEqualTypeOf<number | undefined>();
    expectTypeOf(ctx.latest(outputs.count, "c")).toEqualTypeOf<number | undefined>();
    expectTypeOf(ctx.outputs("count")).toEqualTypeOf<number[]>();
    expectTypeOf(ctx.outputs.review[0]?.approved).toEqualTypeOf<boolean | undefined>();
    expectTypeOf(ctx.iteration).toEqualTypeOf<number>();
    expectTypeOf(ctx.runId).toEqualTypeOf<string>();
    // @ts-expect-error there is no such output
    void (() => ctx.output("nothing", { nodeId: "n" }));
    // @ts-expect-error there is no such output
    void (() => ctx.outputs.nothing);
    return <Workflow name="w" />;
  });
});

it("components know their props", () => {
  const trees = () => [
    // @ts-expect-error a task needs an id
    <Task>{1}</Task>,
    // @ts-expect-error a workflow needs a name
    <Workflow />,
    // @ts-expect-error a branch needs a condition
    <Branch then={null} />,
    // @ts-expect-error a number, not a text
    <Parallel maxConcurrency="2" />,
    // @ts-expect-error one of two words
    <Loop until={false} onMaxReached="explode" />,
    // @ts-expect-error there is no such prop
    <Task id="t" agnet={1} />,
    // @ts-expect-error there are no such elements
    <div />,
  ];
  void trees;
});

it("a task has the type of its output", () => {
  const trees = () => [
    <Task id="a" output={outputs.count}>
      {1}
    </Task>,
    <Task id="b" output={outputs.count}>
      {async () => 1}
    </Task>,
    // @ts-expect-error a text is not a number
    <Task id="c" output={outputs.count}>
      {"one"}
    </Task>,
    // @ts-expect-error the function gives a text
    <Task id="d" output={outputs.count}>
      {() => "one"}
    </Task>,
  ];
  void trees;
});

it("a function has the types of its dependencies", () => {
  const tree = () => (
    <Task id="a" deps={{ review: outputs.review }} output={outputs.count}>
      {(deps) => {
        expectTypeOf(deps.review.approved).toEqualTypeOf<boolean>();
        return 1;
      }}
    </Task>
  );
  void tree;
});
