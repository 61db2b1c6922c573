/** The projects that `toolwright init` writes: their files, their packages and the commands to try. */
import { existsSync, readFileSync } from "node:fs";
import { readManifest } from "../load/package-root.ts";

const FOLDER = new URL("../../templates/init/", import.meta.url);
/** For coding agents; part of the package. */
const SKILL = new URL("../../skills/toolwright/SKILL.md", import.meta.url);

export interface Template {
  readonly about: string;
  /** Files of `templates/init`. */
  readonly files: readonly string[];
  readonly packages: Readonly<Record<string, string>>;
  /** Only for `npm run check`. */
  readonly types?: Readonly<Record<string, string>>;
  readonly start: string;
  readonly startSays: string;
  /** Further commands, each with a description. */
  readonly more: readonly (readonly [command: string, what: string])[];
}

// Node before 22.18 needs the flag to run TypeScript.
const node = (file: string): string => `node --experimental-strip-types ${file}`;

export const TEMPLATES: Readonly<Record<"tool" | "agent" | "chat" | "workflow" | "mcp", Template>> = {
  tool: {
    about: "one tool, and a program that calls it once per run id",
    files: ["place-order.ts", "order.ts", "place-order.test.ts"],
    packages: {},
    start: node("order.ts"),
    startSays: "orders; a second time returns the logged result",
    more: [
      ["npx toolwright calls monday", "lists the logged calls"],
      ["npm start pears pear 50", "waits for approval"],
      ["npx toolwright approve pears", "approves it; then run the same command again"],
    ],
  },
  agent: {
    about: "an AI SDK agent with a tool; a scripted model runs it offline",
    files: ["place-order.ts", "model.ts", "agent.ts", "main.ts", "agent.test.ts"],
    packages: { ai: "^7.0.0" },
    start: node("main.ts"),
    startSays: "runs the agent; one of its two orders waits for approval",
    more: [
      ["npx toolwright approve monday", "approves the large order"],
      ["npm start", "resumes the run: nothing is ordered twice"],
      ["npx toolwright calls monday", "lists the logged calls"],
    ],
  },
  chat: {
    about: "a server with useChat whose answers survive reloads and restarts",
    files: [
      "place-order.ts",
      "chat.ts",
      "chat-model.ts",
      "chat-page.tsx",
      "serve-chat.ts",
      "server.ts",
      "chat.test.ts",
    ],
    packages: {
      "@ai-sdk/react": "^4.0.0",
      ai: "^7.0.0",
      esbuild: "^0.28.0",
      react: "^19.3.0",
      "react-dom": "^19.3.0",
    },
    types: { "@types/react": "^19.0.0", "@types/react-dom": "^19.0.0" },
    start: node("server.ts"),
    startSays: "serves the chat at http://127.0.0.1:3000 until you stop it",
    more: [
      ["npx toolwright approvals", "lists orders that wait for approval"],
      ["npx toolwright calls monday", "lists the logged calls of the chat"],
    ],
  },
  workflow: {
    about: "a workflow with two tasks, a tool and an approval",
    files: ["place-order.ts", "workflow.tsx", "workflow.test.ts"],
    packages: {},
    start: `toolwright up workflow.tsx --input '{"item":"apple","quantity":2}'`,
    startSays: "orders, and finishes",
    more: [
      [
        `npx toolwright up workflow.tsx --input '{"item":"pear","quantity":50}' --run-id pears`,
        "waits for approval (exit code 3)",
      ],
      ["npx toolwright why pears", "says what it waits for, and what to type"],
      ["npx toolwright approve pears --resume", "approves the order and resumes the run"],
      ["npx toolwright inspect pears", "shows the run, its tasks and outputs"],
    ],
  },
  mcp: {
    about: "a tool as an MCP server and as a command, and a client that tries it",
    files: ["place-order.ts", "toolwright.config.ts", "client.ts", "mcp.test.ts"],
    packages: { "@modelcontextprotocol/client": "^2.4.0", "@modelcontextprotocol/server": "^2.4.0" },
    start: node("client.ts"),
    startSays: "starts the server, and orders over MCP",
    more: [
      ["npx toolwright place-order apple 2", "the same tool as a command"],
      ["npx toolwright tools", "lists the tools and their commands"],
      ["npx toolwright mcp --help", "how to serve them over stdio or HTTP"],
    ],
  },
};

export type TemplateName = keyof typeof TEMPLATES;

export const TEMPLATE_NAMES = Object.keys(TEMPLATES) as TemplateName[];

/** Files that most projects have already. They are kept, and the others are still written. */
export const SHARED_FILES = ["package.json", "tsconfig.json", ".gitignore", "AGENTS.md"] as const;

/** Every file of the project with its text. */
export function projectFiles(name: TemplateName, { agents }: { readonly agents: boolean }) {
  const { files } = TEMPLATES[name];
  return {
    ...Object.fromEntries(files.map((file) => [file, readTemplate(file)])),
    ...(agents ? { "AGENTS.md": agentsFile() } : {}),
    "package.json": toJson(manifestOf(name)),
    "tsconfig.json": toJson(TSCONFIG),
    ".gitignore": "node_modules/\ntoolwright.db*\norders.txt\n",
  };
}

const CHECKERS = { "@types/node": "^24.0.0", typescript: "^5.9.0 || ^7.0.0" } as const;

export function checkersOf(name: TemplateName): Readonly<Record<string, string>> {
  return { ...CHECKERS, ...TEMPLATES[name].types };
}

export function packagesOf(name: TemplateName): Readonly<Record<string, string>> {
  return { ...TEMPLATES[name].packages, toolwright: `^${readManifest().version}`, zod: "^4.1.0" };
}

function manifestOf(name: TemplateName): object {
  return {
    type: "module",
    private: true,
    scripts: { start: TEMPLATES[name].start, test: "toolwright test", check: "tsc" },
    dependencies: packagesOf(name),
    devDependencies: checkersOf(name),
  };
}

/** For the editor and for `npm run check`; nothing needs it to run. */
const TSCONFIG = {
  compilerOptions: {
    target: "es2023",
    lib: ["es2023", "esnext.disposable"],
    module: "nodenext",
    // TypeScript 7 loads no types by itself.
    types: ["node"],
    jsx: "react-jsx",
    jsxImportSource: "toolwright",
    strict: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    skipLibCheck: true,
  },
};

function agentsFile(): string {
  const skill = existsSync(SKILL)
    ? "Examples for common tasks are in `node_modules/toolwright/skills/toolwright/SKILL.md`.\n"
    : "";
  return readTemplate("agents.md") + skill;
}

function readTemplate(file: string): string {
  return readFileSync(new URL(file, FOLDER), "utf8");
}

function toJson(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
