/**
 * Copies the objects of a snapshot into our own folder through a pack, so that each gets the id of its content. Git
 * itself does not compare: an agent that rewrites an object file, or adds a pack with a false index, could give the
 * stored commit any content. Changed objects are missing from the copy, and the restore is refused.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { ToolwrightError } from "../errors.ts";
import type { PrivateGitDir } from "./private-git-dir.ts";

/** Returns the folder to use instead of the repository's own. */
export async function verifySnapshot(own: PrivateGitDir, commit: string): Promise<string> {
  const {
    reading: { git },
    folder,
  } = own;
  const verified = join(folder, "verified");
  mkdirSync(verified);
  const env = { GIT_OBJECT_DIRECTORY: verified, GIT_ALTERNATE_OBJECT_DIRECTORIES: "" };
  const list = ["rev-list", "--objects", "--no-walk", "--no-object-names", commit];
  try {
    const ids = await git(list);
    const pack = join(folder, "snapshot");
    const name = await git(["pack-objects", "-q", "--window=0", pack], { input: ids });
    const inputFile = `${pack}-${name.toString().trim()}.pack`;
    await git(["index-pack", "--stdin"], { env, inputFile });
    await git(list, { env });
  } catch (cause) {
    if (!ToolwrightError.is(cause) || cause.code !== "TOOL_COMMAND_FAILED") throw cause;
    throw new ToolwrightError(
      "TOOL_PATH_PROTECTED",
      `The objects of commit ${commit} are missing or were changed since the snapshot. Nothing was restored. ${cause.message}`,
      { hint: "Run `git fsck` to see which. Restore another snapshot.", effect: "none", cause },
    );
  }
  return verified;
}
