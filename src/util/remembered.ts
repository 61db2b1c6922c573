/** Returns what `make` made for this key before, or makes it now. A write to a WeakMap costs several times a read. */
export function remembered<K extends object, V>(cache: WeakMap<K, V>, key: K, make: () => V): V {
  const known = cache.get(key);
  if (known !== undefined) return known;
  const made = make();
  cache.set(key, made);
  return made;
}
