/**
 * How much of the repeated tests runs. `npm test` runs every check, and of long random series and large tables of cases a part.
 * `npm run test:exhaustive`, which runs every night, runs all of them.
 */
export const IS_EXHAUSTIVE = process.env["TOOLWRIGHT_TEST"] === "exhaustive";

export function amount(usual: number, exhaustive: number): number {
  return IS_EXHAUSTIVE ? exhaustive : usual;
}
