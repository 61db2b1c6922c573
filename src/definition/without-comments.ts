/**
 * The source of a function without its comments. Not a parser: in rare cases, such as a regular expression that ends in `//`,
 * the rest of a line is lost too. A reader must be safe with less text than there is.
 */

// A text or a template is kept whole, so that an address in it is not cut at its `//`.
const TEXT_OR_COMMENT =
  /("(?:\\[^]|[^"\\\n])*"|'(?:\\[^]|[^'\\\n])*'|`(?:\\[^]|[^`\\])*`)|\/\/.*|\/\*[^]*?\*\//g;

export function withoutComments(source: string): string {
  return source.replaceAll(TEXT_OR_COMMENT, (_match, text: string | undefined) => text ?? " ");
}
