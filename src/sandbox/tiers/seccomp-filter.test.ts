import { describe, expect, test } from "vitest";
import { buildSeccompFilter, seccompArchitecture } from "./seccomp-filter.ts";
import { SYSCALLS } from "./seccomp-syscalls.ts";

const ALLOW = 0x7fff_0000;
const KILL = 0x8000_0000;
const errno = (number: number): number => 0x0005_0000 | number;

interface Call {
  readonly arch: number;
  readonly number: number;
  readonly args?: readonly number[];
}

/** Evaluates the filter like the kernel: classic BPF, as far as the filter uses it. */
function answerOf(filter: Buffer, { arch, number, args = [] }: Call): number {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(number, 0);
  data.writeUInt32LE(arch, 4);
  for (const [index, arg] of args.entries()) data.writeBigUInt64LE(BigInt(arg), 16 + index * 8);
  let accumulator = 0;
  for (let at = 0; at * 8 < filter.length; at += 1) {
    const [code, value] = [filter.readUInt16LE(at * 8), filter.readUInt32LE(at * 8 + 4)];
    const jump = (isTrue: boolean): void => void (at += filter.readUInt8(at * 8 + (isTrue ? 2 : 3)));
    if (code === 0x20) accumulator = data.readUInt32LE(value);
    else if (code === 0x54) accumulator &= value;
    else if (code === 0x06) return value;
    else if (code === 0x15) jump(accumulator === value);
    else if (code === 0x35) jump(accumulator >= value);
    else if (code === 0x45) jump((accumulator & value) !== 0);
    else throw new Error(`No such instruction: ${code}`);
  }
  throw new Error("The program ran off its end.");
}

