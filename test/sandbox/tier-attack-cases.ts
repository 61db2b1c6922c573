/**
 * Attacks that have to fail in every tier that `bash` runs in. Each script prints OPEN when it got through. `$OUT` is the
 * folder next to the root, `$TOOLS` a toolchain, `AGENT` the id of the agent process, `{PORT}`, `{UDP}` and `{ABSTRACT}` its
 * host's listeners.
 */

const perl = (text: string): string => `perl -e '${text}'`;
/** The bytes, mode and times of the file decide the result of these. */
const FILES: readonly [string, string][] = [
  ["reading a file outside", `cat $OUT/secret.txt && echo OPEN`],
  ["listing a folder outside", `ls $OUT && echo OPEN`],
  ["reading by way of a link", `ln -s $OUT src/l; cat src/l/secret.txt && echo OPEN`],
  ["reading by way of a hard link", `ln $OUT/secret.txt src/h && cat src/h && echo OPEN`],
  ["reading through the agent", `cat /proc/AGENT/root$OUT/secret.txt && echo OPEN`],
  ["reading through the agent's folder", `cat /proc/AGENT/cwd/package.json && echo OPEN`],
  ["reading through the agent's descriptors", `readlink /proc/AGENT/fd/* | grep . && echo OPEN`],
  ["reading through the parent", `cat /proc/$PPID/root$OUT/secret.txt && echo OPEN`],
  ["running a program outside", `$OUT/program && echo OPEN`],
  ["writing a file outside", `echo x >> $OUT/secret.txt && echo OPEN`],
  ["making a file outside", `echo x > $OUT/made && echo OPEN`],
  ["making a folder outside", `mkdir $OUT/made && echo OPEN`],
  ["moving a file out", `echo x > src/f; mv src/f $OUT/made && echo OPEN`],
  ["moving a file in", `mv $OUT/secret.txt src/s && echo OPEN`],
  ["removing a file outside", `rm $OUT/secret.txt && echo OPEN`],
  ["changing the mode of a file outside", `chmod 777 $OUT/secret.txt && echo OPEN`],
  [
    "changing the mode through /proc",
    `exec 9< /dev/null; chmod 777 /proc/self/cwd/../out/secret.txt && echo OPEN`,
  ],
  ["changing the times of a file outside", `touch -d 2001-01-01 $OUT/secret.txt && echo OPEN`],
  ["changing the owner of a file outside", `chown $(id -u) $OUT/secret.txt && echo OPEN`],
  [
    "cutting a file outside",
    perl(`my $p = "$ENV{OUT}/secret.txt"; syscall(TRUNCATE, $p, 0) == 0 and print "OPEN"`),
  ],
  [
    "watching a folder outside",
    perl(
      `my $p = $ENV{OUT}; my $i = syscall(WATCHES, 0); $i >= 0 and syscall(WATCH, $i, $p, 0xfff) > 0 and print "OPEN"`,
    ),
  ],
  [
    "attributes of a file outside",
    perl(
      `my $p = "$ENV{OUT}/secret.txt"; my $l = "\\0" x 99; syscall(ATTRIBUTES, $p, $l, 99) >= 0 and print "OPEN"`,
    ),
  ],
  // Landlock checks neither reading nor writing if a file is opened for neither.
  [
    "changing a file outside that is opened to be neither read nor written",
    perl(
      `sysopen(my $f, "$ENV{OUT}/secret.txt", 3) and (chmod(0777, $f) or utime(1, 1, $f)) and print "OPEN"`,
    ),
  ],
  [
    "making executable or writable what can only be read",
    perl(
      `for ("$ENV{TOOLS}/bin/tool", ".git/config") { open(my $f, "<", $_) and chmod(0777, $f) and print "OPEN" }`,
    ),
  ],
  [
    "changing the group of what can only be read",
    perl(
      `for ("$ENV{TOOLS}/bin/tool", ".git/config") { open(my $f, "<", $_) and chown(-1, $) + 0, $f) and print "OPEN" }`,
    ),
  ],
  [
    "a lease that keeps others from opening a file",
    perl(`open(my $f, "<", "src/run.sh") and fcntl($f, 1024, 1) and print "OPEN"`),
  ],
  ["writing in /etc", `echo x > /etc/toolwright-test && echo OPEN`],
  ["writing in /usr", `echo x > /usr/toolwright-test && echo OPEN`],
  ["reading a private folder of a toolchain", `cat $TOOLS/lib/private/key | grep PRIVATE && echo OPEN`],
  ["reading password hashes", `cat /etc/shadow | grep . && echo OPEN`],
  [
    "a set-user-id program for other users",
    `cp /bin/true src/s; chmod 4755 src/s; perl -e 'open(my $f, "<", "src/s"); chmod(04755, $f); umask(0); sysopen(my $t, "src/t", 0101, 04755)'; [ -u src/s ] || [ -u src/t ] && echo OPEN`,
  ],
  // Only Btrfs and bcachefs have such a call: elsewhere it fails too, for another reason.
  [
    "a copy of the whole subvolume, with what is hidden in the root",
    perl(
      `open(my $d, "<", "src"); my $b = pack("q a4088", fileno($d), "copy"); ioctl($d, 0x50009401, $b); $! == 1 or print "OPEN $!"`,
    ),
  ],
  ["a device", `mknod src/b b 8 0 || mknod src/c c 1 1 && echo OPEN`],
  ["a mount", `mkdir -p src/m; mount -t tmpfs x src/m && echo OPEN`],
  ["leaving by chroot", `chroot / true && echo OPEN`],
];

