/** A user's program that serves the registry, without a runtime. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, it } from "vitest";
import { createFolder } from "../cli/command.ts";
import { bundled } from "../started-programs.ts";
import { createClient, keyed } from "./harness.ts";

it("opens a runtime on toolwright.db for each request, and closes it when the request has ended", async () => {
  const folder = createFolder();
  const client = createClient();
  const program = bundled(new URL("programs/serve-registry.ts", import.meta.url));
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [program], cwd: folder, stderr: "ignore" }),
  );
  const [first, second] = [
    await client.callTool({ name: "count", arguments: {}, ...keyed("k") }),
    await client.callTool({ name: "count", arguments: {}, ...keyed("k") }),
  ];
  expect(first.isError).toBeUndefined();
  expect(second.structuredContent).toEqual(first.structuredContent);
  expect(second._meta?.["toolwright/replayed"]).toBe(true);
  expect(existsSync(join(folder, "toolwright.db"))).toBe(true);
  // Closing the store checkpoints its write-ahead log.
  expect(existsSync(join(folder, "toolwright.db-wal"))).toBe(false);
});
