/** `toolwright capabilities`: shows the inventory of the project's tools, which is part of system prompts. */
import type { Command } from "commander";
import { type Acting, acting, EXIT, examples, withOutputOptions } from "../command.ts";

interface CapabilitiesOptions {
  readonly refresh?: boolean;
}

export function addCapabilitiesCommand(program: Command): void {
  const command = program
    .command("capabilities")
    .summary("show what the tools of this project are for")
    .description(
      "Shows .toolwright/capabilities.md, an inventory of the project's tools that is part of system prompts. " +
        "If there is none, or with --refresh, the config's model writes it. Without a model it is a fixed summary.",
    )
    .option("--refresh", "write it again, keeping its front matter");
  withOutputOptions(command)
    .addHelpText("after", examples("toolwright capabilities", "toolwright capabilities --refresh"))
    .action(
      acting(async ({ screen, options }: Acting<CapabilitiesOptions>) => {
        const { showCapabilities } = await import("../show-capabilities.ts");
        const { reserveStdout } = await import("../../terminal/reserve-stdout.ts");
        const restore = screen.isJson ? reserveStdout() : () => undefined;
        const { text, refreshed } = await showCapabilities(process.cwd(), options.refresh === true).finally(
          restore,
        );
        screen.printJson({ text, refreshed: refreshed ?? null });
        screen.printText(text);
        if (refreshed?.note !== undefined) screen.warn(refreshed.note);
        return EXIT.finished;
      }),
    );
}
