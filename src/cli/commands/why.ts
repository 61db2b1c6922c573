import type { Command } from "commander";
export function addWhyCommand(_program: Command): void {}
