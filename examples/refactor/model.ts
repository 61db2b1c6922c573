/** The model of refactor.tsx: a real one if there is a key, else a script. */
import type { LanguageModel } from "ai";
import { createScriptedModel } from "toolwright/testing";

const PACKAGE = "@ai-sdk/anthropic";

export async function chooseModel(): Promise<LanguageModel> {
  if (!process.env["ANTHROPIC_API_KEY"]) return scriptedModel();
  const provider = await loadProvider();
  return provider.anthropic(process.env["ANTHROPIC_MODEL"] ?? "claude-fable-5-2");
}

interface Provider {
  anthropic(modelId: string): LanguageModel;
}

/** Not a dependency of Toolwright: install it if you have a key. */
async function loadProvider(): Promise<Provider> {
  try {
    return (await import(PACKAGE)) as Provider;
  } catch (cause) {
    throw new Error(
      `ANTHROPIC_API_KEY is set, but ${PACKAGE} is not installed. Run: npm install ${PACKAGE}. Or unset the key: then the model is scripted.`,
      { cause },
    );
  }
}

const PATCH = `--- a/work/cart.js
+++ b/work/cart.js
@@ -1,8 +1,4 @@
 export function total(items) {
-  let t = 0;
-  for (let i = 0; i < items.length; i++) {
-    if (items[i].n > 0) { t = t + items[i].n * items[i].p; }
-  }
-  if (t > 100) { t = t - t * 0.1; }
-  return t;
+  const sum = items.filter(({ n }) => n > 0).reduce((sofar, { n, p }) => sofar + n * p, 0);
+  return sum > 100 ? sum * 0.9 : sum;
 }
`;

function scriptedModel(): LanguageModel {
  const answers = [
    [
      { toolName: "read", input: { path: "work/cart.js" } },
      { toolName: "grep", input: { pattern: "total\\(", path: "work" } },
    ],
    [{ toolName: "edit", input: { path: "work/cart.js", patch: PATCH } }],
    [{ toolName: "bash", input: { cmd: "node", args: ["work/cart.test.js"] } }],
  ];
  return createScriptedModel(
    [
      ({ turn, toolResults }) =>
        answers[turn] ??
        JSON.stringify({ summary: `A loop became filter and reduce. The tests say: ${said(toolResults)}` }),
    ],
    { atEnd: "repeat-last" },
  );
}

function said(results: readonly { readonly output: unknown }[]): string {
  return results.map(({ output }) => String(output).trim()).join(" ");
}
