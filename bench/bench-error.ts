/** An error that the user can fix. It is printed without a stack. */
export class BenchError extends Error {}
