/** JSON leaves out fields that are undefined. A row has the same fields always, so they are null. */
export function withNulls<Row extends object>(
  row: Row,
): { [Name in keyof Row]: Exclude<Row[Name], undefined> | null } {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value ?? null])) as never;
}
