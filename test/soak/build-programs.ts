/** The programs of a soak, bundled: every kill needs a new process. */
import { join } from "node:path";
import { bundleProgram, createBundleFolder } from "../bundle-program.ts";
import { ROLES, type Role } from "./plan.ts";

const PROGRAMS: Readonly<Record<Role, string>> = {
  worker: "worker",
  "steady-worker": "worker",
  script: "script",
  chat: "chat",
  server: "server",
};

export interface BuiltPrograms {
  fileOf(role: Role): string;
  remove(): void;
}

export function buildPrograms(): BuiltPrograms {
  const folder = createBundleFolder();
  const files = new Map(
    ROLES.map((role) => {
      const file = join(import.meta.dirname, "programs", `${PROGRAMS[role]}.ts`);
      return [role, bundleProgram(file, folder.path)];
    }),
  );
  return { fileOf: (role) => files.get(role) ?? "", remove: () => folder.remove() };
}
