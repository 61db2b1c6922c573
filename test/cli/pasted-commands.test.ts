/** Every command that is printed works when it is pasted into a shell, in the folder where it was printed. */
import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join, resolve } from "node:path";
import { createRuntime, defineTool } from "toolwright";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { TEMPLATES } from "../../src/cli/templates.ts";
import { IS_EXHAUSTIVE } from "../amount.ts";
import { createFolder, MAIN, toolwright } from "./command.ts";

interface Pasted {
  readonly command: string;
  readonly code: number | null;
  readonly output: string;
}

/** A folder whose shell finds the package: as a program on the PATH, and through npx. */
class Project {
  readonly folder: string;
  readonly #bin: string;
  readonly #env: Readonly<Record<string, string>>;

  constructor(name: string, caller: "npx" | "node" = "node") {
    const around = createFolder();
    this.folder = join(around, name);
    this.#bin = join(around, "bin");
    this.#env = caller === "npx" ? { npm_command: "exec" } : {};
    mkdirSync(this.folder);
    mkdirSync(this.#bin);
    const script = (shift: string): string =>
      `#!/bin/sh\n${shift}exec "${process.execPath}" "${MAIN}" "$@"\n`;
    for (const [file, text] of [
      ["toolwright", script("")],
      ["npx", script("shift\n")],
    ] as const) {
      writeFileSync(join(this.#bin, file), text);
      chmodSync(join(this.#bin, file), 0o755);
    }
  }

  write(files: Readonly<Record<string, string>>): void {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(this.folder, name), text);
  }

  /** Commands that ask get a terminal, on which the user agrees. */
  paste(command: string): Pasted {
    const asks = command.includes(" --ask");
    const [program, ...args] = asks ? ["script", "-qfec", command, "/dev/null"] : ["sh", "-c", command];
    const { status, stdout, stderr } = spawnSync(program ?? "", args, {
      cwd: this.folder,
      encoding: "utf8",
      input: asks ? "y\n" : "",
      env: {
        ...process.env,
        NO_COLOR: "1",
        ...this.#env,
        PATH: `${this.#bin}${delimiter}${process.env["PATH"] ?? ""}`,
      },
    });
    return { command, code: status, output: `${stdout}${stderr}` };
  }
}

const ORDER = '{"item":"pear","quantity":50}';
const CONFIG = 'import { placeOrder } from "./place-order.ts";\nexport default { tools: [placeOrder] };\n';

const TEMPLATE = resolve(import.meta.dirname, "../../templates/init");

/** The files that `init` writes, with a large order. */
function createShop(name: string, caller?: "npx" | "node"): Project {
  const project = new Project(name, caller);
  for (const file of TEMPLATES.workflow.files) cpSync(join(TEMPLATE, file), join(project.folder, file));
  project.write({ "order.json": ORDER });
  return project;
}

/** The exit code of a command that does what it says. */
function expectedCode(command: string, waits: boolean): number {
  if (/ deny .*--resume/.test(command)) return 1;
  return waits ? 3 : 0;
}

async function examplesOf(name: string): Promise<string[]> {
  const { stdout } = await toolwright(createFolder(), [name, "--help"].filter(Boolean));
  const [, examples = ""] = stdout.split("Examples:\n");
  const own = new RegExp(`node \\S*main\\.ts`);
  return (examples.split("\n\n")[0] ?? "").split("\n").flatMap((line) => {
    return line.trim() === "" ? [] : [line.trim().replace(own, "toolwright")];
  });
}

/** A request about an interrupted call of the run order-17. */
async function interruptOrder(folder: string): Promise<void> {
  const started = Promise.withResolvers<void>();
  const order = defineTool({
    name: "place_order",
    schema: z.object({}),
    sideEffect: true,
    acceptsIdempotencyKey: false,
    execute: (_args, ctx) =>
      new Promise<never>((_resolve, reject) => {
        ctx.signal.addEventListener("abort", () => reject(new Error("stopped")));
        started.resolve();
      }),
  });
  await using runtime = createRuntime({ store: join(folder, "toolwright.db") });
  const stop = new AbortController();
  const first = runtime.call(order, {}, { runId: "order-17", signal: stop.signal });
  await started.promise;
  stop.abort();
  await first;
  expect(await runtime.call(order, {}, { runId: "order-17" })).toMatchObject({ status: "pending" });
}

describe("the examples in the help of", () => {
  const run = (project: Project, command: string, waits = false): void => {
    const pasted = project.paste(command);
    expect(pasted, pasted.output).toMatchObject({ code: expectedCode(command, waits) });
  };

  it("toolwright itself work one after the other", async () => {
    const project = new Project("my shop");
    const examples = await examplesOf("");
    expect(examples).toHaveLength(6);
    for (const example of examples) {
      if (/ tools\b/.test(example)) project.write({ "toolwright.config.ts": CONFIG });
      run(project, example, / up /.test(example));
    }
  });

  it("init and up work in a new project", async () => {
    for (const example of await examplesOf("init")) run(new Project("my shop"), example);
    const project = createShop("my shop");
    const examples = await examplesOf("up");
    expect(examples).toHaveLength(5);
    for (const example of examples) {
      // It stays until the order is approved.
      if (example.includes("--wait")) continue;
      rmSync(join(project.folder, "toolwright.db"), { force: true });
      run(project, example, /order\.json/.test(example) && !example.includes("--ask"));
    }
  });

  it("commands about runs work on a run that waits", async () => {
    const project = createShop("my shop");
    project.paste("toolwright up workflow.tsx --input @order.json --run-id order-17");
    const names = ["inspect", "calls", "why", "approvals", "ps", "gc", "test", "doctor", "cancel", "resume"];
    for (const name of names) {
      const examples = await examplesOf(name);
      expect(examples.length).toBeGreaterThan(0);
      // The last one approves.
      const asksLast = (one: string): number => (one.includes("--ask") ? 1 : 0);
      for (const example of examples.toSorted((one, other) => asksLast(one) - asksLast(other))) {
        if (!example.includes("postgres://"))
          run(project, example, name === "resume" && !example.includes("--ask"));
      }
    }
  });

  it.each(["approve", "deny"])("%s decide a run that waits", async (name) => {
    const examples = await examplesOf(name);
    const project = createShop("my shop");
    const start = "toolwright up workflow.tsx --input @order.json --run-id order-17";
    for (const example of examples) {
      rmSync(join(project.folder, "toolwright.db"), { force: true });
      if (/--happened|--run-again|--give-up/.test(example)) await interruptOrder(project.folder);
      else project.paste(start);
      run(project, example);
    }
  });

  it.each(["tools", "capabilities", "mcp"])("%s work in a project with a config", async (name) => {
    const project = createShop("my shop");
    project.write({ "toolwright.config.ts": CONFIG });
    for (const example of await examplesOf(name)) {
      // It serves until it is stopped.
      if (example.includes("--http")) continue;
      run(project, example);
    }
  });
});

it("init prints lines that work when pasted in order, even for a folder with a space", () => {
  const project = new Project("shop", "npx");
  const { output } = project.paste('npx toolwright init "my orders"');
  // The packages need no installation here: the command brings its own. npm runs in templates.test.ts.
  const lines = output
    .split("\n")
    .filter((line) => /^ {2}(?:cd|npx) /.test(line))
    .map((line) => line.replace(" && npm install", ""));
  const waits = (line: string): string => line.replace(/(--run-id pears)/, "$1 || [ $? = 3 ]");
  const pasted = project.paste(`set -e\n${lines.map(waits).join("\n")}`);
  expect(pasted.code, pasted.output).toBe(0);
  expect(existsSync(join(project.folder, "my orders", "orders.txt"))).toBe(true);
});

interface Setup {
  readonly folder: string;
  readonly caller: "npx" | "node";
  /** As it is typed. */
  readonly store: string | undefined;
}

const SETUPS: readonly Setup[] = [
  { folder: "my shop", caller: "node", store: undefined },
  { folder: "it's a $HOME", caller: "npx", store: "../other place/runs.db" },
];

// The last one has all that makes a command hard to print. The other one runs every night.
describe.each(IS_EXHAUSTIVE ? SETUPS : SETUPS.slice(-1))(
  "commands printed in '$folder' with the store $store, called by $caller",
  (setup) => {
    const { folder, caller, store } = setup;
    const withStore = (command: string): string =>
      store === undefined ? command : `${command} --store '${store}'`;

    /** Runs a command with the store as it was prepared. */
    function createRunner(project: Project): (command: string) => Pasted {
      const path = resolve(project.folder, store ?? "toolwright.db");
      const kept = `${path}.kept`;
      copyFileSync(path, kept);
      return (command) => {
        for (const ending of ["-wal", "-shm"]) rmSync(`${path}${ending}`, { force: true });
        copyFileSync(kept, path);
        return project.paste(command);
      };
    }

    const own = caller === "npx" ? "npx toolwright" : String.raw`node \S*main\.js`;
    const printedIn = (text: string): string[] =>
      [...text.matchAll(new RegExp(`(${own} (?:(?!, or |; or |\\. | \\(|["\`]|\\s+#).)+)`, "g"))].map(
        ([, command = ""]) => command.trim().replace(/\.$/, ""),
      );

    it("work when they are pasted, and so do the commands that they print", () => {
      const project = createShop(folder, caller);
      if (store !== undefined) mkdirSync(dirname(resolve(project.folder, store)), { recursive: true });
      const up = withStore(`npx toolwright up workflow.tsx --input '${ORDER}' --run-id`);
      expect(project.paste(up.replace("--run-id", "--run-id order-17"))).toMatchObject({ code: 3 });
      const run = createRunner(project);
      const typed = [
        "why order-17",
        "approvals",
        "cancel order-17",
        "approve order-17",
        "deny order-17",
        // These fail, and print what to do.
        "why order-18",
        "approve order-18",
        "up nope.tsx",
        "up workflow.tsx --run-id order-17",
        "ps --nope",
      ].map((command) => withStore(`npx toolwright ${command}`));
      const seen = new Set<string>();
      const failed: Pasted[] = [];
      let waiting = typed.flatMap((command) => printedIn(run(command).output));
      for (let depth = 0; depth < 2; depth += 1) {
        const found: string[] = [];
        for (const command of waiting) {
          if (seen.has(command)) continue;
          seen.add(command);
          const pasted = run(command);
          const codes = [0, 3, ...(/ deny .*--resume/.test(command) ? [1] : [])];
          if (!codes.includes(pasted.code ?? -1)) failed.push(pasted);
          // These print commands for another project.
          if (!/ init | --help/.test(command)) found.push(...printedIn(pasted.output));
        }
        waiting = found.filter((command) => !/apr_/.test(command));
      }
      expect(failed).toEqual([]);
      const verbs = new Set(
        [...seen].map((command) => command.replace(new RegExp(`^${own} `), "").split(" ")[0]),
      );
      expect([...verbs]).toEqual(expect.arrayContaining(["approve", "deny", "resume", "ps", "approvals"]));
    });
  },
);
