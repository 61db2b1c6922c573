/** Serves a store until a signal arrives. Clients can start and resume the workflows of the config. */
import { spawn } from "node:child_process";
import { isToken, TOKEN_RULE } from "../http/server-checks.ts";
import { absoluteAddress, withoutPassword } from "../operate/store-address.ts";
import { createRuntime } from "../runtime/create-runtime.ts";
import { hostNames, serveWith, type ToolwrightServer } from "../server/serve.ts";
import { OPERATOR, SCOPES, type ServerToken } from "../server/tokens.ts";
import { reserveStdout } from "../terminal/reserve-stdout.ts";
import { stopOnSignals } from "../terminal/stop-on-signals.ts";
import { CliError } from "./cli-error.ts";
import { EXIT } from "./command.ts";
import type { ServeCommandOptions } from "./commands/serve.ts";
import { runtimeOptionsOf } from "./load-config.ts";
import { loadSettingsFor } from "./project-settings.ts";
import type { Screen } from "./screen.ts";
import { servedWorkflows } from "./served-workflows.ts";
import { surviveUnhandledErrors } from "./survive-errors.ts";

export async function serveStore(screen: Screen, options: ServeCommandOptions): Promise<number> {
  const tokens = tokensOf(options.token);
  const config = await loadSettingsFor(screen);
  surviveUnhandledErrors("a workflow");
  using stop = stopOnSignals({
    onFirst: (name) => screen.warn(`${name}: stopping. Send it again to exit immediately.`),
    onOverdue: () => screen.warn("a run did not stop in time; exiting. It can be resumed."),
    exitCode: () => EXIT.failed,
  });
  const stopped = new Promise<void>((done) => stop.signal.addEventListener("abort", () => done()));
  const store = absoluteAddress(options.store);
  await using server = await serveWith(
    {
      store,
      host: options.host,
      port: options.port,
      tokens,
      allowedHosts: [...hostNames(options.host), ...(options.allowedHost ?? [])],
      allowedOrigins: options.allowedOrigin,
      readOnly: options.readOnly,
      // A file is loaded when a run of it is first requested, so that a broken one does not prevent the start.
      workflows: servedWorkflows(config),
      worker: options.worker,
    },
    () => createRuntime({ ...runtimeOptionsOf(config), store }),
  );
  print(screen, server, options.store);
  if (options.open === true) openInBrowser(screen, server.signInUrl);
  // With --json, stdout holds the result only, whatever workflows print.
  const restore = screen.isJson ? reserveStdout() : () => undefined;
  await stopped;
  restore();
  return EXIT.finished;
}

/** A token that was given is known already, and must not be printed. */
function print(screen: Screen, { url, signInUrl, token }: ToolwrightServer, store: string): void {
  screen.printJson({ url, signInUrl, token: token ?? null });
  screen.print(`Serving ${withoutPassword(store)} at ${url}  Sign in: ${signInUrl}`);
}

/** @throws CliError */
function tokensOf(token: string | undefined): readonly ServerToken[] | undefined {
  if (token === undefined) return undefined;
  if (!isToken(token)) {
    throw new CliError(
      "CLI_USAGE",
      `--token ${TOKEN_RULE}.`,
      "Choose another token, or leave --token out for a new one.",
    );
  }
  return [{ name: OPERATOR, token, scopes: SCOPES }];
}

function openInBrowser(screen: Screen, url: string): void {
  const program = process.platform === "darwin" ? "open" : "xdg-open";
  const child = spawn(program, [url], { detached: true, stdio: "ignore" });
  child.once("error", () =>
    screen.warn(`the browser could not be opened with ${program}; open the link yourself.`),
  );
  child.unref();
}
