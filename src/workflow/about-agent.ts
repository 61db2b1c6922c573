/** The telemetry attributes of a task's agent. */
import type { AgentAbout } from "../invoke/telemetry.ts";
import { aboutSdkAgent } from "../model/about-agent.ts";
import { chosenAgent } from "./agent-task.ts";
import type { TaskProps } from "./components.ts";

/** `undefined` for a smart agent, which opens its own span. */
export function aboutAgent(props: TaskProps, attempt: number): AgentAbout | undefined {
  const agent: object = chosenAgent(props, attempt) ?? {};
  if ("resolveToolApproval" in agent) return undefined;
  const about = aboutSdkAgent(agent, props.model);
  return { ...about, name: about.name ?? props.id };
}