describe.each(["x64", "arm64"] as const)("the filter for %s", (name) => {
  const table = SYSCALLS[name];
  const filter = buildSeccompFilter(name, { sockets: "families" });
  const ask = (number: number, ...args: number[]): number =>
    answerOf(filter, { arch: table.audit, number, args });

  test("kills a call of another architecture", () => {
    const other = SYSCALLS[name === "x64" ? "arm64" : "x64"].audit;
    expect(answerOf(filter, { arch: other, number: 0 })).toBe(KILL);
    expect(answerOf(filter, { arch: 0x4000_0003, number: table.socket })).toBe(KILL);
  });

  test("denies every listed call and no neighbour by accident", () => {
    for (const number of table.denied) expect(ask(number)).toBe(errno(1));
    expect(new Set(table.denied).size).toBe(table.denied.length);
    const special = new Set([table.clone3, table.clone, table.ioctl, table.socket, table.socketpair]);
    for (let number = 0; number < 480; number += 1) {
      if (!table.denied.includes(number) && !special.has(number)) expect(ask(number)).toBe(ALLOW);
    }
  });

  test("allows four families of sockets", () => {
    const families = Array.from({ length: 64 }, (_, family) => family);
    expect(families.filter((family) => ask(table.socket, family, 1, 0) === ALLOW)).toEqual([1, 2, 10, 16]);
    expect(families.filter((family) => ask(table.socketpair, family, 1, 0) === ALLOW)).toEqual([1]);
  });

  test("allows no socket but a pair where it alone holds the network", () => {
    const strict = buildSeccompFilter(name, { sockets: "none" });
    const open = Array.from({ length: 64 }, (_, family) => family).filter((family) => {
      return answerOf(strict, { arch: table.audit, number: table.socket, args: [family] }) === ALLOW;
    });
    expect(open).toEqual([]);
    expect(answerOf(strict, { arch: table.audit, number: table.socketpair, args: [1] })).toBe(ALLOW);
  });

  test("lets clone make threads and processes, and no namespace", () => {
    expect(ask(table.clone, 0x11)).toBe(ALLOW);
    expect(ask(table.clone, 0x003d_0f00)).toBe(ALLOW);
    for (const flag of [
      0x0002_0000, 0x0200_0000, 0x0400_0000, 0x0800_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000,
    ]) {
      expect(ask(table.clone, flag | 0x11)).toBe(errno(1));
    }
    expect(ask(table.clone3)).toBe(errno(38));
  });

  test("lets no terminal be typed into", () => {
    expect(ask(table.ioctl, 0, 0x5412)).toBe(errno(1));
    expect(ask(table.ioctl, 0, 0x541c)).toBe(errno(1));
    expect(ask(table.ioctl, 0, 0x5401)).toBe(ALLOW);
    expect([1024, 1025, 2].map((lease) => ask(table.fcntl, 3, lease))).toEqual([errno(1), ALLOW, ALLOW]);
  });

  test("denies copies of a subvolume, and allows copies of single files", () => {
    // BTRFS_IOC_SNAP_CREATE, SNAP_CREATE_V2, SUBVOL_CREATE, SUBVOL_CREATE_V2, SNAP_DESTROY, BCH_IOCTL_SUBVOLUME_CREATE.
    for (const control of [0x5000_9401, 0x5000_9417, 0x5000_940e, 0x5000_9418, 0x5000_940f, 0x4020_bc10])
      expect(ask(table.ioctl, 3, control)).toBe(errno(1));
    // FICLONE, FICLONERANGE, FIDEDUPERANGE, and the attributes of a file.
    for (const control of [0x4004_9409, 0x4020_940d, 0xc018_9436, 0x8008_6601])
      expect(ask(table.ioctl, 3, control)).toBe(ALLOW);
  });

  test("lets a command change its own limits and priority, and no other process", () => {
    const strict = buildSeccompFilter(name, { sockets: "none", noOtherProcesses: true });
    const strictly = (number: number, ...args: number[]): number =>
      answerOf(strict, { arch: table.audit, number, args });
    for (const number of table.changesOfProcess) {
      expect(ask(number, 77)).toBe(ALLOW);
      expect([strictly(number, 0), strictly(number, 77)]).toEqual([ALLOW, errno(1)]);
    }
    for (const number of table.changesOfOthers) expect(strictly(number)).toBe(errno(1));
    // One process, the group of a process, and all processes of a user.
    const kinds = (number: number): number[] =>
      [0, 1, 2, 3].filter((kind) => strictly(number, kind, 0) === ALLOW);
    expect([kinds(table.setpriority), kinds(table.ioprioSet)]).toEqual([[0], [1]]);
    expect([strictly(table.setpriority, 0, 77), strictly(table.ioprioSet, 1, 77)]).toEqual([
      errno(1),
      errno(1),
    ]);
  });

  test("lets no file become a set-user-id program, and denies no other mode", () => {
    const strict = buildSeccompFilter(name, { sockets: "none", noSetUserId: true });
    const strictly = (number: number, ...args: number[]): number =>
      answerOf(strict, { arch: table.audit, number, args });
    const at = (position: number, value: number): number[] => [...Array<number>(position).fill(0), value];
    for (const [number, mode] of table.modes) {
      expect([0o755, 0o2755, 0o1777].map((each) => strictly(number, ...at(mode, each)))).toEqual(
        Array(3).fill(ALLOW),
      );
      expect(strictly(number, ...at(mode, 0o4755))).toBe(errno(1));
      expect(ask(number, ...at(mode, 0o4755))).toBe(ALLOW);
    }
    for (const [number, flags] of table.opens) {
      for (const create of [0o100, 0o1102, 0o20200002]) {
        expect(strictly(number, ...at(flags, create), 0o4755)).toBe(errno(1));
        expect(strictly(number, ...at(flags, create), 0o644)).toBe(ALLOW);
      }
      // Without a new file, the argument is whatever the register held.
      expect(strictly(number, ...at(flags, 0o2), 0o4755)).toBe(ALLOW);
    }
    expect([strictly(table.openat2), ask(table.openat2)]).toEqual([errno(38), ALLOW]);
  });

  test("denies the ways to open and to change a file that Landlock does not check", () => {
    const strict = buildSeccompFilter(name, { sockets: "none", noUncheckedAccess: true, noSetUserId: true });
    const strictly = (number: number, ...args: number[]): number =>
      answerOf(strict, { arch: table.audit, number, args });
    for (const number of table.changesByPath) expect(strictly(number)).toBe(errno(1));
    for (const number of table.attributesAndWatches) expect(strictly(number)).toBe(errno(95));
    const modes = [0o644, 0o2660, 0o755, 0o100, 0o666, 0o4644];
    expect(modes.filter((mode) => strictly(table.fchmod, 9, mode) === ALLOW)).toEqual([0o644, 0o2660]);
    for (const [number, flags] of table.opens) {
      const open = (given: number): number => strictly(number, ...Array<number>(flags).fill(0), given, 0o644);
      // For neither reading nor writing; for reading, and truncated.
      expect([0o3, 0o2000003, 0o1003, 0o1000, 0o2001100].map(open)).toEqual(Array(5).fill(errno(13)));
      expect([0, 1, 2, 0o100, 0o1001, 0o1102, 0o2000000, 0o10000000].map(open)).toEqual(Array(8).fill(ALLOW));
    }
    for (const control of [0x4008_6602, 0x4004_6602, 0x401c_5820, 0x4080_6685, 0x800c_6613])
      expect([strictly(table.ioctl, 0, control), ask(table.ioctl, 0, control)]).toEqual([errno(1), ALLOW]);
  });

  test("fits into what the kernel takes", () => expect(filter.length / 8).toBeLessThan(4_096));
});

test("the x32 calls of x86_64 are denied", () => {
  const filter = buildSeccompFilter("x64", { sockets: "families" });
  const number = 0x4000_0000 + SYSCALLS.x64.socket;
  expect(answerOf(filter, { arch: SYSCALLS.x64.audit, number, args: [2] })).toBe(errno(1));
});

test("there is no filter for an architecture without a table", () => {
  expect(seccompArchitecture("riscv64")).toBeUndefined();
});
