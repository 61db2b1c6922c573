/**
 * An AI SDK agent whose loop is driven here, so each of its models is recorded: its own one, and those that `prepareCall` and
 * `prepareStep` choose.
 */
import { importPeer } from "../../load/import-peer.ts";
import { isLanguageModel, resolveLanguageModel } from "../../model/sdk-model.ts";
import type { RecordModel } from "./recorded-model.ts";

interface Choice {
  readonly model?: unknown;
  readonly prepareStep?: Choose | undefined;
}

interface Settings extends Choice {
  readonly prepareCall?: Choose | undefined;
}

type Choose = (this: unknown, options: unknown) => Choice | undefined | PromiseLike<Choice | undefined>;

interface RecordedAgent<Agent> {
  readonly agent: Agent;
  /** For the options of each call. `undefined` for an agent that does not show its model. */
  readonly model: object | undefined;
}

export async function recordedAgent<Agent extends object>(
  agent: Agent,
  record: RecordModel,
): Promise<RecordedAgent<Agent>> {
  const settings = (agent as { readonly settings?: Settings | null }).settings ?? {};
  const given = resolveLanguageModel(settings.model);
  // Settings of other agents may mean something else.
  if (!isSdkAgent(agent)) return { agent, model: isLanguageModel(given) ? record(given) : undefined };
  const model = await recorded(given, record);
  const { prepareCall, prepareStep } = settings;
  const changed = {
    ...settings,
    ...(prepareCall === undefined ? {} : { prepareCall: recordChoices(prepareCall, record) }),
    ...(prepareStep === undefined ? {} : { prepareStep: recordChoices(prepareStep, record) }),
  };
  const isSame = prepareCall === undefined && prepareStep === undefined;
  return {
    agent: isSame ? agent : (Object.create(agent, { settings: { value: changed } }) as Agent),
    model: isLanguageModel(model) ? model : undefined,
  };
}

/** An agent of the SDK; other agents have their own `stream`, if any. */
export function isSdkAgent(agent: object): boolean {
  const { version } = agent as { readonly version?: unknown };
  return typeof version === "string" && version.startsWith("agent-");
}

function recordChoices(choose: Choose, record: RecordModel): Choose {
  return async function (options) {
    const choice = await choose.call(this, options);
    if (typeof choice !== "object" || choice === null) return choice;
    const { model, prepareStep } = choice;
    return {
      ...choice,
      ...(model === undefined || model === null ? {} : { model: await recorded(model, record) }),
      ...(typeof prepareStep === "function" ? { prepareStep: recordChoices(prepareStep, record) } : {}),
    };
  };
}

async function recorded(given: unknown, record: RecordModel): Promise<unknown> {
  const model = await namedModel(resolveLanguageModel(given));
  return isLanguageModel(model) ? record(model) : model;
}

/** Without a default provider, the SDK looks for the name in its gateway. */
async function namedModel(model: unknown): Promise<unknown> {
  if (typeof model !== "string") return model;
  const { gateway } = (await importPeer("ai", () => import("ai"))) as {
    readonly gateway?: { languageModel(id: string): unknown };
  };
  return gateway?.languageModel(model) ?? model;
}
