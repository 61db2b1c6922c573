import { expect, test } from "vitest";
import { ToolwrightError } from "../../errors.ts";
import { asStoreError } from "./errors.ts";

test.each([
  ["28P01", 'password authentication failed for user "ann"', /user name or the password/],
  ["28000", 'role "ann" does not exist', /user name or the password/],
  ["3D000", 'database "shop" does not exist', /Create the database/],
  ["42501", "permission denied for schema public", /Grant this user/],
  ["ECONNREFUSED", "connect ECONNREFUSED 127.0.0.1:1", /Start the server/],
  ["ERR_INVALID_URL", "Invalid URL", /percent codes: @ as %40/],
  ["", "Connection terminated unexpectedly", /server is running.*address of the store.*resume the run/],
  ["ECONNRESET", "read ECONNRESET", /server is running.*address of the store.*resume the run/],
  ["ENOTFOUND", "getaddrinfo ENOTFOUND nowhere", /host and the port/],
])("%s gets a helpful hint, not one about repairing the store", (code, message, hint) => {
  const error = asStoreError(Object.assign(new Error(message), { code }));
  if (!ToolwrightError.is(error)) throw new Error("not a ToolwrightError");
  expect(error.code).toBe("TOOL_STORE_FAILED");
  expect(error.message).toContain(message);
  expect(error.hint).toMatch(hint);
});
