/** The name of the user who runs this process. */
import { userInfo } from "node:os";

export function userName(): string | undefined {
  try {
    return userInfo().username;
  } catch {
    // The user id has no entry in the password database.
    return undefined;
  }
}
