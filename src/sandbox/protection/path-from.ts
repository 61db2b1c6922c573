/** Joins paths as the kernel reads them. Never `resolve` or `join`: `..` after a link leads elsewhere than it is spelled. */
import { isAbsolute } from "node:path";

export function pathFrom(base: string, path: string): string {
  const whole = isAbsolute(path) ? path : `${base}/${path}`;
  const names = whole.split("/").filter((name) => name !== "" && name !== ".");
  return `/${names.join("/")}`;
}
