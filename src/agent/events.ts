/** What an agent emits while it runs: its own events, events of its calls, and events of its sub-agents. */
import type { AgentEventDetails, DivergedDetails, EventEnvelope, RuntimeEvent } from "../invoke/events.ts";

export type SmartAgentEvent =
  | RuntimeEvent
  /** Emitted by an agent that is a tool of this one. `executionId`: of the call in which it runs. */
  | (EventEnvelope & {
      readonly type: "sub_agent";
      readonly name: string;
      readonly executionId: string;
      readonly event: SmartAgentEvent;
    });

export type Emit = (details: AgentEventDetails | DivergedDetails) => void;
