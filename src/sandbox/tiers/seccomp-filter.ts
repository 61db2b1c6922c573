/**
 * Builds the seccomp filter as the bytes of a classic BPF program, so that it needs no compiler and no addon. It must
 * never let a foreign ABI through: a filter for one table of numbers says nothing about another.
 */
import { SYSCALLS, type SeccompArchitecture } from "./seccomp-syscalls.ts";

export interface SeccompOptions {
  /**
   * `families`: UNIX, INET, INET6 and NETLINK, for a separate network namespace (AF_VSOCK ignores namespaces).
   * `internet`: no UNIX sockets, for a shared network namespace, which includes the host's abstract names.
   * `none`: no sockets, where the filter alone keeps the command off the network.
   */
  readonly sockets: "families" | "internet" | "none";
  /**
   * Denies what Landlock does not check: changes of a file's mode, owner or times by path, changes of its attributes,
   * reads of its attributes by path, watches, and two ways to open a file. A descriptor of a system file or a hook that
   * was opened for reading is enough to change the mode, so no mode may add the right to execute, or let all users write.
   */
  readonly noUncheckedAccess?: boolean;
  /**
   * Denies changes of the limits and priorities of other processes, and memory, semaphores and queues that they share,
   * for tiers without namespaces. A thread that is named by its id counts as another process.
   */
  readonly noOtherProcesses?: boolean;
  /**
   * Denies set-user-id programs in the root: outside, they would give every user of the machine the rights of the
   * agent's user.
   */
  readonly noSetUserId?: boolean;
}

/** The architecture of this process, if a filter can be built for it. */
export function seccompArchitecture(arch: string = process.arch): SeccompArchitecture | undefined {
  return arch === "x64" || arch === "arm64" ? arch : undefined;
}

/** `struct sock_filter[]` in the byte order of the machine. Both architectures are little-endian. */
export function buildSeccompFilter(arch: SeccompArchitecture, options: SeccompOptions): Buffer {
  const table = SYSCALLS[arch];
  const program: Instruction[] = [
    load(OFFSET_ARCH),
    jumpIfEqual(table.audit, 1, 0),
    answer(KILL_PROCESS),
    load(OFFSET_NUMBER),
  ];
  // The x32 ABI has the same audit value as x86_64 and differs only by this bit.
  if (arch === "x64") program.push(jumpIfAtLeast(0x4000_0000, 0, 1), answer(errno(EPERM)));
  for (const number of table.denied) program.push(...onCall(number, [answer(errno(EPERM))]));
  // Its flags are in memory, which a filter cannot read. On ENOSYS libc falls back to clone.
  program.push(...onCall(table.clone3, [answer(errno(ENOSYS))]));
  program.push(
    ...onCall(table.clone, [
      load(argument(0)),
      jumpIfAnyBit(NEW_NAMESPACES, 0, 1),
      answer(errno(EPERM)),
      answer(ALLOW),
    ]),
  );
  program.push(...onCall(table.ioctl, judgeControl(options)));
  program.push(...onCall(table.fcntl, [load(argument(1)), ...allowAllBut([F_SETLEASE])]));
  program.push(...onCall(table.socket, [load(argument(0)), ...allowOnly(FAMILIES[options.sockets])]));
  // A datagram socket of a pair can still send to any name. A connected stream cannot be connected again.
  const datagrams =
    options.sockets === "families"
      ? []
      : [load(argument(1)), jumpIfAnyBit(DATAGRAM_BIT, 0, 1), answer(errno(EAFNOSUPPORT))];
  program.push(...onCall(table.socketpair, [...datagrams, load(argument(0)), ...allowOnly([AF_UNIX])]));
  if (options.noUncheckedAccess === true) {
    for (const number of table.changesByPath) program.push(...onCall(number, [answer(errno(EPERM))]));
    // Programs that copy or list files then assume a file system without attributes, and poll instead of watching.
    for (const number of table.attributesAndWatches)
      program.push(...onCall(number, [answer(errno(EOPNOTSUPP))]));
    program.push(...onCall(table.utimensat, allowOnlyNull(1)));
    program.push(...onCall(table.fchmod, denyBits(1, SET_USER_ID | EXECUTABLE | WRITABLE_FOR_ALL)));
  }
  if (options.noSetUserId === true) {
    for (const [number, mode] of table.modes) program.push(...onCall(number, denyBits(mode, SET_USER_ID)));
  }
  for (const [number, flags] of table.opens) program.push(...onCall(number, judgeOpen(flags, options)));
  // Its arguments are in memory. Programs fall back to openat.
  if (options.noSetUserId === true || options.noUncheckedAccess === true)
    program.push(...onCall(table.openat2, [answer(errno(ENOSYS))]));
  if (options.noOtherProcesses === true) {
    for (const number of table.changesOfOthers) program.push(...onCall(number, [answer(errno(EPERM))]));
    for (const number of table.changesOfProcess) program.push(...onCall(number, allowOnlyZero(0)));
    program.push(...onCall(table.setpriority, [...unless(0, PRIO_PROCESS), ...allowOnlyZero(1)]));
    program.push(...onCall(table.ioprioSet, [...unless(0, IOPRIO_WHO_PROCESS), ...allowOnlyZero(1)]));
  }
  program.push(answer(ALLOW));
  return assemble(program);
}

