/** Attacks from inside on each requirement of the profile. Each was a hole once, here or in the measurements. */
import { randomUUID } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  watch,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { commandGroups, MAX_PROCESSES } from "../../src/sandbox/tiers/command-group.ts";
import { findDistrust } from "../../src/sandbox/protection/untrusted-files.ts";
import { attempt, createPlace, requireBubblewrap, script, shell, type Place } from "./process-harness.ts";

/** For expensive tests, which take seconds even on an idle machine. */
const SLOW = { timeout: 120_000 };
let place: Place;
const canaryFolder = join(homedir(), `.toolwright-test-${process.pid}`);
const variable = `TOOLWRIGHT_TEST_SECRET_${process.pid}`;

beforeAll(async () => {
  await requireBubblewrap();
  mkdirSync(canaryFolder, { recursive: true });
  writeFileSync(join(canaryFolder, "id_rsa"), "HOME-CANARY\n");
  process.env[variable] = "ENVIRONMENT-CANARY";
});
afterAll(() => {
  shell(`rm -rf "${canaryFolder}"`);
  Reflect.deleteProperty(process.env, variable);
});
afterEach(() => vi.unstubAllEnvs());
beforeEach(() => {
  place = createPlace();
  return () => place.remove();
});

const run = async (text: string): Promise<string> => (await script(place.root, text)).text;
const perl = async (text: string): Promise<string> => {
  return (await attempt({ cmd: "perl", args: ["-e", text], rootDir: place.root })).text;
};

describe("files", () => {
  test.each([
    ["by its path", `cat "$OUT/secret.txt"`],
    ["beside the working directory", `cat ../out/secret.txt`],
    ["through the first process", `cat /proc/1/root$OUT/secret.txt /proc/1/cwd$OUT/secret.txt`],
    ["through its own root", `cat /proc/self/root$OUT/secret.txt; cat /proc/self/cwd/../out/secret.txt`],
    ["through a link", `ln -s $OUT l; cat l/secret.txt`],
    ["through a hard link", `ln $OUT/secret.txt h; cat h`],
    [
      "through inherited descriptors",
      `for f in /proc/self/fd/* /proc/1/fd/*; do cat $f/../out/secret.txt; done`,
    ],
  ])("a file outside cannot be read %s", async (_, text) => {
    const env = { OUT: place.out };
    const outcome = await script(place.root, `(${text}) </dev/null`, { env });
    expect(outcome.text).not.toContain("OUTSIDE-SECRET");
  });

  test("a file outside cannot be found by a search of everything", SLOW, async () => {
    // Random, because a toolchain's folder may contain the source of this test.
    const secret = randomUUID();
    writeFileSync(join(place.out, "random.txt"), secret);
    const [head = "", tail = ""] = [secret.slice(0, 18), secret.slice(18)];
    const search = `timeout 15 grep -rsl ${head}'${tail}' /tmp /var /srv /mnt; true`;
    expect((await script(place.root, search, { timeoutMs: SLOW.timeout })).text).toBe("");
  });

  test("nothing outside can be written, and no leftovers stay in the root", async () => {
    await run(
      `touch /x /etc/x /usr/x /dev/x ../x ../out/x "$HOME/x" /var/x; echo evil > ../out/secret.txt; true`,
    );
    expect(readFileSync(join(place.out, "secret.txt"), "utf8")).toBe("OUTSIDE-SECRET\n");
    expect(readdirSync(place.base).toSorted()).toEqual(["out", "root"]);
    expect(readdirSync(place.root)).toEqual([]);
    expect(
      ["/x", "/etc/x", "/usr/x", "/dev/x", join(homedir(), "x")].filter((path) => existsSync(path)),
    ).toEqual([]);
  });

  test("nothing of this process is named in the root, even if its temporary folder lies there", async () => {
    const temporary = join(place.root, "tmp");
    mkdirSync(temporary);
    vi.stubEnv("TMPDIR", temporary);
    const names: (string | null)[] = [];
    const watcher = watch(temporary, (_, name) => names.push(name));
    // More than one supply of pipes, and a new plan for each command.
    for (let each = 0; each < 18; each += 1)
      expect(await run(`mkdir d${each}; echo written > d${each}/f && cat d${each}/f`)).toBe("written\n");
    await new Promise((done) => setTimeout(done, 50));
    watcher.close();
    expect(names).toEqual([]);
  });

  test("the home is empty and private to the command", async () => {
    const text = await run(
      `cat ~/.toolwright-test-*/id_rsa ${canaryFolder}/id_rsa; echo mine > ~/f && cat ~/f`,
    );
    expect(text).not.toContain("HOME-CANARY");
    expect(text).toContain("mine");
  });

  test("password hashes and private keys of the system are masked", async () => {
    const text = await run(
      `cat /etc/shadow /etc/gshadow /etc/shadow- /etc/ssl/private/* 2>/dev/null; id -un`,
    );
    expect(text).not.toMatch(/:[$!*]/);
  });

  test("the private /tmp holds at most 512 MB and is deleted afterwards", SLOW, async () => {
    const name = `toolwright-fill-${process.pid}`;
    const fill = `head -c 600000000 /dev/zero > /tmp/${name}; stat -c %s /tmp/${name}`;
    const { text } = await script(place.root, fill, { timeoutMs: SLOW.timeout });
    expect(text).toContain("536870912");
    expect(existsSync(join("/tmp", name))).toBe(false);
  });

  test("memory cannot be filled through /dev/shm or the empty folders", async () => {
    const text = await run(
      `head -c 90000000 /dev/zero > /dev/shm/f; stat -c %s /dev/shm/f; touch /run/f /sys/f`,
    );
    expect(text).toContain("67108864");
    expect(text).toMatch(/cannot touch '\/run\/f'/);
  });

  test.each(["/var/tmp", "/dev/shm"])("a root in %s works under its own path", async (parent) => {
    const other = createPlace(parent);
    const outcome = await script(other.root, `pwd -P; echo x > made; cat ../out/secret.txt`);
    expect(outcome.text).toContain(`${other.root}\n`);
    expect(outcome.text).not.toContain("OUTSIDE-SECRET");
    expect(existsSync(join(other.root, "made"))).toBe(true);
    other.remove();
  });

  test.each(["/", "/usr", "relative", "/nonexistent"])(
    "a home of %s does not break the sandbox",
    async (home) => {
      const outcome = await script(place.root, `ls -d /usr/bin; pwd`, { env: { HOME: home } });
      expect(outcome.text).toBe(`/usr/bin\n${place.root}\n`);
    },
  );

  test("names with spaces, quotes and line breaks work", async () => {
    const odd = join(place.root, `a "b' $c\n--bind`);
    mkdirSync(odd);
    expect((await script(odd, `echo x > f; cat f`)).text).toBe("x\n");
  });

  test("a root under a system folder or in the home works, and the rest there stays hidden", async () => {
    const inHome = createPlace(canaryFolder);
    const outcome = await script(inHome.root, `pwd; echo x > made; ls ..; cat ../../id_rsa`);
    expect(outcome.text).toContain(inHome.root);
    expect(outcome.text).not.toContain("HOME-CANARY");
    expect(outcome.text).not.toContain("out");
    expect(existsSync(join(inHome.root, "made"))).toBe(true);
    inHome.remove();
  });
});

