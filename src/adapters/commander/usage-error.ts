/** What a person typed cannot be understood. It never reaches the tool, so it is not on record. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "UsageError";
  }
}