/**
 * Btrfs and bcachefs copy a whole subvolume in one call that any user may make, on a folder that is open for reading. The
 * copy contains what mounts hide in the root, and on older kernels everything around the root. Copies of single files
 * (reflinks) stay, because both files have to be open.
 */
function judgeControl({ noUncheckedAccess }: SeccompOptions): Instruction[] {
  const controls = [TIOCSTI, TIOCLINUX, ...(noUncheckedAccess === true ? UNCHECKED_CONTROLS : [])];
  const ofBtrfs = [
    load(argument(1)),
    ...REFLINKS.flatMap((value) => [jumpIfEqual(value, 0, 1), answer(ALLOW)]),
    answer(errno(EPERM)),
  ];
  return [
    load(argument(1)),
    keepBits(CONTROL_GROUP),
    jumpIfEqual(BCACHEFS_GROUP, 0, 1),
    answer(errno(EPERM)),
    jumpIfEqual(BTRFS_GROUP, 0, ofBtrfs.length),
    ...ofBtrfs,
    load(argument(1)),
    ...allowAllBut(controls),
  ];
}

/**
 * Landlock checks reading and writing. A file that is opened for neither (access mode 3) needs no right of Landlock, and
 * before version 3 neither does truncating a file that is opened for reading.
 */
function judgeOpen(flags: number, { noSetUserId, noUncheckedAccess }: SeccompOptions): Instruction[] {
  const deny = (mask: number, value: number): Instruction[] => [
    load(argument(flags)),
    keepBits(mask),
    jumpIfEqual(value, 0, 1),
    answer(errno(EACCES)),
  ];
  const creates = [load(argument(flags)), jumpIfAnyBit(CREATES, 1, 0), answer(ALLOW)];
  return [
    ...(noUncheckedAccess === true
      ? [...deny(ACCESS_MODE, ACCESS_MODE), ...deny(ACCESS_MODE | CUTS, CUTS)]
      : []),
    ...(noSetUserId === true ? [...creates, ...denyBits(flags + 1, SET_USER_ID)] : [answer(ALLOW)]),
  ];
}

interface Instruction {
  readonly code: number;
  readonly jumpTrue: number;
  readonly jumpFalse: number;
  readonly value: number;
}

const ALLOW = 0x7fff_0000;
const KILL_PROCESS = 0x8000_0000;
const EPERM = 1;
const EACCES = 13;
const ENOSYS = 38;
const EOPNOTSUPP = 95;
const EAFNOSUPPORT = 97;
const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;
const AF_NETLINK = 16;
const FAMILIES = {
  families: [AF_UNIX, AF_INET, AF_INET6, AF_NETLINK],
  internet: [AF_INET, AF_INET6, AF_NETLINK],
  none: [],
} as const;
/** Set in SOCK_DGRAM and SOCK_RAW, not in SOCK_STREAM and SOCK_SEQPACKET. */
const DATAGRAM_BIT = 2;
const PRIO_PROCESS = 0;
const IOPRIO_WHO_PROCESS = 1;
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;
/**
 * Change a file or folder that is open for reading: FS_IOC_SETFLAGS and its 32-bit form, FS_IOC_FSSETXATTR, and, forever,
 * FS_IOC_ENABLE_VERITY and FS_IOC_SET_ENCRYPTION_POLICY.
 */
