import type { Command } from "commander";
export function addCancelCommand(_program: Command): void {}
