/**
 * Attacks by an agent with all five tools, in default settings with isolation: "require". Each was a hole. They run as
 * root and as an ordinary user. The tests check the state of the host afterwards, and what the user's git runs.
 */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { attackers, createAttackPlace, type AttackPlace } from "./attack-harness.ts";
import { requireBubblewrap } from "./process-harness.ts";

beforeAll(requireBubblewrap);

const SLOW = { timeout: 120_000 };

describe.each(attackers(0))("as %s", (user) => {
  let place: AttackPlace;
  beforeEach(() => {
    place = createAttackPlace(user);
    return () => place.remove();
  });
  const evil = (): string => `#!/bin/sh\\ntouch ${place.base}/PWNED\\n`;
  /** The git commands that a user runs every day. */
  const useGit = (): void => {
    place.person(
      `git status; git diff; echo x > tracked; git add tracked; git commit -qm x; git checkout -q -b b; git submodule status; true`,
    );
    // Commands that run diff and merge drivers.
    place.person(
      `git checkout -q -b ours; echo ours > tracked; git diff; git commit -qam ours; git log -p -1; git checkout -q b; echo theirs > tracked; git commit -qam theirs; git show; git merge -q ours; git diff; git merge --abort; true`,
    );
  };

  describe("what git runs or obeys", () => {
    const cases: readonly (readonly [string, string, string])[] = [
      [
        "missing hooks",
        `rm -rf .git/hooks`,
        `mkdir -p .git/hooks; cp evil .git/hooks/pre-commit; cp evil .git/hooks/post-checkout`,
      ],
      ["hooks", `true`, `cp evil .git/hooks/pre-commit`],
      [
        "the target of a hook that is a link",
        `printf '#!/bin/sh\\n' > script; chmod +x script; ln -s ../../script .git/hooks/pre-commit`,
        `cp evil script; mv evil script`,
      ],
      [
        "the target of hooks that are a link",
        `rm -r .git/hooks; mkdir scripts; ln -s ../scripts .git/hooks`,
        `cp evil scripts/pre-commit`,
      ],
      [
        "the target of settings that are a link",
        `mv .git/config settings; ln -s ../settings .git/config`,
        `printf '[core]\\n\\tfsmonitor = %s\\n' $PWD/evil >> settings`,
      ],
      [
        "a nested repository's hooks",
        `git init -q sub; git -C sub commit -q --allow-empty -m x; git add sub; git commit -qm sub`,
        `cp evil sub/.git/hooks/post-index-change; git -C sub config core.fsmonitor $PWD/evil`,
      ],
      [
        "a new nested repository",
        `true`,
        `git init -q sub; git -C sub commit -q --allow-empty -m x; git -C sub config core.fsmonitor $PWD/evil; cp evil sub/.git/hooks/post-index-change; git add sub`,
      ],
      [
        "a new nested repository with included settings",
        `true`,
        `git init -q sub; git -C sub commit -q --allow-empty -m x; printf '[core]\\n\\tfsmonitor = %s\\n' $PWD/evil > inc; git -C sub config include.path $PWD/inc; git add sub`,
      ],
      [
        "a new nested repository by a .git file",
        `true`,
        `git init -q --separate-git-dir=plain sub; git -C sub commit -q --allow-empty -m x; git -C sub config core.fsmonitor $PWD/evil; git add sub`,
      ],
      [
        "a submodule's settings, one level deep",
        SUBMODULE("a"),
        `git config -f .git/modules/a/config core.fsmonitor $PWD/evil`,
      ],
      [
        "a submodule's settings, two levels deep",
        SUBMODULE("a/b"),
        `git config -f .git/modules/a/b/config core.fsmonitor $PWD/evil; cp evil .git/modules/a/b/hooks/post-index-change`,
      ],
      [
        "settings of a work tree",
        `git config extensions.worktreeConfig true`,
        `printf '[core]\\n\\tfsmonitor = %s\\n' $PWD/evil > .git/config.worktree`,
      ],
      [
        "a repository of plain files in the root",
        `mv .git ../kept`,
        `git init -q --bare x; cp -r x/* .; git config -f config core.bare false; git config -f config core.worktree $PWD; git config -f config core.fsmonitor $PWD/evil`,
      ],
      [
        "settings below what looks like a repository",
        `true`,
        `mkdir -p x/refs x/objects; touch x/HEAD; git init -q x/objects/sub; git -C x/objects/sub commit -q --allow-empty -m x; git -C x/objects/sub config core.fsmonitor $PWD/evil; git add -f x/objects/sub`,
      ],
      [
        "commondir",
        `true`,
        `cp -r .git common; git config -f common/config core.fsmonitor $PWD/evil; echo ../common > .git/commondir`,
      ],
      [
        "commondir of a work tree",
        `git worktree add -q wt -b wt`,
        `cp -r .git common; git config -f common/config core.fsmonitor $PWD/evil; for d in .git/worktrees/*; do echo $PWD/common > $d/commondir; done; cd wt; git status`,
      ],
      [
        "a file that settings include",
        `touch settings; git config include.path ../settings`,
        `printf '[core]\\n\\tfsmonitor = %s\\n' $PWD/evil > settings`,
      ],
      [
        "a missing file that settings include",
        `git config include.path ../settings`,
        `printf '[core]\\n\\tfsmonitor = %s\\n' $PWD/evil > settings`,
      ],
      [
        "core.hooksPath of a work tree whose settings are elsewhere",
        `mv .git ../elsewhere; echo "gitdir: ../elsewhere" > .git; git config core.worktree $PWD; git config core.hooksPath .husky`,
        `mkdir -p .husky; cp evil .husky/pre-commit`,
      ],
      ["core.hooksPath", `mkdir .husky; git config core.hooksPath .husky`, `cp evil .husky/pre-commit`],
      [
        "a missing core.hooksPath",
        `git config core.hooksPath .husky/_`,
        `mkdir -p .husky/_; cp evil .husky/_/pre-commit`,
      ],
      [
        "a filter's program",
        `printf '#!/bin/sh\\ncat\\n' > clean.sh; chmod +x clean.sh; git config filter.f.clean ./clean.sh; echo '* filter=f' > .gitattributes`,
        `cp evil clean.sh; mv evil clean.sh`,
      ],
      [
        "a text conversion of a diff driver",
        `printf '#!/bin/sh\\ncat "$1"\\n' > conv.sh; chmod +x conv.sh; git config diff.d.textconv ./conv.sh; echo '* diff=d' > .gitattributes`,
        `cp evil conv.sh; mv evil conv.sh`,
      ],
      [
        "a missing text conversion of a diff driver",
        `git config diff.d.textconv ./conv.sh; echo '* diff=d' > .gitattributes`,
        `cp evil conv.sh`,
      ],
      [
        "the command of a diff driver",
        `printf '#!/bin/sh\\ntrue\\n' > differ.sh; chmod +x differ.sh; git config diff.d.command ./differ.sh; echo '* diff=d' > .gitattributes`,
        `cp evil differ.sh; mv evil differ.sh`,
      ],
      [
        "an external diff program",
        `printf '#!/bin/sh\\ntrue\\n' > differ.sh; chmod +x differ.sh; git config diff.external ./differ.sh`,
        `cp evil differ.sh; mv evil differ.sh`,
      ],
      [
        "the program of a merge driver",
        `printf '#!/bin/sh\\nexit 0\\n' > merger.sh; chmod +x merger.sh; git config merge.m.driver './merger.sh %A %B'; echo '* merge=m' > .gitattributes`,
        `cp evil merger.sh; mv evil merger.sh`,
      ],
      [
        "a driver for attributes that a command writes",
        `true`,
        `echo '* diff=d merge=d filter=d' > .gitattributes; mkdir -p .git/info; echo '* diff=d merge=d filter=d' > .git/info/attributes; for name in diff.d.textconv diff.d.command diff.external merge.d.driver filter.d.clean; do git config $name $PWD/evil; git config --worktree $name $PWD/evil; done`,
      ],
      [
        "a driver in a new nested repository",
        `true`,
        `git init -q nested && cd nested && echo a > f && git add f && git commit -qm a; echo '* diff=d merge=d filter=d' > .gitattributes; for name in diff.d.textconv diff.d.command diff.external merge.d.driver filter.d.clean; do git config $name $OLDPWD/evil; done; echo b > f; cd ..; git add nested`,
      ],
      [
        "links on the way to hooks, settings and programs",
        `mkdir kept; for f in hook clean.sh monitor; do printf '#!/bin/sh\\ncat\\n' > kept/$f; chmod +x kept/$f; done; touch kept/settings; ln -s kept/hook hook; ln -s ../../hook .git/hooks/pre-commit; ln -s kept tools; git config filter.f.clean tools/clean.sh; echo '* filter=f' > .gitattributes; ln -s kept/monitor monitor; git config core.fsmonitor $PWD/monitor; ln -s kept/settings settings; git config include.path ../settings`,
        `rm -f hook tools monitor settings; mkdir tools; cp evil hook; cp evil tools/clean.sh; ln -s evil monitor; printf '[core]\\n\\tpager = %s\\n[diff]\\n\\texternal = %s\\n' $PWD/evil $PWD/evil > settings`,
      ],
      [
        "the program of core.fsmonitor",
        `printf '#!/bin/sh\\nexit 1\\n' > monitor; chmod +x monitor; git config core.fsmonitor $PWD/monitor`,
        `cp evil monitor; rm -f monitor; cp evil monitor`,
      ],
    ];
    test.each(cases)("%s cannot be planted by a command", SLOW, async (_, prepare, attack) => {
      place.person(
        `git init -q . && echo x > tracked && git add tracked && git commit -qm first; ${prepare}; rm -f ../PWNED`,
      );
      await place.run({
        bash: `printf '${evil()}' > evil; chmod +x evil; export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a; ${attack}; true`,
      });
      useGit();
      if (existsSync(join(place.root, "wt"))) place.person(`cd wt; git status`);
      expect(place.isPwned()).toBe(false);
    });

    test("the file tools refuse them", async () => {
      const paths = [
        ".git/hooks/pre-commit",
        ".git/config",
        ".git/config.worktree",
        ".git/commondir",
        ".git/index",
        ".git/sharedindex.x",
        ".git/MERGE_RR",
        ".git/ORIG_HEAD",
        ".git/refs/tags/v1",
        ".git/modules/a/HEAD",
        ".git/rebase-merge/update-refs",
        ".git/rebase-apply/apply-opt",
        ".git/modules/a/b/config",
        ".git/worktrees/x/commondir",
        "sub/.git/hooks/x",
        "sub/.git/config",
        "sub/.git",
        ".husky/pre-commit",
        ".husky/_/deep/x",
        "settings",
        "clean.sh",
        "scripts/hook",
        "own.ts",
        "missing.ts",
      ];
      place.person(
        `git init -q .; git config core.hooksPath .husky; git config include.path ../settings; echo x > clean.sh; git config filter.f.clean './clean.sh %f'; mkdir scripts; touch scripts/hook own.ts; ln -s ../../scripts/hook .git/hooks/post-merge; ln -s own.ts toolwright.config.ts; ln -s missing.ts toolwright.config.js`,
      );
      const ended = await place.run(...paths.map((write) => ({ write, content: "evil" })));
      expect(paths.filter((_, at) => ended[at]?.code !== "TOOL_PATH_PROTECTED")).toEqual([]);
    });

    test("the user's own settings in the root, and the template of new repositories", SLOW, async () => {
      const { root, home } = place;
      place.person(
        `mkdir -p dots/template/hooks dots/config; mv ${home}/.gitconfig dots/gitconfig; ln -s ${root}/dots/gitconfig ${home}/.gitconfig; ln -s ${root}/dots/config ${home}/.config; git config -f dots/gitconfig init.templateDir ${root}/dots/template`,
      );
      const settings = ["dots/gitconfig", "dots/config/git/config"];
      const hooks = ["post-commit", "post-checkout"].map((name) => `dots/template/hooks/${name}`);
      const written = await place.run(
        ...[...settings, ...hooks].map((write) => ({ write, content: "evil" })),
        {
          bash: `printf '${evil()}' > evil; chmod +x evil; for f in ${settings.join(" ")}; do mkdir -p $(dirname $f); printf '[core]\n\tfsmonitor = %s\n' $PWD/evil > new; cat new >> $f; mv -f new $f; done; for f in ${hooks.join(" ")}; do cp evil $f; done; mv dots away; true`,
        },
      );
      expect(written.map(({ code }) => code)).toEqual([...Array(4).fill("TOOL_PATH_PROTECTED"), undefined]);
      place.person(
        `git init -q ../new; cd ../new; git commit -q --allow-empty -m x; git status; git checkout -q -b b`,
      );
      expect(place.isPwned()).toBe(false);
      expect(place.person(`cat dots/gitconfig; ls dots/template/hooks`)).toContain("templateDir");
    });

    test("files in which git keeps its own state cannot make it write or read elsewhere", SLOW, async () => {
      place.person(
        `git init -q . && echo x > tracked && git add tracked && git commit -qm first && git branch b && echo z > z && git add z && git commit -qm second && git format-patch -q -2 --stdout HEAD > ../mails; git am -q ../mails || true`,
      );
      const index = `perl -e 'print "DIRC", pack("NN", 2, 1), "\\0" x 24, pack("N", 0100755), "\\0" x 12, pack("H40", $ARGV[0]), pack("n", length $ARGV[1]), $ARGV[1], "\\0" x (8 - (62 + length $ARGV[1]) % 8), "\\0" x 20' $(printf '${evil()}' | git hash-object -w --stdin)`;
      const id = "0".repeat(40);
      const ended = await place.run(
        {
          bash: `printf "'--build-fake-ancestor=${place.home}/.ssh/authorized_keys'" > .git/rebase-apply/apply-opt`,
        },
        { host: `git am --skip; git am --skip; git am --abort; true` },
        { bash: `${index} ../home/.ssh/authorized_keys > .git/index` },
        { host: `git checkout .; git reset -q --hard; true` },
        { bash: `${index} .git/hooks/pre-commit > .git/index` },
        { host: `git checkout .; git reset -q --hard; true` },
        {
          bash: `mkdir -p .git/rr-cache/${id}; touch .git/rr-cache/${id}/preimage; printf '${id}\\t../home/.ssh/id_rsa\\0' > .git/MERGE_RR`,
        },
        { host: `git commit -q --allow-empty -m x` },
        { bash: `cat .git/rr-cache/${id}/*` },
        {
          bash: `git checkout -q b && echo y > y && git add y && git -c user.name=a -c user.email=a commit -qm "$(printf '[core]\\nfsmonitor = touch ${place.base}/PWNED;')" && git checkout -q -; ln -s config .git/MERGE_MSG`,
        },
        { host: `git cherry-pick b; git status; git commit -q --allow-empty -m x; true` },
      );
      const planted = ended.filter((_, step) => [0, 2, 4, 6, 9].includes(step));
      expect(planted.map(({ code }) => code)).toEqual(Array(5).fill("TOOL_PATH_PROTECTED"));
      expect(ended[8]?.text).not.toContain("PRIVATE-KEY");
      expect(place.keys()).toBe("ssh-ed25519 mine\n");
      expect(place.isPwned()).toBe(false);
    });

    test("a repository of plain files cannot be finished by write", async () => {
      const steps = [
        ["x/objects/a", ""],
        ["x/refs/heads/a", ""],
        ["x/config", `[core]\n\tfsmonitor = touch ${place.base}/PWNED\n\trepositoryformatversion = 0\n`],
        ["x/HEAD", "ref: refs/heads/main\n"],
      ] as const;
      for (const order of [steps, steps.toReversed()]) {
        const ended = await place.run(...order.map(([write, content]) => ({ write, content })), {
          host: `cd x; git status 2>/dev/null; cd ..; rm -rf x; true`,
        });
        expect(ended.map(({ code }) => code)).toContain("TOOL_PATH_PROTECTED");
        expect(place.isPwned()).toBe(false);
      }
    });

    test("a new repository cannot have its work tree elsewhere, and submodules keep theirs", async () => {
      place.person(`git init -q . && git commit -q --allow-empty -m first; mkdir lib; git init -q ../lib`);
      place.person(`cd ../lib; echo x > x; git add x; git commit -qm x; cp -r .git ../root/lib/.git`);
      const identity = `export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a;`;
      // The commit contains a file that a checkout would write to the home.
      const make = (name: string, tree: string): string =>
        `git init -q ${name}; mkdir ${name}/.ssh; echo evil > ${name}/.ssh/authorized_keys; git -C ${name} add -A; git -C ${name} commit -qm x; git -C ${name} config core.worktree ${tree}`;
      const [outside, link, submodule, , dots] = await place.run(
        { bash: `${identity} ${make("sub", place.home)}` },
        { bash: `${identity} mkdir tree; ${make("linked", "$PWD/tree")}` },
        {
          bash: `${identity} git -c protocol.file.allow=always submodule add -q ./lib mod >/dev/null 2>&1; git -C mod rev-parse --show-toplevel`,
        },
        { bash: `rmdir tree; ln -s ${place.home} tree; true` },
        // Spelled as its own work tree, which is not where the link leads.
        { bash: `${identity} ln -s ${place.home}/.ssh way; ${make(".ssh", "../../way/../.ssh")}` },
      );
      expect(dots).toMatchObject({ code: "TOOL_PATH_PROTECTED" });
      expect(outside).toMatchObject({
        code: "TOOL_PATH_PROTECTED",
        text: expect.stringContaining("core.worktree"),
      });
      expect(link).toMatchObject({ code: "TOOL_PATH_PROTECTED" });
      expect(submodule).toMatchObject({ ok: true, text: `${place.root}/mod\n` });
      place.person(
        `for r in sub linked .ssh; do git -C $r checkout -qf; git -C $r add -A; git -C $r reset -q --hard; done; true`,
      );
      expect(place.keys()).toBe("ssh-ed25519 mine\n");
      expect(
        place.person(
          `git -C sub ls-files; git -C mod status --porcelain; git config -f .git/modules/mod/config core.worktree`,
        ),
      ).toBe(".ssh/authorized_keys\n../../../mod\n");
    });

    test("settings that a command planted cannot be changed through another name later", async () => {
      const [planted, later] = await place.run(
        { bash: `echo first > copy; ln copy toolwright.config.ts` },
        { bash: `echo evil >> copy; cat copy` },
      );
      expect(planted).toMatchObject({ code: "TOOL_PATH_PROTECTED" });
      expect(later).toMatchObject({ ok: true, text: "first\nevil\n" });
      expect(readFileSync(join(place.root, "toolwright.config.ts"), "utf8")).toBe("first\n");
    });

    test("git init, add and commit stay allowed, in the root and below it", async () => {
      const [first, second] = await place.run(
        {
          bash: `git init -q . && git init -q sub && echo a > sub/a && git -C sub -c user.name=a -c user.email=a@b.c add a && git -C sub -c user.name=a -c user.email=a@b.c commit -qm inner && git -C sub log --format=%s`,
        },
        {
          bash: `echo b > b && git add b && git -c user.name=a -c user.email=a@b.c commit -qm outer && git log --format=%s`,
        },
      );
      expect(first).toEqual({ ok: true, text: "inner\n" });
      expect(second).toEqual({ ok: true, text: "outer\n" });
    });
  });

  describe("while a command runs", () => {
    test.each([
      [".git/config", `git config a.b marker`],
      ["toolwright.config.ts", `echo marker > n; mv n toolwright.config.ts`],
      ["sub/toolwright.config.ts", `echo marker > n; mv n sub/toolwright.config.ts`],
    ])("the host replaces %s: the command is stopped before it can write it", SLOW, async (path, during) => {
      place.person(`git init -q .; mkdir sub; touch toolwright.config.ts sub/toolwright.config.ts`);
      const [ended] = await place.run({
        bash: `touch started; until grep -q marker ${path}; do sleep 0.01; done; sleep 20; echo evil >> ${path}; touch survived`,
        during,
      });
      expect(ended).toMatchObject({ ok: false, code: "TOOL_PATH_PROTECTED" });
      expect(ended?.text).toContain("was replaced while the command ran");
      expect(readFileSync(join(place.root, path), "utf8")).not.toContain("evil");
      expect(existsSync(join(place.root, "survived"))).toBe(false);
    });

    test.each([
      [".toolwright/mine", `mkdir .toolwright; echo mine > .toolwright/mine`],
      ["toolwright.config.ts", `echo mine > toolwright.config.ts`],
      ["sub/toolwright.config.ts", `mkdir sub; echo mine > sub/toolwright.config.ts`],
    ])("a %s that the user creates stays unchanged", SLOW, async (path, during) => {
      await place.run({ bash: `touch started; until [ -e go ]; do sleep 0.01; done`, during });
      expect(readFileSync(join(place.root, path), "utf8")).toBe("mine\n");
      expect(readdirSync(place.root).filter((name) => name.includes("untrusted"))).toEqual([]);
    });

    test("a repository that the user clones keeps its settings", SLOW, async () => {
      place.person(`git init -q ../origin; git -C ../origin commit -q --allow-empty -m x`);
      const [ended] = await place.run({
        bash: `touch started; until [ -e go ]; do sleep 0.01; done`,
        during: `git clone -q ../origin clone`,
      });
      expect(ended?.ok).toBe(true);
      expect(place.person(`git -C clone config remote.origin.url`)).toContain("/origin");
    });
  });

  describe("Toolwright's own files", () => {
    test.each([".toolwright", "toolwright.config.ts"])(
      "%s is protected even if it is a link",
      async (name) => {
        place.person(
          name === ".toolwright"
            ? `mkdir real; echo STORE > real/store; ln -s real .toolwright`
            : `echo STORE > real; ln -s real toolwright.config.ts`,
        );
        const target = name === ".toolwright" ? "real/store" : "real";
        const [direct, through] = await place.run(
          { bash: `echo evil > ${target}; rm -f ${target}; true` },
          { bash: `rm ${name}; echo evil > ${name}` },
        );
        expect(direct).toMatchObject({ ok: true });
        expect(through).toMatchObject({ ok: false, code: "TOOL_PATH_PROTECTED" });
        expect(readFileSync(join(place.root, target), "utf8")).toBe("STORE\n");
      },
    );

    test.each(["sub/toolwright.config.mts", "a/b/.toolwright/x"])(
      "%s at any depth is read-only or hidden",
      async (path) => {
        place.person(`mkdir -p $(dirname ${path}); echo mine > ${path}`);
        await place.run({ bash: `echo evil > ${path}; rm -rf ${path}; mv $(dirname ${path}) away; true` });
        expect(readFileSync(join(place.root, path), "utf8")).toBe("mine\n");
      },
    );

    test("the store of another runtime is hidden from every tool", SLOW, async () => {
      const sqlite = `const { DatabaseSync } = require("node:sqlite"); const d = new DatabaseSync("data/other.db"); d.exec("PRAGMA journal_mode=WAL; CREATE TABLE toolwright_meta (a); INSERT INTO toolwright_meta VALUES ('TOP-SECRET')"); `;
      for (const end of ["d.close()", "process.kill(process.pid, 9)"]) {
        place.person(
          `mkdir -p data; "${process.execPath}" --no-warnings -e '${sqlite.replaceAll("'", `'"'"'`)}${end}' || true`,
        );
        const ended = await place.run(
          { bash: `cat data/*; cp -r data copy; cat copy/*; true` },
          { read: "data/other.db" },
          { grep: "TOP-SECRET" },
          { grep: "TOP-SECRET", path: "data" },
          { write: "data/other.db", content: "evil" },
          { write: "data/other.db-wal", content: "evil" },
        );
        expect(ended.map(({ text }) => text).join("")).not.toContain("TOP-SECRET");
        expect(ended.slice(-2)).toMatchObject([
          { code: "TOOL_PATH_PROTECTED" },
          { code: "TOOL_PATH_PROTECTED" },
        ]);
        expect(ended[1]).toMatchObject({ code: "TOOL_PATH_PROTECTED" });
        place.person(`rm -rf data copy`);
      }
    });
  });

  test("allowNetwork opens the network, but no socket of the host", SLOW, async () => {
    const listen = `
      import socket, os, threading
      def serve(s):
        s.listen()
        while True:
          c, _ = s.accept(); open("hits", "a").write("x"); c.close()
      for address in ["\\0" + os.environ["NAME"], "path.sock"]:
        s = socket.socket(socket.AF_UNIX); s.bind(address); threading.Thread(target=serve, args=(s,)).start()
      t = socket.socket(); t.bind(("127.0.0.1", 0)); open("port", "w").write(str(t.getsockname()[1])); t.listen()
      open("ready", "w").close(); t.accept()[0].close(); os._exit(0)
    `.replaceAll(/^ {6}/gm, "");
    const name = `toolwright-${process.pid}-${user.length}`;
    const connect = `
import socket, os
for address in ["\\0${name}", "path.sock", "${place.root}/path.sock"]:
  for kind in [socket.SOCK_STREAM, socket.SOCK_DGRAM]:
    try:
      s = socket.socket(socket.AF_UNIX, kind); s.connect(address); print("REACHED")
    except OSError as e: print(e)
try:
  a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM); a.sendto(b"x", "path.sock"); print("REACHED")
except OSError as e: print(e)
a, b = socket.socketpair(); a.send(b"x")
t = socket.create_connection(("127.0.0.1", int(open("port").read()))); print("TCP")
`;
    const [, ended] = await place.run(
      {
        host: `cat > s.py <<'E'\n${listen}\nE\nNAME=${name} nohup python3 s.py >/dev/null 2>&1 & until [ -e ready ]; do sleep 0.05; done; cat > c.py <<'E'\n${connect}\nE\n`,
      },
      { bash: `python3 c.py`, allowNetwork: true },
    );
    expect(ended?.text).toContain("TCP");
    expect(ended?.text).not.toContain("REACHED");
    expect(existsSync(join(place.root, "hits"))).toBe(false);
  });
});

/** Creates a submodule by hand: git does not fetch one from a path by default. */
function SUBMODULE(name: string): string {
  return `git init -q s; git -C s commit -q --allow-empty -m x; mkdir -p .git/modules/${name}; rmdir .git/modules/${name}; mv s/.git .git/modules/${name}; echo "gitdir: $PWD/.git/modules/${name}" > s/.git; git config -f .git/modules/${name}/config core.worktree $PWD/s; git add s; git commit -qm s`;
}
