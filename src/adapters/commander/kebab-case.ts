/** Converts names to command line words: lower case, with hyphens. */

/** `maxDepth`, `max_depth` and `shop.MaxDepth` become `max-depth` and `shop-max-depth`. */
export function toKebab(name: string): string {
  return name
    .replaceAll(/(\p{Ll}|\p{N})(\p{Lu})/gu, "$1-$2")
    .replaceAll(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1-$2")
    .replaceAll(/[^\p{L}\p{N}]+/gu, "-")
    .replaceAll(/^-+|-+$/g, "")
    .toLowerCase();
}

/** Whether Commander accepts the name unchanged. */
export function isWord(name: string): boolean {
  return /^[\p{L}\p{N}](?:-?[\p{L}\p{N}._])*$/u.test(name);
}
