/** Takes snapshots of the work tree after each side effect, if the runtime has `snapshots: "git"`. */
import type { Call } from "../invoke/call.ts";
import type { Host } from "../invoke/host.ts";
import { lazyModule } from "../util/lazy.ts";
import type { RuntimeOptions } from "./options.ts";

const snapshots = lazyModule(() => import("../snapshot/take-git-snapshot.ts"));

export function createSnapshots(option: RuntimeOptions["snapshots"]): Host["snapshotFor"] {
  if (option !== "git") return undefined;
  return (call, { rootDir, isolation, protectedPaths }) =>
    async (label, toolUseId) => {
      const { takeGitSnapshot } = await snapshots.get();
      const { seq, scope, host } = call;
      return takeGitSnapshot({
        store: host.store,
        storePath: host.settings.protectedPaths[0],
        rootDir,
        isolation,
        storeFiles: protectedPaths,
        name: snapshotName(call),
        runId: scope.identity.runId,
        seq,
        label,
        toolUseId,
      });
    };
}

/** The run id, plus the task and attempt unless they are the first: each of them numbers its calls from 1. */
function snapshotName({ scope }: Call): string {
  const { runId, nodeId, path } = scope.identity;
  const isPlain = nodeId === "main" && path === "0" && scope.attempt === 1;
  return isPlain ? runId : [runId, nodeId, path, scope.attempt].join(":");
}
