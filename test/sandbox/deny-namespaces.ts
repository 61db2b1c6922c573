/**
 * The command that starts a program as in a container: it cannot create namespaces or mounts. With `landlock`, the
 * kernel appears to have no Landlock either. Works for root and for an ordinary user.
 */
import { writeFileSync } from "node:fs";
import { buildSeccompFilter, seccompArchitecture } from "../../src/sandbox/tiers/seccomp-filter.ts";
import { SYSCALLS } from "../../src/sandbox/tiers/seccomp-syscalls.ts";

export function denyNamespaces(file: string, also: "nothing else" | "landlock" = "nothing else"): string[] {
  const arch = seccompArchitecture();
  if (arch === undefined) throw new Error(`There is no filter for ${process.arch}.`);
  const filter = buildSeccompFilter(arch, { sockets: "families" });
  writeFileSync(file, also === "landlock" ? Buffer.concat([DENY_LANDLOCK, filter]) : filter, { mode: 0o644 });
  const program = `
    open(my $file, "<", shift) or die $!; my $filter = join("", <$file>);
    my $prctl = ${SYSCALLS[arch].prctl}; my $program = pack("S x6 P", length($filter) / 8, $filter);
    syscall($prctl, 38, 1, 0, 0, 0) == 0 or die $!;
    syscall($prctl, 22, 2, $program, 0, 0) == 0 or die $!;
    exec @ARGV; die $!;`;
  return ["/usr/bin/perl", "-e", program, "--", file];
}

/** Loads the syscall number; unless it is 444 (landlock_create_ruleset), skips the result ENOSYS. */
const DENY_LANDLOCK = instructions([
  [0x20, 0, 0, 0],
  [0x15, 0, 1, 444],
  [0x06, 0, 0, 0x0005_0026],
]);

function instructions(list: readonly (readonly [number, number, number, number])[]): Buffer {
  const bytes = Buffer.alloc(list.length * 8);
  for (const [index, [code, jumpTrue, jumpFalse, value]] of list.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(jumpTrue, index * 8 + 2);
    bytes.writeUInt8(jumpFalse, index * 8 + 3);
    bytes.writeUInt32LE(value, index * 8 + 4);
  }
  return bytes;
}
