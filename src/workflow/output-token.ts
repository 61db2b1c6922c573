/** An output of a workflow: a key, and the schema of the values stored under it. */
import type { z } from "zod";

export interface OutputToken<Key extends string = string, Schema extends z.ZodType = z.ZodType> {
  readonly key: Key;
  readonly schema: Schema;
}

export type Schemas = Readonly<Record<string, z.ZodType>>;

export type OutputTokens<S extends Schemas> = {
  readonly [Key in keyof S & string]: OutputToken<Key, S[Key]>;
};