const UNCHECKED_CONTROLS = [0x4008_6602, 0x4004_6602, 0x401c_5820, 0x4080_6685, 0x800c_6613];
/** The byte of a control's number that says to which part of the kernel it belongs. */
const CONTROL_GROUP = 0xff00;
const BTRFS_GROUP = 0x9400;
const BCACHEFS_GROUP = 0xbc00;
/** FICLONE, FICLONERANGE and FIDEDUPERANGE, in the group of Btrfs for all file systems. */
const REFLINKS = [0x4004_9409, 0x4020_940d, 0xc018_9436];
/**
 * A process that opens a file with a lease waits for up to 45 seconds, or gets an error: this process could then not read what a
 * command left, while the user's git reads it.
 */
const F_SETLEASE = 1024;
const SET_USER_ID = 0o4000;
const EXECUTABLE = 0o111;
const WRITABLE_FOR_ALL = 0o2;
const ACCESS_MODE = 3;
/** O_TRUNC. */
const CUTS = 0o1000;
/** O_CREAT and O_TMPFILE. Without them, there is no mode. */
const CREATES = 0o100 | 0o20000000;
/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. */
const NEW_NAMESPACES = 0x7e02_0000;
const OFFSET_NUMBER = 0;
const OFFSET_ARCH = 4;

/** The low half of an argument: the kernel reads these arguments as 32-bit integers. */
const argument = (index: number): number => 16 + index * 8;
const errno = (number: number): number => 0x0005_0000 | number;

const load = (offset: number): Instruction => ({ code: 0x20, jumpTrue: 0, jumpFalse: 0, value: offset });
const keepBits = (value: number): Instruction => ({ code: 0x54, jumpTrue: 0, jumpFalse: 0, value });
const answer = (value: number): Instruction => ({ code: 0x06, jumpTrue: 0, jumpFalse: 0, value });
const jump = (code: number) => {
  return (value: number, jumpTrue: number, jumpFalse: number): Instruction => {
    return { code, jumpTrue, jumpFalse, value };
  };
};
const jumpIfEqual = jump(0x15);
const jumpIfAtLeast = jump(0x35);
const jumpIfAnyBit = jump(0x45);

/** Every path through `block` must end in an answer, because `block` overwrites the loaded call number. */
const onCall = (number: number, block: readonly Instruction[]): Instruction[] => {
  return [jumpIfEqual(number, 0, block.length), ...block];
};

const allowOnly = (values: readonly number[]): Instruction[] => {
  const tests = values.flatMap((value) => [jumpIfEqual(value, 0, 1), answer(ALLOW)]);
  return [...tests, answer(errno(EAFNOSUPPORT))];
};

const allowAllBut = (values: readonly number[]): Instruction[] => {
  return [...values.flatMap((value) => [jumpIfEqual(value, 0, 1), answer(errno(EPERM))]), answer(ALLOW)];
};

const denyBits = (index: number, bits: number): Instruction[] => [
  load(argument(index)),
  jumpIfAnyBit(bits, 0, 1),
  answer(errno(EPERM)),
  answer(ALLOW),
];

/** For ids, which are 32-bit integers. */
const allowOnlyZero = (index: number): Instruction[] => [
  load(argument(index)),
  jumpIfEqual(0, 0, 1),
  answer(ALLOW),
  answer(errno(EPERM)),
];

/** Denies the call unless the argument has this value. */
const unless = (index: number, value: number): Instruction[] => [
  load(argument(index)),
  jumpIfEqual(value, 1, 0),
  answer(errno(EPERM)),
];

/** Both halves of the pointer have to be zero. */
const allowOnlyNull = (index: number): Instruction[] => [
  load(argument(index)),
  jumpIfEqual(0, 0, 3),
  load(argument(index) + 4),
  jumpIfEqual(0, 0, 1),
  answer(ALLOW),
  answer(errno(EPERM)),
];

function assemble(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8);
  for (const [index, { code, jumpTrue, jumpFalse, value }] of program.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(jumpTrue, index * 8 + 2);
    bytes.writeUInt8(jumpFalse, index * 8 + 3);
    bytes.writeUInt32LE(value, index * 8 + 4);
  }
  return bytes;
}
