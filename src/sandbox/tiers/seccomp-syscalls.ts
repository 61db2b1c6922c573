/**
 * System call numbers for the seccomp filter, per architecture. Data only. A wrong number silently denies the wrong
 * call, so each comes from the kernel's own tables (arch/x86/entry/syscalls/syscall_64.tbl and
 * include/uapi/asm-generic/unistd.h).
 */

export type SeccompArchitecture = "x64" | "arm64";

/** Always denied: access to other processes, other namespaces, the kernel's keyrings or the machine itself. */
const DENIED = {
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  kcmp: [312, 272],
  pidfd_getfd: [438, 438],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  open_tree_attr: [467, 467],
  unshare: [272, 97],
  setns: [308, 268],
  keyctl: [250, 219],
  add_key: [248, 217],
  request_key: [249, 218],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  fanotify_init: [300, 262],
  open_by_handle_at: [304, 265],
  lookup_dcookie: [212, 18],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  reboot: [169, 142],
  swapon: [167, 224],
  swapoff: [168, 225],
  acct: [163, 89],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  syslog: [103, 116],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  clock_adjtime: [305, 266],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  vhangup: [153, 58],
  nfsservctl: [180, 42],
} as const satisfies Record<string, readonly [number, number]>;

/**
 * Calls that change a file by its path and that Landlock does not check: mode, owner, times, attributes, length. The
 * same changes work by descriptor, which a command has only for files that it may open. The owner and group cannot be
 * changed by descriptor either, because a descriptor for reading would be enough.
 */
const CHANGES_BY_PATH = {
  fchmodat: [268, 53],
  fchmodat2: [452, 452],
  fchownat: [260, 54],
  fchown: [93, 55],
  setxattr: [188, 5],
  lsetxattr: [189, 6],
  removexattr: [197, 14],
  lremovexattr: [198, 15],
  setxattrat: [463, 463],
  removexattrat: [466, 466],
  file_setattr: [469, 469],
  truncate: [76, 45],
} as const satisfies Record<string, readonly [number, number]>;

const CHANGES_BY_PATH_ON_X64 = {
  chmod: 90,
  chown: 92,
  lchown: 94,
  utime: 132,
  utimes: 235,
  futimesat: 261,
} as const;

/**
 * Calls that Landlock does not check either. By path they reveal more than existence, size and mode of a file: the names of
 * what others use in a folder, and attributes. By descriptor they change attributes, and with an access list the mode,
 * even of a file that was opened for reading. Each x86_64 number comes first.
 */
const ATTRIBUTES_AND_WATCHES = {
  fsetxattr: [190, 7],
  fremovexattr: [199, 16],
  inotify_init1: [294, 26],
  inotify_add_watch: [254, 27],
  getxattr: [191, 8],
  lgetxattr: [192, 9],
  listxattr: [194, 11],
  llistxattr: [195, 12],
  getxattrat: [464, 464],
  listxattrat: [465, 465],
} as const satisfies Record<string, readonly [number, number]>;

const WATCHES_ON_X64 = { inotify_init: 253 } as const;

/** Calls that change the process with the id in their first argument, 0 being the caller. */
const CHANGES_OF_PROCESS = {
  prlimit64: [302, 261],
  sched_setparam: [142, 118],
  sched_setscheduler: [144, 119],
  sched_setaffinity: [203, 122],
  sched_setattr: [314, 274],
  migrate_pages: [256, 238],
  move_pages: [279, 239],
} as const satisfies Record<string, readonly [number, number]>;

/**
 * Calls that change other processes only, and System V and POSIX objects in memory, which all processes share and which
 * outlive a command. Each x86_64 number comes first.
 */
const CHANGES_OF_OTHERS = {
  process_madvise: [440, 440],
  process_mrelease: [448, 448],
  shmget: [29, 194],
  shmctl: [31, 195],
  shmat: [30, 196],
  semget: [64, 190],
  semctl: [66, 191],
  semop: [65, 193],
  semtimedop: [220, 192],
  msgget: [68, 186],
  msgctl: [71, 187],
  msgsnd: [69, 189],
  msgrcv: [70, 188],
  mq_open: [240, 180],
  mq_unlink: [241, 181],
} as const satisfies Record<string, readonly [number, number]>;

/** Calls that set the mode of a file, and the position of the mode among their arguments. */
const MODES = {
  fchmod: [91, 52, 1],
  fchmodat: [268, 53, 2],
  fchmodat2: [452, 452, 2],
  mknodat: [259, 33, 2],
} as const satisfies Record<string, readonly [number, number, number]>;

