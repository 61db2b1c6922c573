/**
 * An AI SDK agent whose loop is driven here, so each of its models is recorded: its own one, and those that `prepareCall` and
 * `prepareStep` choose.
 */
import { importPeer } from "../../load/import-peer.ts";
import { isLanguageModel, resolveLanguageModel } from "../../model/sdk-model.ts";
import type { RecordModel } from "./recorded-model.ts";

interface Choice {
  readonly model?: unknown;
  readonly prepareStep?: unknown;
}
type Choose = (this: unknown, options: unknown) => Choice | undefined | PromiseLike<Choice | undefined>;

interface RecordedAgent<Agent> {
  readonly agent: Agent;
  /** For the options of each call. `undefined` for an agent that does not show its model. */
  readonly model: object | undefined;
}

/** @param given instead of the agent's own model */
export async function recordedAgent<Agent extends object>(
  agent: Agent,
  record: RecordModel,
  given?: unknown,
): Promise<RecordedAgent<Agent>> {
  const settings = (agent as { readonly settings?: unknown }).settings as
    | (Choice & { readonly prepareCall?: unknown })
    | undefined;
  const model = await recorded(given ?? settings?.model, record);
  const known = isLanguageModel(model) ? model : undefined;
  const { prepareCall, prepareStep } = settings ?? {};
  if (typeof prepareCall !== "function" && typeof prepareStep !== "function") return { agent, model: known };
  const changed = {
    ...settings,
    ...(typeof prepareCall === "function"
      ? { prepareCall: recordChoices(prepareCall as Choose, record) }
      : {}),
    ...(typeof prepareStep === "function"
      ? { prepareStep: recordChoices(prepareStep as Choose, record) }
      : {}),
  };
  return { agent: Object.create(agent, { settings: { value: changed } }) as Agent, model: known };
}

function recordChoices(choose: Choose, record: RecordModel): Choose {
  return async function (options) {
    const choice = await choose.call(this, options);
    if (typeof choice !== "object" || choice === null) return choice;
    const { model, prepareStep } = choice;
    return {
      ...choice,
      ...(model === undefined || model === null ? {} : { model: await recorded(model, record) }),
      ...(typeof prepareStep === "function"
        ? { prepareStep: recordChoices(prepareStep as Choose, record) }
        : {}),
    };
  };
}

async function recorded(given: unknown, record: RecordModel): Promise<unknown> {
  const model = await namedModel(resolveLanguageModel(given));
  return isLanguageModel(model) ? record(model as never) : model;
}

/** Without a default provider, the SDK looks for the name in its gateway. */
async function namedModel(model: unknown): Promise<unknown> {
  if (typeof model !== "string") return model;
  const { gateway } = (await importPeer("ai", () => import("ai"))) as {
    readonly gateway?: { languageModel(id: string): unknown };
  };
  return gateway?.languageModel(model) ?? model;
}
