/** A plan as those see it who watch a run: groups, loops and the ids of tasks. */
import type { PlanOutline } from "../invoke/events.ts";
import type { PlanNode } from "./plan.ts";

/** Sequences inside sequences are one. */
export function outlineOf(node: PlanNode): readonly PlanOutline[] {
  switch (node.kind) {
    case "task":
      return [{ kind: "task", id: node.props.id }];
    case "sequence":
      return node.children.flatMap(outlineOf);
    case "loop":
      return [{ kind: "loop", children: outlineOf(node.body) }];
    case "parallel":
      return [
        {
          kind: "parallel",
          children: node.children.flatMap((child) =>
            child.kind === "sequence"
              ? [{ kind: "sequence" as const, children: outlineOf(child) }]
              : outlineOf(child),
          ),
        },
      ];
  }
}
