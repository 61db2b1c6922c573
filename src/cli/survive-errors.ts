/** For commands that serve: an unhandled error of one call or run must not end the server for the others. */
import { messageOf } from "../invoke/error-record.ts";
import { toTerminalLine } from "../terminal/terminal-text.ts";

/** @param where names the code in the warning, such as "a tool" */
export function surviveUnhandledErrors(where: string): void {
  for (const name of ["uncaughtException", "unhandledRejection"] as const) {
    process.removeAllListeners(name);
    process.on(name, (error: unknown) => {
      process.stderr.write(
        `toolwright: ${toTerminalLine(`unhandled error in ${where}: ${messageOf(error)}`)}\n`,
      );
    });
  }
}