describe("the kernel", () => {
  test.each([
    ["core_pattern", `echo "|/x" > /proc/sys/kernel/core_pattern`],
    ["another sysctl", `echo 1 > /proc/sys/vm/drop_caches`],
    ["sysrq", `echo h > /proc/sysrq-trigger`],
    ["sysfs", `cat /sys/kernel/mm/ksm/run > /sys/kernel/mm/ksm/run`],
    ["a mount", `mkdir m; mount -t tmpfs x m`],
    ["a bind mount", `mkdir m; mount --bind / m`],
    ["a remount", `mount -o remount,rw /usr`],
    ["an unmount", `umount /proc/sys`],
    ["a user namespace", `unshare -Ur true`],
    ["a mount namespace", `unshare -m true`],
    ["another's namespace", `nsenter -t 1 -m true`],
    ["a device", `mknod /tmp/d b 8 0`],
    ["chroot", `chroot / true`],
    ["ptrace", `strace -o /dev/null true`],
    ["the kernel's log", `dmesg`],
    ["the clock", `date -s 2020-01-01`],
    ["the host's name", `hostname toolwright`],
    ["a terminal", `echo x > /dev/tty`],
  ])("refuses %s", async (_, text) => {
    const outcome = await script(place.root, text);
    expect(outcome).toMatchObject({ ok: false, error: { code: "TOOL_COMMAND_FAILED" } });
  });

  const numbers =
    process.arch === "arm64"
      ? { uring: 425, keyctl: 219, bpf: 280, clone: 220, perf: 241 }
      : { uring: 425, keyctl: 250, bpf: 321, clone: 56, perf: 298 };

  test.each([
    ["AF_VSOCK", `socket(my $s, 40, 1, 0)`],
    ["AF_ALG", `socket(my $s, 38, 5, 0)`],
    ["AF_PACKET", `socket(my $s, 17, 3, 0)`],
    ["AF_BLUETOOTH", `socket(my $s, 31, 3, 0)`],
    ["a raw socket", `socket(my $s, 2, 3, 1)`],
    ["io_uring", `syscall(${numbers.uring}, 1, $z) >= 0`],
    ["keyctl", `syscall(${numbers.keyctl}, 0, -3, 0) >= 0`],
    ["bpf", `syscall(${numbers.bpf}, 0, $z, 64) >= 0`],
    ["perf_event_open", `syscall(${numbers.perf}, $z, 0, -1, -1, 0) >= 0`],
    ["clone with a new user namespace", `(my $p = syscall(${numbers.clone}, 0x10000011, 0, 0, 0, 0)) >= 0`],
    ["clone3", `syscall(435, $z, 88) >= 0`],
    ["the x32 ABI", `syscall(0x40000000 + 39) >= 0`],
  ])("refuses %s", async (_, text) => {
    expect(await perl(`my $z = "\\0" x 128; print((${text}) ? "OPEN" : "DENIED $!")`)).toMatch(/^DENIED/);
  });

  test("the command and the first process have no capability, no new privileges, and a filter", async () => {
    const text = await run(`cat /proc/self/status /proc/1/status`);
    expect(text.match(/CapEff:\t0000000000000000/g)).toHaveLength(2);
    expect(text.match(/CapBnd:\t0000000000000000/g)).toHaveLength(2);
    expect(text.match(/NoNewPrivs:\t1/g)).toHaveLength(2);
    expect(text.match(/Seccomp:\t2/g)).toHaveLength(2);
  });
});

