/** The programs of this test run that are bundled when a test first starts them. */
import { fileURLToPath } from "node:url";
import { inject } from "vitest";
import { bundleProgram } from "./bundle-program.ts";

/** @returns the file to start instead of the given one */
export function bundled(file: string | URL): string {
  return bundleProgram(file instanceof URL ? fileURLToPath(file) : file, inject("bundleFolder"));
}
