/** Builds the site into `.vitepress/dist`: needs the built package (`npm run build`), and no network. */
import { build } from "vitepress";
import { writeApiPages } from "./api.ts";
import { readPages, write, writeContent } from "./content.ts";
import { createFullText, createLlmsText } from "./llms.ts";
import { createSidebar } from "./sidebar.ts";

const pages = readPages();
writeContent(pages);
write("public/llms.txt", createLlmsText(createSidebar(pages)));
write("public/llms-full.txt", createFullText(pages));
await writeApiPages();
await build(import.meta.dirname);