const GUARDED: readonly [string, string][] = [
  ["reading Toolwright's own folder", `cat .toolwright/store.db | grep STORE && echo OPEN`],
  ["reading below Toolwright's own folder", `cat .toolwright/deep/* | grep STORE && echo OPEN`],
  ["writing below Toolwright's own folder", `echo x >> .toolwright/deep/note && echo OPEN`],
  ["removing below Toolwright's own folder", `rm .toolwright/deep/note && echo OPEN`],
  ["writing Toolwright's own folder", `echo x > .toolwright/x && echo OPEN`],
  ["renaming Toolwright's own folder", `mv .toolwright src/t && echo OPEN`],
  ["changing the settings", `echo x >> toolwright.config.ts && echo OPEN`],
  ["replacing the settings", `echo x > src/c; mv src/c toolwright.config.ts && echo OPEN`],
  ["removing the settings", `rm -f toolwright.config.ts && echo OPEN`],
  ["changing git's settings", `git config core.pager evil && echo OPEN`],
  ["changing git's settings by a hard link", `ln .git/config src/g && echo x >> src/g && echo OPEN`],
  ["planting a hook", `echo x > .git/hooks/pre-commit && echo OPEN`],
  ["moving a hook in", `echo x > src/p; mv src/p .git/hooks/pre-commit && echo OPEN`],
  ["renaming the hooks", `mv .git/hooks src/hooks && echo OPEN`],
  ["renaming the repository", `mv .git src/git && echo OPEN`],
];

