import type { Command } from "commander";
export function addTestCommand(_program: Command): void {}
