/**
 * Column tables: each entity lists its columns once, and the row type, the SELECT list, the parser and the parameters of
 * INSERT and UPDATE follow from that list. A new column is one line in its table and one migration.
 *
 * Build SQL text at module level: stores cache prepared statements by their text.
 */
import { toStorableText } from "../../util/storable-text.ts";
import type { Row, SqlValue } from "../statement.ts";
import { readInteger, readIntegerOrNull, readOneOf, readText, readTextOrNull } from "./columns.ts";

export interface Column<T> {
  readonly name: string;
  /** PostgreSQL treats a parameter in the select list of INSERT … SELECT as text unless it is cast. */
  readonly cast?: "BIGINT" | "DOUBLE PRECISION" | undefined;
  /** @param label the name of the column in the result, which a join may prefix */
  read(row: Row, label: string): T;
  write(value: T): SqlValue;
}

/** A new row may omit this column. */
export interface OptionalColumn<T> extends Column<T> {
  readonly defaultValue: T;
}

export type ColumnMap = Readonly<Record<string, Column<unknown>>>;

type ValueOf<C> = C extends Column<infer T> ? T : never;
type OptionalKey<C> = { [P in keyof C]: C[P] extends OptionalColumn<unknown> ? P : never }[keyof C];

/** A row as it is read. */
export type RowOf<C> = { readonly [P in keyof C]: ValueOf<C[P]> };

/** A row as it is inserted: columns with a default may be omitted. */
export type NewRowOf<C> = { readonly [P in Exclude<keyof C, OptionalKey<C>>]: ValueOf<C[P]> } & {
  readonly [P in OptionalKey<C>]?: ValueOf<C[P]> | undefined;
};

/** Columns of one table, in a fixed order. */
export interface Columns<C extends ColumnMap> {
  readonly map: C;
  /** The values of columns that a new row may omit. */
  readonly defaults: Pick<RowOf<C>, OptionalKey<C>>;
  /** `a, b`, or `t.a, t.b` for an alias, or `t.a AS p_a, t.b AS p_b` with a prefix too. */
  list(alias?: string, prefix?: string): string;
  /** `CAST(?3 AS BIGINT), ?4` for an INSERT; `first` is the number of the first parameter. */
  parameters(first?: number): string;
  /** `a = ?3, b = ?4` for an UPDATE. */
  assignments(first: number): string;
  /** `a = excluded.a, b = excluded.b` for an upsert. */
  excluded(): string;
  /** The parameters, in the order of the columns, after other parameters of the statement. */
  values(row: NewRowOf<C>, before?: readonly SqlValue[]): SqlValue[];
  readonly parse: (row: Row) => RowOf<C>;
  /** A parser for a list with this prefix. */
  parser(prefix: string): (row: Row) => RowOf<C>;
  pick<P extends keyof C & string>(...properties: readonly P[]): Columns<Pick<C, P>>;
  omit<P extends keyof C & string>(...properties: readonly P[]): Columns<Omit<C, P>>;
}

export function columns<const C extends ColumnMap>(map: C): Columns<C> {
  const entries = Object.entries(map);
  const names = entries.map(([, column]) => column.name);
  const writers = entries.map(([property, column]) => ({
    property,
    column,
    defaultValue: "defaultValue" in column ? column.defaultValue : undefined,
  }));
  const subset = (isIncluded: (property: string) => boolean): ColumnMap =>
    Object.fromEntries(entries.filter(([property]) => isIncluded(property)));
  const parser = (prefix: string): ((row: Row) => RowOf<C>) => {
    const readers = entries.map(([property, column]) => ({ property, column, label: prefix + column.name }));
    return (row) => {
      const parsed: Record<string, unknown> = {};
      for (const { property, column, label } of readers) parsed[property] = column.read(row, label);
      return parsed as RowOf<C>;
    };
  };
  return {
    map,
    defaults: Object.fromEntries(
      writers.flatMap(({ property, defaultValue }) =>
        defaultValue === undefined ? [] : [[property, defaultValue]],
      ),
    ) as Pick<RowOf<C>, OptionalKey<C>>,
    list: (alias, prefix) =>
      names
        .map((name) => (alias === undefined ? name : `${alias}.${name}`))
        .map((name, index) => (prefix === undefined ? name : `${name} AS ${prefix}${names[index]}`))
        .join(", "),
    parameters: (first = 1) =>
      entries
        .map(([, { cast }], index) =>
          cast === undefined ? `?${first + index}` : `CAST(?${first + index} AS ${cast})`,
        )
        .join(", "),
    assignments: (first) => names.map((name, index) => `${name} = ?${first + index}`).join(", "),
    excluded: () => names.map((name) => `${name} = excluded.${name}`).join(", "),
    values: (row, before = []) => {
      const given = row as Readonly<Record<string, unknown>>;
      const values = [...before];
      for (const { property, column, defaultValue } of writers) {
        values.push(column.write(given[property] ?? defaultValue));
      }
      return values;
    },
    parse: parser(""),
    parser,
    pick: (...properties) => columns(subset((property) => properties.includes(property as never))) as never,
    omit: (...properties) => columns(subset((property) => !properties.includes(property as never))) as never,
  };
}

export function text(name: string): Column<string> {
  return { name, read: readText, write: asIs };
}

export function textOrNull(name: string): OptionalColumn<string | null> {
  return { name, read: readTextOrNull, write: asIs, defaultValue: null };
}

/** Text for people only: characters that a store cannot hold are replaced. */
export function displayText(name: string): Column<string> {
  return { name, read: readText, write: toStorableText };
}

export function displayTextOrNull(name: string): OptionalColumn<string | null> {
  return {
    name,
    read: readTextOrNull,
    write: (value) => (value === null ? null : toStorableText(value)),
    defaultValue: null,
  };
}

export function integer(name: string): Column<number> {
  return { name, cast: "BIGINT", read: readInteger, write: asIs };
}

export function integerOrNull(name: string): OptionalColumn<number | null> {
  return { name, cast: "BIGINT", read: readIntegerOrNull, write: asIs, defaultValue: null };
}

export function real(name: string): Column<number> {
  return { name, cast: "DOUBLE PRECISION", read: readInteger, write: asIs };
}

/** A boolean, stored as 0 or 1. */
export function flag(name: string): Column<boolean> {
  return { name, cast: "BIGINT", read: (row, label) => readInteger(row, label) === 1, write: Number };
}

export function flagOrNull(name: string): OptionalColumn<boolean | null> {
  return {
    name,
    cast: "BIGINT",
    read: (row, label) => {
      const value = readIntegerOrNull(row, label);
      return value === null ? null : value === 1;
    },
    write: (value) => (value === null ? null : Number(value)),
    defaultValue: null,
  };
}

export function oneOf<const T extends string>(name: string, values: readonly T[]): Column<T> {
  return { name, read: (row, label) => readOneOf(row, label, values), write: asIs };
}

export function oneOfOrNull<const T extends string>(
  name: string,
  values: readonly T[],
): OptionalColumn<T | null> {
  return {
    name,
    read: (row, label) => (readTextOrNull(row, label) === null ? null : readOneOf(row, label, values)),
    write: asIs,
    defaultValue: null,
  };
}

export function withDefault<T>(column: Column<T>, defaultValue: T): OptionalColumn<T> {
  return { ...column, defaultValue };
}

function asIs(value: SqlValue): SqlValue {
  return value;
}
