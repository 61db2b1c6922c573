import { transform } from "esbuild";
import { expect, it } from "vitest";
import { REACT_JSX_HINT } from "./react-jsx-error.ts";

it("names comments after which a compiler without a tsconfig uses our JSX", async () => {
  const [comments = ""] = REACT_JSX_HINT.match(/\/\*.*\*\//) ?? [];
  const { code } = await transform(`${comments}\nexport const tree = <Task id="a" />;`, { loader: "tsx" });
  expect(code).toContain('from "toolwright/jsx-runtime"');
  expect(code).not.toContain("React");
});
