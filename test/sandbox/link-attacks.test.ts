/**
 * Links that a command plants, so that the next sandbox is built around a folder of the host, and names that it exchanges while
 * other commands start. Each was a hole. They run as root and as an ordinary user.
 */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { amount } from "../amount.ts";
import { attackers, createAttackPlace, isConfinedOnly, type AttackPlace } from "./attack-harness.ts";
import { requireBubblewrap } from "./process-harness.ts";

beforeAll(requireBubblewrap);

/** Keeps exchanging two names until it is stopped. The pauses leave a core to the commands that it races with. */
const exchange = (a: string, b: string): string =>
  `touch started; exec perl -e 'my ($a, $b) = @ARGV; for (1 .. 20_000_000) { syscall(316, -100, $a, -100, $b, 2); select(undef, undef, undef, 0.00002) }' ${a} ${b}`;

/** The number of tries per race. The default keeps the suite short; `ATTACK_TIMES=2000` takes minutes. */
const TIMES = Number(process.env["ATTACK_TIMES"] ?? amount(12, 25));
const SLOW = { timeout: Math.max(120_000, TIMES * 400) };

describe.each(attackers(0))("as %s", (user) => {
  let place: AttackPlace;
  beforeEach(() => {
    place = createAttackPlace(user);
    return () => place.remove();
  });

  test("a link in .git/modules does not bring a folder of the host into the next sandbox", SLOW, async () => {
    place.person(`git init -q .`);
    const [, second, third] = await place.run(
      { bash: `mkdir -p .git/modules && ln -s ${place.home}/.ssh .git/modules/evil` },
      {
        bash: `cat .git/modules/evil/id_rsa .git/modules/evil/config; echo evil > .git/modules/evil/hooks/x; echo evil >> .git/modules/evil/authorized_keys; true`,
      },
      { bash: `echo works` },
    );
    expect(second?.text).not.toMatch(/PRIVATE-KEY|SSH-CONFIG/);
    expect(third).toEqual({ ok: true, text: "works\n" });
    expect(place.keys()).toBe("ssh-ed25519 mine\n");
    expect(readdirSync(join(place.home, ".ssh/hooks"))).toEqual([]);
  });

  test.each([
    // Landlock allows no new file next to a repository, so the file that signals "started" exists before.
    [
      "where there is a repository",
      `git init -q nested${isConfinedOnly() ? "; touch started" : ""}`,
      "nested/.git",
      "other",
    ],
    ["where there is none", `true`, ".git", "other"],
  ])(
    "exchanging .git with a link while commands start shows nothing of the host, %s",
    SLOW,
    async (_, prepare, name, other) => {
      const made = `mkdir -p made/hooks && touch made/config made/HEAD && mv -T made ${name}`;
      const ended = await place.run(
        { bash: prepare },
        { background: `(${made}); ln -s ${place.home}/.ssh ${other}; ${exchange(name, other)}` },
        {
          bash: `for d in ${name} ${other}; do cat $d/id_rsa $d/config; echo evil >> $d/authorized_keys; echo evil >> $d/config; done; true`,
          times: TIMES,
        },
      );
      expect(ended.map(({ text }) => text).join("")).not.toMatch(/PRIVATE-KEY|SSH-CONFIG/);
      expect(place.keys()).toBe("ssh-ed25519 mine\n");
      expect(readFileSync(join(place.home, ".ssh/config"), "utf8")).toBe("SSH-CONFIG\n");
    },
  );

  test(
    "exchanging toolwright.config.ts with a link to a file reveals nothing about the file",
    SLOW,
    async () => {
      const ended = await place.run(
        {
          background: `touch c; ln -s ${place.home}/.ssh/id_rsa toolwright.config.ts; ${exchange("c", "toolwright.config.ts")}`,
        },
        { bash: `cat toolwright.config.ts c; echo evil >> toolwright.config.ts; true`, times: TIMES },
      );
      expect(ended.map(({ text }) => text).join("")).not.toContain("PRIVATE-KEY");
      expect(readFileSync(join(place.home, ".ssh/id_rsa"), "utf8")).toBe("PRIVATE-KEY\n");
    },
  );

  test.each([".git", "toolwright.config.ts", ".toolwright", ".git/config"])(
    "a link at %s that points outside does not prevent later commands from running",
    async (name) => {
      const [, second, , fourth] = await place.run(
        { bash: `mkdir -p $(dirname ${name}); ln -s ${place.home}/.ssh/id_rsa ${name}` },
        { bash: `cat ${name}; echo works` },
        { bash: `rm ${name}; ln -s /nonexistent/${name} ${name}` },
        { bash: `echo works` },
      );
      expect(second?.text).toContain("works");
      expect(fourth).toEqual({ ok: true, text: "works\n" });
      expect(second?.text).not.toContain("PRIVATE-KEY");
    },
  );
});
