#!/usr/bin/env node
/**
 * The entry point of the command. It only checks the Node version, in syntax that old versions can parse, and then
 * loads everything else.
 */
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

if (major < 22 || (major === 22 && minor < 13)) {
  console.error(
    `toolwright: Node ${process.versions.node} is too old. Toolwright needs Node 22.13 or later, for node:sqlite. See https://nodejs.org.`,
  );
  process.exitCode = 1;
} else {
  void import("./program.ts").then(({ runProgram }) => runProgram(process.argv));
}
