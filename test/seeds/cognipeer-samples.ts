/** The samples of the Cognipeer page, unchanged except for the package name, and the services they need. */
import { createServer } from "node:http";
import { createTool } from "toolwright";
import { onTestFinished } from "vitest";
import { z } from "zod";

export const searchDocs = createTool({
  name: "search_docs",
  description: "Search the docs index",
  schema: z.object({ query: z.string().min(1) }),
  func: async ({ query }) => ({ hits: [`result for ${query}`] }),
});

export const writeFile = createTool({
  name: "dangerous_write",
  description: "Write content to disk",
  schema: z.object({ path: z.string(), content: z.string() }),
  needsApproval: true,
  approvalPrompt: "Confirm the write is safe.",
  func: async ({ path, content }) => ({ ok: true, path, bytesWritten: content.length }),
});

export const fetchPage = createTool({
  name: "fetch_page",
  description: "Fetch a static page",
  schema: z.object({ url: z.string().url() }),
  func: async ({ url }) => fetch(url).then((r) => r.text()),
  cache: true, // identical { url } within the same invoke replays the result
});

export const fetchPageAdvanced = createTool({
  name: "fetch_page_advanced",
  schema: z.object({ url: z.string().url(), reason: z.string() }),
  func: async ({ url }) => fetch(url).then((r) => r.text()),
  cache: {
    keyFn: (args) => args.url, // canonicalize cache key
    ttlMs: 30_000, // expire cached entries after 30s
  },
});

/** A search that always fails, and counts its calls. */
export function createSearch() {
  const asked: string[] = [];
  const searchClient = {
    query: async (q: string): Promise<string> => {
      asked.push(q);
      throw new Error(q);
    },
  };
  const search = createTool({
    name: "search",
    description: "External search API",
    schema: z.object({ q: z.string() }),
    func: async ({ q }) => searchClient.query(q),
    retry: {
      maxRetries: 3,
      backoffMs: 500, // doubles each attempt (500, 1000, 2000, ...)
      // oxlint-disable-next-line typescript/no-unnecessary-template-expression -- as on the page
      shouldRetry: (err) => !`${err?.message}`.includes("UNAUTHORIZED"),
      circuitBreakerThreshold: 5, // open the breaker after 5 consecutive failures
    },
  });
  return { search, asked };
}

/** Pages that are different on each request. */
export async function servePages() {
  const requests: string[] = [];
  const server = createServer(({ url = "" }, response) => response.end(`page ${requests.push(url)}`));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  return { url: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/`, requests };
}