describe("other processes and the environment", () => {
  test("the command sees only itself and the first process", async () => {
    expect((await run(`ls -d /proc/[0-9]* | wc -l`)).trim()).toMatch(/^[234]$/);
    const { pid } = process;
    expect(await run(`kill -0 ${pid} && echo ALIVE; cat /proc/${pid}/environ; true`)).not.toContain("ALIVE");
  });

  test.each([
    ["its own environment", `env; cat /proc/self/environ`],
    ["the environment of the first process", `cat /proc/1/environ`],
    ["the environment of any process", `cat /proc/*/environ`],
    ["the environment of its parent", `cat /proc/$PPID/environ`],
  ])("the agent's secrets are not in %s", async (_, text) => {
    expect(await run(`${text}; true`)).not.toContain("ENVIRONMENT-CANARY");
  });

  test("variables that the caller names are set, and PATH has nothing relative or in the root", async () => {
    const path = process.env["PATH"];
    process.env["PATH"] = `.:${place.root}:${place.root}/bin:${path}`;
    shell(
      `printf '#!/bin/sh\\ntouch ${place.out}/PWNED\\necho EVIL\\n' > ls; chmod +x ls; cp ls bwrap; cp ls sh`.replaceAll(
        /(?<= )(?=ls|bwrap|sh$)/g,
        `${place.root}/`,
      ),
    );
    try {
      const outcome = await attempt({
        cmd: "sh",
        args: ["-c", "ls; echo $NAMED; echo $PATH"],
        rootDir: place.root,
        env: { NAMED: "given" },
      });
      expect(outcome.text).toContain("given");
      expect(outcome.text).not.toContain("EVIL");
      expect(outcome.text).not.toMatch(/^\.?:|:\.?:|:\.?$/m);
      expect(outcome.text).not.toContain(place.root);
      expect(existsSync(join(place.out, "PWNED"))).toBe(false);
    } finally {
      process.env["PATH"] = path;
    }
  });

  test("standard input is empty, and no descriptor of the agent is inherited", async () => {
    expect(await run(`cat; readlink /proc/self/fd/0; echo end`)).toBe("/dev/null\nend\n");
    expect(
      await run(
        `for f in /proc/self/fd/*; do readlink $f; done | grep -vE '^(/dev/null|socket:|pipe:|/proc/)|toolwright-pipes'; true`,
      ),
    ).toBe("");
  });

  test("nothing is shared by System V or POSIX memory", async () => {
    expect(await run(`ipcs -m | grep -c 0x; ls -A /dev/shm /dev/mqueue; true`)).not.toMatch(/^[1-9]/);
  });
});

