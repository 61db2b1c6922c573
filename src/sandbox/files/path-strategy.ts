/**
 * How to hold a folder so that it cannot be swapped, per operating system. It must never open anything through a
 * link: the walk reads and checks links itself.
 */
import { closeSync, constants, openSync, readlinkSync, realpathSync } from "node:fs";
import { ToolwrightError } from "../../errors.ts";

/** An open folder. A child is addressed as `${base}/${name}`. */
export interface Directory {
  readonly descriptor: number;
  readonly base: string;
}

export interface PathStrategy {
  /** Added to the flags of every file open. */
  readonly fileFlags: number;
  /** Opens the root, the only path that may contain links, because the caller who chose it is trusted. */
  openRoot(rootDir: string): { directory: Directory; realPath: string };
  openChild(parent: Directory, name: string): Directory;
}

export function strategyFor(platform: NodeJS.Platform): PathStrategy {
  if (platform === "linux") return descriptorStrategy;
  if (platform === "darwin") return realPathStrategy(O_NOFOLLOW_ANY);
  throw new ToolwrightError(
    "TOOL_PLATFORM_UNSUPPORTED",
    `The sandboxed file tools work on Linux and macOS; this is ${platform}.`,
    { effect: "none" },
  );
}

// Node defines neither flag. O_PATH has this value on every architecture that Node is built for.
const O_PATH = 0o10000000;
const O_NOFOLLOW_ANY = 0x20000000;

const ROOT_FLAGS = O_PATH | constants.O_DIRECTORY;
const CHILD_FLAGS = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** Linux: `/proc/self/fd/N/name` is `openat(N, name)`, so swapping a folder after it was opened does no harm. */
const descriptorStrategy: PathStrategy = {
  fileFlags: constants.O_NOFOLLOW,
  openRoot(rootDir) {
    const descriptor = openSync(rootDir, ROOT_FLAGS);
    const base = `/proc/self/fd/${descriptor}`;
    try {
      return { directory: { descriptor, base }, realPath: readlinkSync(base) };
    } catch {
      // /proc always has this link, so /proc is not mounted.
      closeSync(descriptor);
      throw new ToolwrightError(
        "TOOL_SANDBOX_UNAVAILABLE",
        "The file tools need /proc, which is not mounted here.",
        {
          effect: "none",
        },
      );
    }
  },
  openChild(parent, name) {
    const descriptor = openSync(`${parent.base}/${name}`, CHILD_FLAGS);
    return { descriptor, base: `/proc/self/fd/${descriptor}` };
  },
};

/**
 * macOS has no path that leads through a descriptor. Each open uses the real path, and the kernel refuses it if any
 * part has become a link. `mkdir` and `rename` have no such flag, so a swap at the moment of the call is possible. It
 * can only create an empty folder elsewhere, because the temporary file does not exist there.
 *
 * The flag is a parameter, so that the same steps can be tested where the kernel supports only O_NOFOLLOW.
 */
export function realPathStrategy(nofollow: number): PathStrategy {
  const open = (path: string): Directory => ({
    descriptor: openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | nofollow),
    base: path,
  });
  return {
    fileFlags: nofollow,
    openRoot(rootDir) {
      const realPath = realpathSync.native(rootDir);
      return { directory: open(realPath), realPath };
    },
    openChild: (parent, name) => open(`${parent.base}/${name}`),
  };
}
