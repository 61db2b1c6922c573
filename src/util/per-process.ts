/**
 * State that all copies of this package in one process share. Two copies have two sets of modules, but one process: what
 * is true of the process must not be kept in a module.
 */
export function perProcess<T>(name: string, create: () => T): T {
  const registry = globalThis as Record<symbol, unknown>;
  const key = Symbol.for(`toolwright.${name}`);
  registry[key] ??= create();
  return registry[key] as T;
}
