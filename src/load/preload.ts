/** Flags that make another Node process load workflow files. */

export function preloadFlags(): string[] {
  const isSource = import.meta.url.endsWith(".ts");
  const register = new URL(`../load/register.${isSource ? "ts" : "js"}`, import.meta.url);
  return ["--disable-warning=ExperimentalWarning", "--import", register.href];
}
