/** The request to a model, in the format of the loop that sends it. */
export interface AskedModel {
  readonly messages: readonly unknown[];
  /** System prompt, tools and everything else that is not a message. */
  readonly settings: Readonly<Record<string, unknown>>;
}

/** The stored form: the difference to an earlier request. Its field names are part of the stored format. */
export interface StoredRequest {
  /** The position of the request that this one continues. */
  readonly after?: number | undefined;
  /** How many of its messages this one repeats. */
  readonly shared: number;
  /** The messages after them. */
  readonly added: readonly unknown[];
  /** Left out if they are the same. */
  readonly settings?: Readonly<Record<string, unknown>> | undefined;
}