describe("protected files inside the root", () => {
  beforeEach(() => {
    shell(
      `cd "$ROOT"; git init -q .; mkdir -p .git/hooks .toolwright data; echo STORE > .toolwright/store.db; echo STORE > data/s.db; echo settings > toolwright.config.ts`,
      { ROOT: place.root },
    );
  });
  const guarded = (text: string) =>
    script(place.root, text, {
      hidden: [join(place.root, "data", "s.db"), join(place.root, "data", "s.db-wal")],
    });

  test("the store and .toolwright are hidden", async () => {
    const outcome = await guarded(
      `ls -A .toolwright; cat .toolwright/* data/s.db; cp -r data d2; cat d2/*; grep -r STORE .`,
    );
    expect(outcome.text.replaceAll("STORE .", "")).not.toContain("STORE");
  });

  test.each([
    ["the store", `echo x > data/s.db`],
    ["the store's log, which is not there yet", `echo x > data/s.db-wal`],
    ["the store, by removal", `rm -f data/s.db`],
    ["the store's folder, by renaming", `mv data d2`],
    [".toolwright", `echo x > .toolwright/x`],
    [".toolwright, by removal", `rm -rf .toolwright`],
    [".toolwright, by renaming", `mv .toolwright t`],
    ["the settings", `echo x >> toolwright.config.ts`],
    ["the settings, by renaming", `mv toolwright.config.ts t`],
    ["git's settings", `git config core.pager evil`],
    ["git's settings, by renaming", `mv .git g`],
    ["git's hooks", `echo evil > .git/hooks/pre-commit`],
    ["git's hooks, by renaming", `mv .git/hooks .git/h`],
  ])("%s cannot be changed", async (_, text) => {
    expect(await guarded(text)).toMatchObject({ ok: false, error: { code: "TOOL_COMMAND_FAILED" } });
    expect(readFileSync(join(place.root, ".toolwright", "store.db"), "utf8")).toBe("STORE\n");
    expect(readFileSync(join(place.root, "data", "s.db"), "utf8")).toBe("STORE\n");
    expect(readFileSync(join(place.root, "toolwright.config.ts"), "utf8")).toBe("settings\n");
    expect(readFileSync(join(place.root, ".git", "config"), "utf8")).not.toContain("evil");
    expect(statSync(join(place.root, ".git", "hooks")).isDirectory()).toBe(true);
  });

  test("a store behind a link is hidden too", async () => {
    symlinkSync(place.root, join(place.base, "link"));
    const hidden = [join(place.base, "link", "data", "s.db")];
    const outcome = await script(join(place.base, "link"), `cat data/s.db`, { hidden });
    expect(outcome).toMatchObject({ ok: false });
    expect(outcome.text).not.toContain("STORE");
  });

  test("git itself still works", async () => {
    const outcome = await guarded(
      `echo a > f; git add f && git -c user.name=a -c user.email=a@b.c commit -qm first && git log --format=%s`,
    );
    expect(outcome.text).toBe("first\n");
  });

  test.each([["toolwright.config.mjs"], ["sub/toolwright.config.ts"], ["sub/.toolwright/x"]])(
    "a new %s is reported, stays where it is, and is not trusted",
    async (name) => {
      const outcome = await guarded(`mkdir -p $(dirname ${name}); echo evil > ${name}`);
      expect(outcome).toMatchObject({ ok: false, error: { code: "TOOL_PATH_PROTECTED" } });
      const own = join(place.root, name.replace("/x", ""));
      expect(existsSync(own)).toBe(true);
      const mark = findDistrust(own);
      expect(mark).toBeDefined();
      rmSync(mark ?? "");
    },
  );

  test("a new .git/commondir is removed: git never creates one there", async () => {
    const outcome = await guarded(`echo ../evil > .git/commondir`);
    expect(outcome).toMatchObject({ ok: false, error: { code: "TOOL_PATH_PROTECTED" } });
    expect(existsSync(join(place.root, ".git/commondir"))).toBe(false);
  });
});

describe("resources", () => {
  test("if control groups are available, a command has a bounded number of processes", SLOW, async () => {
    const group = commandGroups.open();
    group?.close();
    // A command joins its group after a moment: before that it is not bounded yet.
    const isMember = `grep -qE '^[0-9]+:(pids)?:.*toolwright-' /proc/self/cgroup`;
    const joined = group === undefined ? "" : `until ${isMember}; do sleep 0.1; done; `;
    const text = `${joined}for i in $(seq ${MAX_PROCESSES + 200}); do sleep 600 & done; echo all`;
    const outcome = await script(place.root, text, { timeoutMs: SLOW.timeout });
    // Elsewhere the timeout is the limit, as documented.
    expect(outcome.text).toMatch(group === undefined ? /all/ : /Cannot fork/);
  });

  test("the root is read-only on request", async () => {
    expect(await script(place.root, `echo x > f`, { rootReadOnly: true })).toMatchObject({ ok: false });
    expect(readdirSync(place.root)).toEqual([]);
  });
});
