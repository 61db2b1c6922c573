/** How another process of Node is told to load workflow files: what goes before the file that it is to run. */

export function preloadFlags(): string[] {
  const isSource = import.meta.url.endsWith(".ts");
  const register = new URL(`./register.${isSource ? "ts" : "js"}`, import.meta.url);
  return ["--disable-warning=ExperimentalWarning", "--import", register.href];
}
