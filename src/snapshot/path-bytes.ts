/** The location of a path that git reported, as bytes, because names need not be UTF-8. */
export function toPathBytes(top: string, path: string): Buffer {
  return Buffer.concat([Buffer.from(`${top}/`), Buffer.from(path, "latin1")]);
}
