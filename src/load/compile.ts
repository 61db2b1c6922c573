/** Compiles TypeScript and JSX to JavaScript with Toolwright's JSX runtime, ignoring tsconfig files. */
import { extname } from "node:path";
import { type Loader, transformSync } from "esbuild";

const LOADERS: Readonly<Record<string, Loader>> = { ".ts": "ts", ".mts": "ts", ".tsx": "tsx" };

/** @throws an error with esbuild's `errors`, each with its location */
export function compile(file: string, source: string): string {
  const { code } = transformSync(source, {
    loader: LOADERS[extname(file)] ?? "jsx",
    format: "esm",
    // Compiles syntax that the oldest supported Node lacks, such as `using`.
    target: "node22.13",
    jsx: "automatic",
    jsxImportSource: "toolwright",
    sourcefile: file,
    sourcemap: "inline",
    sourcesContent: false,
    logLevel: "silent",
    // The nearest tsconfig is for the editor and must not change what a workflow does.
    tsconfigRaw: {},
  });
  return code;
}
