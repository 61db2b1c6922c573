/** The model of a soak: it orders what the message of the user lists, two in each turn, and then says how many it ordered. */
import type { ScriptedAnswer, ScriptedToolCall } from "../../../src/testing/model/script.ts";
import type { Step } from "../plan.ts";

const PER_TURN = 2;

/** For the message of the user. Texts around it do not matter. */
export function toPrompt(steps: readonly Step[]): string {
  return `Order <list>${JSON.stringify(steps)}</list>`;
}

/** @param turn the number of responses since the message of the user */
export function answerTo(text: string, turn: number): Exclude<ScriptedAnswer, Error> {
  const steps = JSON.parse(/<list>(.*)<\/list>/s.exec(text)?.[1] ?? "[]") as Step[];
  const calls = steps
    .slice(turn * PER_TURN, (turn + 1) * PER_TURN)
    .map(({ kind, sku }): ScriptedToolCall => ({ toolName: `place_${kind}`, input: { sku } }));
  return calls.length > 0 ? calls : finalText(steps);
}

export function finalText(steps: readonly Step[]): string {
  return `All ${steps.length} done: ${steps[0]?.sku ?? ""}.`;
}
