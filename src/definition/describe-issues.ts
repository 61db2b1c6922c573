/** How the problems that a schema finds are worded: the same for models, terminals, clients and logs. */
import type { z } from "zod";

/** Each as `field: problem`. @param whole what a problem without a field is about, such as `the input` */
export function describeIssues({ issues }: Pick<z.ZodError, "issues">, whole: string): string {
  return issues.map((issue) => describeIssue(issue, whole)).join("; ");
}

export function describeIssue({ path, message }: z.core.$ZodIssue, whole: string): string {
  return `${path.length === 0 ? whole : path.join(".")}: ${message.replace(/\.$/, "")}`;
}
