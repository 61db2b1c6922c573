/** `context_tree`: lists items down to a depth. Deeper items are skipped without being read. */
import { z } from "zod";
import { below } from "../../store/context/location.ts";
import { type Drive, listDrives, listItems } from "../../store/context/items.ts";
import type { Transaction } from "../../store/store.ts";
import { defineBuiltInTool } from "../../tool/define-tool.ts";
import { parseAddress, pathWithoutDrive, toDrive, toPath } from "./address.ts";
import { currentHost } from "./current-host.ts";

const MOST_ENTRIES = 500;
const PAGE = 200;

export interface TreeEntry {
  readonly path: string;
  readonly type: "item" | "folder";
  readonly bytes?: number;
}

export const context_tree = defineBuiltInTool({
  name: "context_tree",
  description:
    "List the context items of a drive as a tree, down to max_depth. Without a drive, list the drives. Folders that end the list hold more.",
  group: "context",
  schema: () =>
    z.object({
      drive: z.string().optional().describe("The drive; without it the drives are listed"),
      path: z.string().default("/").describe("The folder to begin at"),
      max_depth: z.int().min(1).max(64).default(3).describe("How many levels to list"),
    }),
  cli: {
    positionals: {
      name: "drive:/path",
      parse: (text) => (text === "/" ? {} : parseAddress(text)),
    },
  },
  async execute({ drive, path, max_depth }) {
    const { store } = currentHost();
    if (drive === undefined) {
      if (toPath(path) !== "/") throw pathWithoutDrive(path);
      const drives = await store.read(() => listDrives(MOST_ENTRIES + 1));
      return {
        drives: drives.slice(0, MOST_ENTRIES) satisfies Drive[],
        truncated: drives.length > MOST_ENTRIES,
      };
    }
    const location = { drive: toDrive(drive), path: toPath(path) };
    const entries = await store.read(() => listTree(location.drive, location.path, max_depth));
    const truncated = entries.length > MOST_ENTRIES;
    return {
      ...location,
      entries: entries.slice(0, MOST_ENTRIES),
      truncated,
      ...(truncated ? { note: "There is more. List one of the folders, or use a smaller max_depth." } : {}),
    };
  },
});

/** Items and their folders, ordered by path. */
function* listTree(drive: string, root: string, maxDepth: number): Transaction<TreeEntry[]> {
  const [start, end] = below(root);
  const depthOf = (path: string): number => path.slice(start.length).split("/").length;
  const entries: TreeEntry[] = [];
  const folders = new Set<string>();
  for (let from = start; entries.length <= MOST_ENTRIES;) {
    const items = yield* listItems(drive, from, end, PAGE);
    const last = items.at(-1);
    if (last === undefined) break;
    // Continue after this path.
    from = `${last.path}\u0001`;
    for (const { path, bytes } of items) {
      for (const folder of foldersAbove(path, start)) {
        if (depthOf(folder) > maxDepth || folders.has(folder)) continue;
        folders.add(folder);
        entries.push({ path: `${folder}/`, type: "folder" });
      }
      if (depthOf(path) <= maxDepth) entries.push({ path, type: "item", bytes });
    }
    if (depthOf(last.path) > maxDepth) from = below(ancestorAt(last.path, start, maxDepth))[1];
  }
  return entries;
}

function foldersAbove(path: string, start: string): string[] {
  const names = path.slice(start.length).split("/").slice(0, -1);
  return names.map((_, index) => start + names.slice(0, index + 1).join("/"));
}

function ancestorAt(path: string, start: string, depth: number): string {
  return start + path.slice(start.length).split("/").slice(0, depth).join("/");
}
