/**
 * Loaded before a command: kills its process with SIGKILL in the middle of what it does in its store. Statements count from the
 * first one that contains KILL_FROM: before it is step 0, after it step 1, and so on. On PostgreSQL everything that is sent counts.
 */
const { Socket } = require("node:net");
const { DatabaseSync, StatementSync } = require("node:sqlite");

const from = process.env.KILL_FROM ?? "";
let left = Number(process.env.KILL_AT);
let isCounting = false;

function step() {
  if (left === 0) process.kill(process.pid, "SIGKILL");
  left -= 1;
}

/** @param textOf what the arguments of the method say to the store */
function watch(prototype, name, textOf) {
  const original = prototype[name];
  prototype[name] = function (...args) {
    if (!isCounting && textOf(this, args).includes(from)) {
      isCounting = true;
      step();
    }
    const result = original.apply(this, args);
    if (isCounting) step();
    return result;
  };
}

for (const name of ["run", "get", "all"]) watch(StatementSync.prototype, name, ({ sourceSQL }) => sourceSQL);
watch(DatabaseSync.prototype, "exec", (_, [sql]) => sql);
watch(Socket.prototype, "write", (_, [data]) =>
  Buffer.isBuffer(data) ? data.toString("latin1") : String(data),
);
