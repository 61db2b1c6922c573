/** The SDK prints errors of a stream unless the agent has a listener. Callers of this function throw them instead. */
export function quietAgent<Agent extends object>(agent: Agent): Agent {
  const { settings } = agent as { readonly settings?: { readonly onError?: unknown } };
  if (settings === undefined || settings.onError !== undefined) return agent;
  return Object.create(agent, { settings: { value: { ...settings, onError: () => undefined } } }) as Agent;
}