const MODES_ON_X64 = { chmod: [90, 1], creat: [85, 1], mknod: [133, 1] } as const;

/** These exist only on x86. */
const DENIED_ON_X64 = { iopl: 172, ioperm: 173, modify_ldt: 154, uselib: 134, create_module: 174 } as const;

export interface SyscallTable {
  /** AUDIT_ARCH_*: the value of `seccomp_data.arch`. */
  readonly audit: number;
  readonly denied: readonly number[];
  readonly changesByPath: readonly number[];
  readonly attributesAndWatches: readonly number[];
  /** Changes by path unless the path is null. */
  readonly utimensat: number;
  readonly changesOfProcess: readonly number[];
  readonly changesOfOthers: readonly number[];
  /** Their arguments are a kind of id, and the id. */
  readonly setpriority: number;
  readonly ioprioSet: number;
  readonly fchmod: number;
  /** Each call with the position of its mode. */
  readonly modes: readonly (readonly [call: number, mode: number])[];
  /** Each call with the position of its flags; the mode of a new file follows. */
  readonly opens: readonly (readonly [call: number, flags: number])[];
  /** Its mode is in memory. */
  readonly openat2: number;
  readonly clone: number;
  readonly clone3: number;
  readonly socket: number;
  readonly socketpair: number;
  readonly ioctl: number;
  readonly fcntl: number;
  readonly prctl: number;
  readonly mount: number;
  readonly umount2: number;
  readonly pivotRoot: number;
  readonly unshare: number;
  readonly capset: number;
  readonly fchdir: number;
  readonly exitGroup: number;
}

export const SYSCALLS: Readonly<Record<SeccompArchitecture, SyscallTable>> = {
  x64: {
    audit: 0xc000_003e,
    denied: [...Object.values(DENIED).map(([x64]) => x64), ...Object.values(DENIED_ON_X64)],
    changesByPath: [
      ...Object.values(CHANGES_BY_PATH).map(([x64]) => x64),
      ...Object.values(CHANGES_BY_PATH_ON_X64),
    ],
    attributesAndWatches: [
      ...Object.values(ATTRIBUTES_AND_WATCHES).map(([x64]) => x64),
      ...Object.values(WATCHES_ON_X64),
    ],
    utimensat: 280,
    changesOfProcess: Object.values(CHANGES_OF_PROCESS).map(([x64]) => x64),
    changesOfOthers: Object.values(CHANGES_OF_OTHERS).map(([x64]) => x64),
    setpriority: 141,
    ioprioSet: 251,
    fchmod: MODES.fchmod[0],
    modes: [
      ...Object.values(MODES).map(([x64, , mode]) => [x64, mode] as const),
      ...Object.values(MODES_ON_X64),
    ],
    opens: [
      [2, 1],
      [257, 2],
    ],
    openat2: 437,
    clone: 56,
    clone3: 435,
    socket: 41,
    socketpair: 53,
    ioctl: 16,
    fcntl: 72,
    prctl: 157,
    mount: DENIED.mount[0],
    umount2: DENIED.umount2[0],
    pivotRoot: DENIED.pivot_root[0],
    unshare: DENIED.unshare[0],
    capset: 126,
    fchdir: 81,
    exitGroup: 231,
  },
  arm64: {
    audit: 0xc000_00b7,
    denied: Object.values(DENIED).map(([, arm64]) => arm64),
    changesByPath: Object.values(CHANGES_BY_PATH).map(([, arm64]) => arm64),
    attributesAndWatches: Object.values(ATTRIBUTES_AND_WATCHES).map(([, arm64]) => arm64),
    utimensat: 88,
    changesOfProcess: Object.values(CHANGES_OF_PROCESS).map(([, arm64]) => arm64),
    changesOfOthers: Object.values(CHANGES_OF_OTHERS).map(([, arm64]) => arm64),
    setpriority: 140,
    ioprioSet: 30,
    fchmod: MODES.fchmod[1],
    modes: Object.values(MODES).map(([, arm64, mode]) => [arm64, mode] as const),
    opens: [[56, 2]],
    openat2: 437,
    clone: 220,
    clone3: 435,
    socket: 198,
    socketpair: 199,
    ioctl: 29,
    fcntl: 25,
    prctl: 167,
    mount: DENIED.mount[1],
    umount2: DENIED.umount2[1],
    pivotRoot: DENIED.pivot_root[1],
    unshare: DENIED.unshare[1],
    capset: 91,
    fchdir: 50,
    exitGroup: 94,
  },
};
