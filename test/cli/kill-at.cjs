/**
 * Loaded before a command: kills its process with SIGKILL at the step KILL_AT of what it does with files in the folder KILL_IN.
 * Each operation has a step before and one after it; a write also has one in the middle.
 */
const fs = require("node:fs");
const { syncBuiltinESMExports } = require("node:module");

const folder = process.env.KILL_IN ?? "";
const descriptors = new Set();
let left = Number(process.env.KILL_AT);

function step() {
  if (left === 0) process.kill(process.pid, "SIGKILL");
  left -= 1;
}

function isInside(target) {
  return typeof target === "number" ? descriptors.has(target) : String(target).includes(folder);
}

function around(name, use) {
  const original = fs[name];
  fs[name] = (target, ...rest) => {
    if (!isInside(target)) return original(target, ...rest);
    step();
    const result = use(original, target, rest);
    step();
    return result;
  };
}

const plainly = (original, target, rest) => original(target, ...rest);
around("openSync", (original, target, rest) => {
  const descriptor = original(target, ...rest);
  descriptors.add(descriptor);
  return descriptor;
});
for (const name of ["writeFileSync", "writeSync"])
  around(name, (original, target, [text, ...rest]) => {
    const half = Math.floor(text.length / 2);
    original(target, text.slice(0, half), ...rest);
    step();
    return original(target, text.slice(half), ...rest);
  });
for (const name of ["fsyncSync", "renameSync", "closeSync"]) around(name, plainly);
syncBuiltinESMExports();
