/**
 * The model of the killed workflows: a service on loopback, outside of every process that is killed. It writes down
 * each request before it answers, and its answers depend on nothing but the location that is asked for.
 */
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import type { ScriptedToolCall } from "../../src/testing/index.ts";

/** The position of a request in the workflow. `position` counts the responses before it in this attempt. */
export interface ModelLocation {
  readonly task: string;
  readonly pass: number;
  readonly attempt: number;
  readonly position: number;
}

export type ModelAnswer = string | readonly ScriptedToolCall[];

export interface ModelServer extends AsyncDisposable {
  readonly url: string;
  /** Every request, named by `locationName`, in the order of arrival. */
  readonly requests: readonly string[];
}

export function locationName({ task, pass, attempt, position }: ModelLocation): string {
  return `${task} ${pass} ${attempt}.${position}`;
}

/** @param answer returns `undefined` if the model fails */
export async function openModelServer(
  answer: (location: ModelLocation) => ModelAnswer | undefined,
): Promise<ModelServer> {
  const requests: string[] = [];
  const server = createServer(async (request, response) => {
    const location = JSON.parse(await text(request)) as ModelLocation;
    requests.push(locationName(location));
    const said = answer(location);
    // A delay, so that a process may be killed while it waits for a response.
    setTimeout(() => response.writeHead(said === undefined ? 500 : 200).end(JSON.stringify(said ?? "")), 3);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the model has no address");
  return {
    url: `http://127.0.0.1:${address.port}/`,
    requests,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
