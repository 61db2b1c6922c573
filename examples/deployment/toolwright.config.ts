/** The configuration of the server and of every worker. Each machine has the code; only names are stored. */
export default {
  store: process.env["DATABASE_URL"] ?? "toolwright.db",
  workflows: { order: "./order.tsx" },
};
