/** Who sits at this computer. */
import { userInfo } from "node:os";

export function userName(): string | undefined {
  try {
    return userInfo().username;
  } catch {
    // A user without an entry in the system's list has no name to put on record.
    return undefined;
  }
}
