import type { Command } from "commander";
export function addInitCommand(_program: Command): void {}
