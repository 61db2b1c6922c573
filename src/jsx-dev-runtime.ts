/** The same as the JSX runtime: the source positions that a compiler adds in development are not needed. */
export { Fragment, jsx as jsxDEV } from "./jsx-runtime.ts";
export type { JSX } from "./jsx-runtime.ts";
