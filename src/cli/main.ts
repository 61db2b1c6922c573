#!/usr/bin/env node
/**
 * The first file of the command. It only looks at the version of Node, in words that old ones can read too; everything
 * else is loaded after that.
 */
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

if (major < 22 || (major === 22 && minor < 13)) {
  console.error(
    `toolwright: Node ${process.versions.node} is too old; Node 22.13 or later is needed, for its SQLite. See https://nodejs.org.`,
  );
  process.exitCode = 1;
} else {
  void import("./program.ts").then(({ runProgram }) => runProgram(process.argv));
}
