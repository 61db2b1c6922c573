/** A real server on a free port of the loopback interface, and a store with something to look at. */
import { request } from "node:http";
import { connect, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import { z } from "zod";
import { createRuntime, createSmithers, defineTool, type Runtime } from "../../src/index.ts";
import { jsx } from "../../src/jsx-runtime.ts";
import { serve, type ServeOptions, type ToolwrightServer } from "../../src/server/index.ts";
import { STORE_KINDS, type StoreKind } from "../store-kinds.ts";

export const TOKEN = "test-token-of-the-operator";
export const READER = "test-token-of-the-reader";
export const DECIDER = "test-token-of-alice";

export const TOKENS = [
  { name: "operator", token: TOKEN, scopes: ["read", "decide", "operate"] },
  { name: "reader", token: READER, scopes: ["read"] },
  { name: "alice", token: DECIDER, scopes: ["read", "decide"] },
] as const;

export async function freshStore(kind: StoreKind = STORE_KINDS[0]): Promise<string> {
  const { address, [Symbol.asyncDispose]: dispose } = await kind.fresh();
  onTestFinished(() => dispose());
  return address;
}

export async function startServer(
  options: Partial<ServeOptions> & Pick<ServeOptions, "store" | "runtime">,
): Promise<ToolwrightServer> {
  const server = await serve({ port: 0, tokens: TOKENS, ...options });
  onTestFinished(() => server.close());
  return server;
}

export function openRuntime(store: string): Runtime {
  const runtime = createRuntime({ store });
  onTestFinished(() => runtime.close());
  return runtime;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed JSON. */
  readonly body: unknown;
}

export interface AskOptions {
  readonly method?: string;
  readonly token?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
}

/** @param path below /api/v1 */
export async function ask(
  server: { readonly url: string },
  path: string,
  options: AskOptions = {},
): Promise<Answer> {
  const { token = TOKEN, headers, body } = options;
  const response = await fetch(`${server.url}/api/v1${path}`, {
    method: options.method ?? (body === undefined ? "GET" : "POST"),
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    redirect: "manual",
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: response.headers.get("content-type")?.includes("json") === true ? JSON.parse(text) : text,
  };
}

export function errorOf({ body }: Answer): { code: string; message: string; hint: string; details?: object } {
  return (body as { error: { code: string; message: string; hint: string } }).error;
}

/** A request that `fetch` would refuse to send, such as one with another Host. */
export function rawRequest(
  server: { readonly url: string },
  path: string,
  headers: Readonly<Record<string, string>>,
  { method = "GET", body }: { readonly method?: string; readonly body?: string } = {},
): Promise<{
  readonly status: number;
  readonly text: string;
  readonly headers: NodeJS.Dict<string | string[]>;
}> {
  const { hostname, port } = new URL(server.url);
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path, method, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (part: string) => (text += part));
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, text, headers: response.headers }),
      );
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

export interface RawConnection {
  readonly socket: Socket;
  /** Everything received, once the server has closed the connection. */
  readonly closed: Promise<string>;
}

/** A TCP connection that sends exactly this text. */
export function sendText(server: { readonly url: string }, text: string): RawConnection {
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  let received = "";
  socket.setEncoding("utf8");
  socket.on("data", (part: string) => (received += part));
  // A reset is one way of closing.
  socket.on("error", () => undefined);
  const closed = new Promise<string>((resolve) => socket.once("close", () => resolve(received)));
  socket.write(text);
  return { socket, closed };
}

export interface ServerEvent {
  readonly name: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface EventReader {
  readonly status: number;
  /** The next event; rejects when the stream has ended. */
  next(): Promise<ServerEvent>;
  /** Resolves with the first event that fits, and skips the others. */
  until(fits: (event: ServerEvent) => boolean): Promise<ServerEvent>;
  close(): void;
}

export async function openEvents(
  server: { readonly url: string },
  query = "",
  token: string = TOKEN,
): Promise<EventReader> {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const response = await fetch(`${server.url}/api/v1/events${query}`, {
    headers: { authorization: `Bearer ${token}` },
    signal: stop.signal,
  });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  const next = async (): Promise<ServerEvent> => {
    for (;;) {
      const end = text.indexOf("\n\n");
      if (end >= 0) {
        const block = text.slice(0, end);
        text = text.slice(end + 2);
        const name = /^event: (.*)$/m.exec(block)?.[1];
        if (name === undefined) continue;
        return { name, data: JSON.parse(/^data: (.*)$/m.exec(block)?.[1] ?? "null") as ServerEvent["data"] };
      }
      const { done = true, value = "" } = (await reader?.read()) ?? {};
      if (done) throw new Error("the stream has ended");
      text += value;
    }
  };
  return {
    status: response.status,
    next,
    until: async (fits) => {
      for (;;) {
        const event = await next();
        if (fits(event)) return event;
      }
    },
    close: () => stop.abort(),
  };
}

/** A tool that needs approval. */
export const pay = defineTool({
  name: "pay",
  description: "Pays.",
  schema: z.object({ euros: z.number(), to: z.string() }),
  sideEffect: true,
  idempotent: false,
  needsApproval: true,
  execute: ({ euros }, _ctx) => ({ paid: euros }),
});

/** A call that waits for approval. Returns the id of its request. */
export async function requestPayment(
  runtime: Runtime,
  runId: string,
): Promise<{ id: string; argsHash: string }> {
  const outcome = await runtime.call(pay, { euros: 5, to: "Ada" }, { runId });
  if (outcome.status !== "pending") throw new Error(`the call is ${outcome.status}`);
  const [request] = await runtime.approvals({ runId, status: "pending" });
  if (request === undefined) throw new Error("there is no request");
  return { id: request.id, argsHash: request.argsHash };
}

const { Workflow, Task, Signal, smithers, outputs } = createSmithers({
  input: z.object({ name: z.string() }),
  output: z.object({ text: z.string() }),
});

/** Greets the person that the input names. */
export const greeting = smithers((ctx) =>
  jsx(Workflow, {
    name: "greeting",
    children: jsx(Task, {
      id: "greet",
      output: outputs.output,
      children: () => ({ text: `hello ${ctx.input.name}` }),
    }),
  }),
);

/** Waits for the signal "go" with a number. */
export const patient = smithers(() =>
  jsx(Workflow, {
    name: "patient",
    children: jsx(Signal, { id: "go", name: "go", schema: z.object({ n: z.number() }) }),
  }),
);
