/** `capabilities_refresh`: lets an agent update the inventory of its tools. */
import { z } from "zod";
import { currentAmbient } from "../../invoke/ambient.ts";
import { defineBuiltInTool } from "../../tool/define-tool.ts";
import { currentSettings } from "../settings.ts";
import { listMcpTools, listTools } from "./inventory.ts";
import { refreshCapabilities } from "./refresh-capabilities.ts";

const capabilities_refresh = defineBuiltInTool({
  name: "capabilities_refresh",
  description:
    "Rewrite the inventory of this project's tools, which is part of later system prompts. Call it after tools were added or removed.",
  group: "capabilities",
  schema: () => z.object({}),
  sideEffect: true,
  // The file is replaced atomically with the current state, so repeating it is safe.
  idempotent: true,
  async execute(_, ctx) {
    const host = currentAmbient()?.scope.host;
    const { rootDir } = currentSettings();
    const { mcpxClient } = ctx as { readonly mcpxClient?: unknown };
    const others = await listMcpTools(mcpxClient);
    const refreshed = await refreshCapabilities({
      rootDir,
      tools: [...listTools(host?.tools ?? []), ...others.tools],
      model: host?.models.language,
      signal: ctx.signal,
    });
    const note = [refreshed.note, others.note].filter((text) => text !== undefined).join(" ");
    return { ...refreshed, ...(note === "" ? {} : { note }) };
  },
});

export const capabilitiesTools = { capabilities_refresh };
