/**
 * Splits the script of `sh -c` into simple commands of plain words, which is enough to recognise `curl` in it. It is
 * not a shell: it expands nothing and leaves what it cannot parse unchanged. Pure.
 */

/** One list of words per simple command, with quotes and backslashes removed. */
export function splitScript(script: string): string[][] {
  const commands: string[][] = [];
  const outer: { readonly close: string; readonly quote: Quote }[] = [];
  let words: string[] = [];
  let word: string | undefined;
  let quote: Quote;

  const add = (text: string): void => void (word = (word ?? "") + text);
  const endWord = (): void => {
    if (word !== undefined) words.push(word);
    word = undefined;
  };
  const endCommand = (): void => {
    endWord();
    if (words.length > 0) commands.push(words);
    words = [];
  };
  /** A substitution runs a separate command, even inside double quotes. */
  const open = (close: string): void => {
    endCommand();
    outer.push({ close, quote });
    quote = undefined;
  };
  const close = (): void => {
    endCommand();
    quote = outer.pop()?.quote;
    // The rest of a quoted word is never a command.
    if (quote !== undefined) add("\0");
  };

  for (let index = 0; index < script.length; index += 1) {
    const character = script.charAt(index);
    if (quote === "'") {
      if (character === "'") quote = undefined;
      else add(character);
    } else if (character === "\\") {
      index += 1;
      if (script.charAt(index) !== "\n") add(script.charAt(index));
    } else if (character === "$" && script.charAt(index + 1) === "(") {
      index += 1;
      open(")");
    } else if (character === "`") {
      if (outer.at(-1)?.close === "`") close();
      else open("`");
    } else if (quote === '"') {
      if (character === '"') quote = undefined;
      else add(character);
    } else if (character === ")" && outer.at(-1)?.close === ")") {
      close();
    } else if (character === '"' || character === "'") {
      quote = character;
      add("");
    } else if (character === "#" && word === undefined) {
      const end = script.indexOf("\n", index);
      index = end === -1 ? script.length : end - 1;
    } else if (SEPARATORS.has(character)) {
      endCommand();
    } else if (/\s/.test(character)) {
      endWord();
    } else {
      add(character);
    }
  }
  endCommand();
  return commands;
}

type Quote = '"' | "'" | undefined;

const SEPARATORS = new Set([";", "|", "&", "(", ")", "{", "}", "\n", "<", ">"]);