const OTHERS: readonly [string, string][] = [
  ["signalling the agent", `kill -0 AGENT && echo OPEN`],
  ["ending the launcher", `kill -9 $PPID; sleep 0.1; [ -d /proc/$PPID ] || echo OPEN`],
  ["the agent's environment", `cat /proc/AGENT/environ | grep . && echo OPEN`],
  ["the launcher's environment", `tr '\\0' '\\n' < /proc/$PPID/environ | grep AGENT_SECRET && echo OPEN`],
  ["its own environment", `env | grep AGENT_SECRET && echo OPEN`],
  ["every environment", `cat /proc/[0-9]*/environ | tr '\\0' '\\n' | grep AGENT_SECRET && echo OPEN`],
  ["writing the agent's memory", perl(`open(my $m, "+<", "/proc/AGENT/mem") and print "OPEN"`)],
  ["tracing the agent", perl(`syscall(PTRACE, 16, AGENT, 0, 0) == 0 and print "OPEN"`)],
  ["the limits of the agent", `prlimit --pid AGENT --nofile=64:64 && echo OPEN`],
  ["the processors of the agent", `taskset -p 1 AGENT && echo OPEN`],
  ["the priority of the agent", `renice -n 7 -p AGENT && echo OPEN`],
  [
    "the priority of all processes of the user",
    `renice -n 7 -u $(id -u); [ "$(cut -d' ' -f19 /proc/AGENT/stat)" = 7 ] && echo OPEN`,
  ],
  ["the disk priority of the agent", `ionice -c 3 -p AGENT && echo OPEN`],
  ["the scheduling of the agent", `chrt -b -p 0 AGENT && echo OPEN`],
  ["shared memory of the user", perl(`shmread(SHM, my $bytes, 0, 1) and print "OPEN"`)],
  ["memory of the host that outlives the command", `ipcmk -M 64 && [ -d /proc/AGENT ] && echo OPEN`],
  ["a message queue of the host", `ipcmk -Q && [ -d /proc/AGENT ] && echo OPEN`],
  ["a new user namespace", `unshare -Ur true && echo OPEN`],
  ["core_pattern", `echo "|/x" > /proc/sys/kernel/core_pattern && echo OPEN`],
];

const connect = (family: number, type: number, address: string): string =>
  perl(
    `use Socket; socket(my $s, ${family}, ${type}, 0) or exit; connect($s, ${address}) and send($s, "x", 0) and print "OPEN"`,
  );

/** The listeners decide the result of these. */
const NETWORK: readonly [string, string][] = [
  ["TCP", connect(2, 1, `pack_sockaddr_in({PORT}, inet_aton("127.0.0.1"))`)],
  [
    "TCP over IPv6",
    perl(
      `use Socket; socket(my $s, 10, 1, 0) or exit; connect($s, pack_sockaddr_in6({PORT}, inet_pton(10, "::1"))) and print "OPEN"`,
    ),
  ],
  ["an abstract socket", connect(1, 1, `pack_sockaddr_un("\\0{ABSTRACT}")`)],
  ["a socket on a path outside", connect(1, 1, `pack_sockaddr_un("$ENV{OUT}/o.sock")`)],
  ["a socket in the root", connect(1, 1, `pack_sockaddr_un("r.sock")`)],
  ["a virtual machine's socket", perl(`socket(my $s, 40, 1, 0) and print "OPEN"`)],
  ["io_uring", perl(`my $z = "\\0" x 128; syscall(425, 1, $z) >= 0 and print "OPEN"`)],
];

/** What only namespaces confine. Each script prints SEEN under Landlock, as docs/guides/sandbox.md says. */
export const LIMITS: readonly [string, string][] = [
  ["the list of processes", `[ -d /proc/AGENT ] && echo SEEN`],
  ["the arguments of the agent", `grep -qa node /proc/AGENT/cmdline && echo SEEN`],
  ["the target of a link outside", `[ "$(readlink $OUT/../link)" = target ] && echo SEEN`],
  ["names in Toolwright's own folder", `ls .toolwright | grep -q store.db && echo SEEN`],
  ["names below Toolwright's own folder", `ls .toolwright/deep | grep -q note && echo SEEN`],
  ["names in a private folder of a toolchain", `ls $TOOLS/lib/private | grep -q key && echo SEEN`],
  ["the host's listeners", `grep -qi ":$(printf %04x {PORT}) " /proc/net/tcp && echo SEEN`],
  ["the host's abstract sockets", `grep -q {ABSTRACT} /proc/net/unix && echo SEEN`],
  ["the host's connections through another process", `grep -q {ABSTRACT} /proc/AGENT/net/unix && echo SEEN`],
  ["the host's mounts", `[ $(wc -l < /proc/AGENT/mountinfo) -gt 0 ] && echo SEEN`],
  ["the size of a file outside", `[ "$(stat -c %s $OUT/secret.txt)" = 15 ] && echo SEEN`],
];

export const ATTACKS: readonly [string, string][] = [...FILES, ...GUARDED, ...OTHERS, ...NETWORK];
