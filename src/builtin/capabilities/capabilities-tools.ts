/** `capabilities_refresh`: the tool with which an agent keeps the inventory of its tools fresh. */
import { z } from "zod";
import { currentAmbient } from "../../invoke/ambient.ts";
import { defineBuiltInTool } from "../../tool/define-tool.ts";
import { currentSettings } from "../settings.ts";
import { listMcpTools, listTools } from "./inventory.ts";
import { refreshCapabilities } from "./refresh-capabilities.ts";

const capabilities_refresh = defineBuiltInTool({
  name: "capabilities_refresh",
  description:
    "Write the inventory of the tools of this project anew. It is a part of later system prompts. Call it when tools were added or removed.",
  group: "capabilities",
  schema: () => z.object({}),
  sideEffect: true,
  // The file is replaced in one step, by what is so now.
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
