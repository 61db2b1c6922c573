import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  chownSync,
  closeSync,
  fstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { asOrdinaryUser } from "../../../test/sandbox/files-as-ordinary-user.ts";
import { readWhole } from "./open-file.ts";
import { readTextFile } from "./read-text-file.ts";

let root = "";
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "read-")));
});
afterEach(() => rmSync(root, { recursive: true }));

const read = (
  path: string,
  more: { maxBytes?: number; offset?: number; limit?: number; signal?: AbortSignal } = {},
) => readTextFile({ rootDir: root, path, maxBytes: 200_000, ...more });

describe("readTextFile", () => {
  it("states the size of the file and the limit", async () => {
    writeFileSync(join(root, "f"), "x".repeat(101));
    await expect(read("f", { maxBytes: 100 })).rejects.toThrow(
      'File too large: "f" has 101 bytes, the limit is 100.',
    );
  });

  it("shows a path with a line break on one line", async () => {
    await expect(read("a\nb")).rejects.toThrow('File not found: "a\\nb".');
  });

  it("reads a part of a large file without loading it", async () => {
    execFileSync("bash", ["-c", 'seq 3000000 > "$0"', join(root, "f")]);
    const before = process.memoryUsage().arrayBuffers;
    expect(await read("f", { offset: 2_999_999, limit: 1 })).toBe("2999999\n");
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(4_000_000);
  });

  it("keeps characters whole that span two blocks", async () => {
    writeFileSync(join(root, "f"), `x\n${"🦊".repeat(100_000)}\n`);
    expect(await read("f", { offset: 2, limit: 1, maxBytes: 500_000 })).toBe(`${"🦊".repeat(100_000)}\n`);
  });

  it("stops looking for a line when the call is aborted", async () => {
    execFileSync("truncate", ["-s", "1T", join(root, "f")]);
    const signal = AbortSignal.timeout(50);
    await expect(read("f", { offset: 5, signal })).rejects.toMatchObject({ code: "TOOL_ABORTED" });
  });

  it("never returns more than the limit of a file that grows", async () => {
    writeFileSync(join(root, "f"), "x".repeat(90));
    const grow = setInterval(() => appendFileSync(join(root, "f"), "x".repeat(5)), 0);
    try {
      for (let round = 0; round < 50; round += 1) {
        const text = await read("f", { maxBytes: 100 }).catch((error: unknown) => error);
        if (typeof text === "string") expect(text.length).toBeLessThanOrEqual(100);
        else expect(text).toMatchObject({ code: "TOOL_FILE_TOO_LARGE" });
        await new Promise(setImmediate);
      }
    } finally {
      clearInterval(grow);
    }
  });

  it.runIf(process.platform === "linux")("reads files that claim to be empty up to the limit", () => {
    const readStatus = (maxBytes: number): Buffer => {
      const descriptor = openSync("/proc/self/status", "r");
      try {
        return readWhole(descriptor, fstatSync(descriptor), maxBytes, "status");
      } finally {
        closeSync(descriptor);
      }
    };
    expect(readStatus(200_000).toString()).toContain("Name:");
    expect(() => readStatus(100)).toThrow(expect.objectContaining({ code: "TOOL_FILE_TOO_LARGE" }) as Error);
  });

  it("reports missing permissions", async () => {
    writeFileSync(join(root, "secret"), "x");
    mkdirSync(join(root, "closed"));
    writeFileSync(join(root, "closed", "f"), "x");
    for (const path of ["secret", "closed"]) chmodSync(join(root, path), 0);
    if (process.getuid?.() === 0) chownSync(root, 65_534, 65_534);
    await asOrdinaryUser(async () => {
      for (const path of ["secret", "closed/f"]) {
        await expect(read(path)).rejects.toMatchObject({ code: "TOOL_PERMISSION_DENIED" });
      }
    });
    chmodSync(join(root, "closed"), 0o755);
  });
});
