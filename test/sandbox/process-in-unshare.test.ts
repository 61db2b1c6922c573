/** Repeats the tests of the process sandbox without bubblewrap. */
import { describe } from "vitest";
import { unshare } from "../../src/sandbox/tiers/unshare.ts";
import { runCommandsIn } from "./process-harness.ts";

runCommandsIn(unshare);

describe("in namespaces made by Perl: attacks", async () => void (await import("./process-attacks.test.ts")));
describe("in namespaces made by Perl: network", async () => void (await import("./process-network.test.ts")));
describe("in namespaces made by Perl: lifetime", async () =>
  void (await import("./process-lifetime.test.ts")));
describe("in namespaces made by Perl: cases", async () => void (await import("./process-cases.test.ts")));
describe("in namespaces made by Perl: keys", async () => void (await import("./process-keys.test.ts")));
