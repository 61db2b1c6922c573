/** What the server and every worker read. Each machine has the code; only names are stored. */
export default {
  store: process.env["DATABASE_URL"] ?? "toolwright.db",
  workflows: { order: "./order.tsx" },
};
