#!/usr/bin/env node
/** `npm create toolwright …` is `toolwright init …`: the same arguments, the same code. */
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(import.meta.url);
const manifest = require.resolve("toolwright/package.json");
const { bin } = require(manifest);

process.argv.splice(2, 0, "init");
await import(new URL(bin.toolwright, pathToFileURL(manifest)).href);
