/** Recognises the error of JSX that was compiled for React. */
import { messageOf } from "../invoke/error-record.ts";

export function isReactJsxError(error: unknown): boolean {
  return /\bReact is not defined\b|Can(?:no|')t find (?:module|package) '?react(?:\/jsx|')/i.test(
    messageOf(error),
  );
}

export const REACT_JSX_HINT =
  'The JSX was compiled for React. Set "jsx": "react-jsx" and "jsxImportSource": "toolwright" in tsconfig.json, or start ' +
  // One comment for each: TypeScript reads only the first of two in one comment. esbuild needs both.
  "the file with: /** @jsxRuntime automatic */ /** @jsxImportSource toolwright */";
