import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const source = (path: string): string => fileURLToPath(new URL(`./src/${path}`, import.meta.url));

export default defineConfig({
  resolve: {
    alias: [
      { find: /^toolwright$/, replacement: source("index.ts") },
      { find: /^toolwright\/tools$/, replacement: source("tools/index.ts") },
      { find: /^toolwright\/testing$/, replacement: source("testing/index.ts") },
    ],
  },
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    globalSetup: ["test/postgres/global-setup.ts"],
    testTimeout: 30_000,
    hookTimeout: 120_000,
  },
});
