/** More than fifty ways to reach a listener of the host. The listener decides the result, not the exit code. */
import { cpSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  attempt,
  createPlace,
  openListeners,
  requireBubblewrap,
  script,
  type Listeners,
  type Place,
} from "./process-harness.ts";

let place: Place;
let listeners: Listeners;
const sockets = { run: "", tmp: "", root: "", out: "" };

beforeAll(async () => {
  await requireBubblewrap();
  place = createPlace();
  listeners = await openListeners();
  sockets.tmp = join(place.base, "t.sock");
  sockets.out = join(place.out, "o.sock");
  sockets.root = join(place.root, "r.sock");
  for (const path of [sockets.tmp, sockets.out, sockets.root]) await listeners.listenOn(path);
  symlinkSync("/usr/bin/curl", join(place.root, "c"));
  try {
    cpSync("/usr/bin/curl", join(place.root, "lint"));
  } catch {
    writeFileSync(join(place.root, "lint"), ""); // No curl here: the case is then a program that cannot run.
  }
  symlinkSync(sockets.out, join(place.root, "link.sock"));
});

afterAll(() => {
  listeners?.close();
  place?.remove();
});

const PERL_TCP = (family: number, address: string): string =>
  `use Socket; socket(my $s, ${family}, SOCK_STREAM, 0) or die $!; connect($s, ${address}) or die $!; print "in"`;
const PYTHON = "import socket,sys;";

/** `P` is the port, `U` the UDP port. */
const SHELL_WAYS: readonly [string, string][] = [
  ["curl in quotes", `cu''rl -s -m 2 127.0.0.1:P`],
  ["curl behind a backslash", `c\\url -s -m 2 127.0.0.1:P`],
  ["curl from hexadecimal", `$(printf '\\143\\165\\162\\154') -s -m 2 127.0.0.1:P`],
  ["curl from a variable", `a=cu; b=rl; $a$b -s -m 2 127.0.0.1:P`],
  ["curl by a glob", `/usr/bin/cur? -s -m 2 127.0.0.1:P`],
  ["curl through xargs", `echo 127.0.0.1:P | xargs cur''l -s -m 2`],
  ["curl through env", `env -i /usr/bin/cur[l] -s -m 2 127.0.0.1:P`],
  ["curl through the loader", `/lib64/ld-linux-x86-64.so.2 /usr/bin/cur* -s -m 2 127.0.0.1:P`],
  ["curl through find -exec", `find /usr/bin -name cur''l -exec {} -s -m 2 127.0.0.1:P \\;`],
  ["curl through a here-document", `sh <<'X'\ncu""rl -s -m 2 127.0.0.1:P\nX`],
  ["curl from base64", `echo Y3VybCAtcyAtbSAyIDEyNy4wLjAuMTpQT1JU | base64 -d | sed s/PORT/P/ | sh`],
  ["curl to IPv6", `cu''rl -s -m 2 'http'://[::1]:P`],
  ["curl to a decimal address", `cu''rl -s -m 2 2130706433:P`],
  ["curl to localhost", `cu''rl -s -m 2 localhost:P`],
  ["curl to 0.0.0.0", `cu''rl -s -m 2 0.0.0.0:P`],
  ["curl over a socket in /tmp", `cu''rl -s -m 2 --unix-socket TMPSOCK x`],
  ["curl over a socket in the root", `cu''rl -s -m 2 --unix-socket r.sock x`],
  ["curl over an abstract socket", `cu''rl -s -m 2 --abstract-unix-socket ABSTRACT x`],
  ["curl setting up the interface", `ip link set lo up; ip route; cu''rl -s -m 2 127.0.0.1:P`],
  ["bash /dev/tcp", `bash -c 'exec 3<>/dev/tcp/127.0.0.1/P; echo hi >&3; cat <&3'`],
  ["bash /dev/udp", `bash -c 'echo hi > /dev/udp/127.0.0.1/U'`],
  ["nc", `nc -w 2 127.0.0.1 P </dev/null`],
  ["nc over UDP", `echo hi | nc -u -w 1 127.0.0.1 U`],
  ["nc over a socket", `nc -w 2 -U TMPSOCK </dev/null`],
  ["busybox nc", `busybox nc 127.0.0.1 P </dev/null`],
  ["busybox wget", `busybox wg''et -T 2 -q -O - 'http'://127.0.0.1:P/`],
  ["socat", `socat -T 2 - TCP:127.0.0.1:P </dev/null`],
  ["socat over an abstract socket", `socat -T 2 - ABSTRACT-CONNECT:ABSTRACT </dev/null`],
  ["telnet", `telnet 127.0.0.1 P </dev/null`],
  ["openssl s_client", `timeout 2 openssl s_client -connect 127.0.0.1:P </dev/null`],
  ["ssh", `ssh -o BatchMode=yes -o ConnectTimeout=2 -p P 127.0.0.1 true`],
  ["gawk", `gawk 'BEGIN{s="/inet/tcp/0/127.0.0.1/P";print "x" |& s;s |& getline l;print l}'`],
  ["git over its own protocol", `git ls-remote git://127.0.0.1:P/x`],
  ["git through a helper", `git -c protocol.ext.allow=always ls-remote 'ext::nc 127.0.0.1 P'`],
  ["pip by its module", `python3 -m pip download -q --timeout 1 --retries 0 -i ht''tp://127.0.0.1:P/ x`],
  ["dig", `dig +time=1 +tries=1 @127.0.0.1 -p U example.test`],
  [
    "a daemon that outlives the shell",
    `(setsid sh -c 'sleep 0.2; cu""rl -s -m 2 127.0.0.1:P' &) ; sleep 0.6`,
  ],
  ["a new network namespace", `unshare -n cu''rl -s -m 2 127.0.0.1:P`],
  ["the host's network namespace", `nsenter --net=/proc/1/ns/net cu''rl -s -m 2 127.0.0.1:P`],
  [
    "the host through /proc",
    `for p in /proc/[0-9]*; do nsenter --net=$p/ns/net cu''rl -s -m 1 127.0.0.1:P; done`,
  ],
];

const PROGRAM_WAYS: readonly [string, string, string[]][] = [
  ["node fetch", "node", ["-e", "fetch('ht'+'tp://127.0.0.1:P').then(r=>r.text()).then(console.log)"]],
  ["node net", "node", ["-e", "require('net').connect(P,'127.0.0.1').on('data',d=>console.log(d+''))"]],
  ["node net over IPv6", "node", ["-e", "require('net').connect(P,'::1').on('data',d=>console.log(d+''))"]],
  [
    "node dgram",
    "node",
    ["-e", "require('dgram').createSocket('udp4').send('x',U,'127.0.0.1',()=>process.exit())"],
  ],
  ["node over a socket", "node", ["-e", "require('net').connect('TMPSOCK').on('data',d=>console.log(d+''))"]],
  [
    "node over a socket in the root",
    "node",
    ["-e", "require('net').connect('r.sock').on('data',d=>console.log(d+''))"],
  ],
  [
    "node over an abstract socket",
    "node",
    ["-e", "require('net').connect('\\0ABSTRACT').on('data',console.log)"],
  ],
  [
    "python urllib",
    "python3",
    ["-c", "import urllib.request as u;print(u.urlopen('ht'+'tp://127.0.0.1:P',timeout=2).read())"],
  ],
  ["python socket", "python3", ["-c", `${PYTHON}print(socket.create_connection(('127.0.0.1',P),2).recv(9))`]],
  ["python UDP", "python3", ["-c", `${PYTHON}socket.socket(2,2).sendto(b'x',('127.0.0.1',U))`]],
  [
    "python over a socket",
    "python3",
    ["-c", `${PYTHON}s=socket.socket(1,1);s.connect('OUTSOCK');print(s.recv(9))`],
  ],
  [
    "python over a linked socket",
    "python3",
    ["-c", `${PYTHON}s=socket.socket(1,1);s.connect('link.sock');print(s.recv(9))`],
  ],
  [
    "python over an abstract socket",
    "python3",
    ["-c", `${PYTHON}s=socket.socket(1,1);s.connect('\\0ABSTRACT')`],
  ],
  ["perl TCP", "perl", ["-e", PERL_TCP(2, 'pack_sockaddr_in(P, inet_aton("127.0.0.1"))')]],
  ["perl over a socket", "perl", ["-e", PERL_TCP(1, 'pack_sockaddr_un("TMPSOCK")')]],
  ["perl through io_uring", "perl", ["-e", 'syscall(425, 8, "\\0" x 120) >= 0 and print "RING"']],
  ["a link to curl in the root", "./c", ["-s", "-m", "2", "127.0.0.1:P"]],
  ["a copy of curl in the root", "./lint", ["-s", "-m", "2", "127.0.0.1:P"]],
  ["env -S", "env", ["-S", "curl -s -m 2 127.0.0.1:P"]],
  ["timeout", "timeout", ["2", "curl", "-s", "127.0.0.1:P"]],
  ["busybox sh", "busybox", ["sh", "-c", "busybox nc 127.0.0.1 P </dev/null"]],
];

const fill = (text: string): string =>
  text
    .replaceAll("TMPSOCK", sockets.tmp)
    .replaceAll("OUTSOCK", sockets.out)
    .replaceAll("ABSTRACT", listeners.abstractName)
    .replaceAll(/(?<=:|\/| |,|\()P\b/g, String(listeners.port))
    .replaceAll(/(?<=\/| |,)U\b/g, String(listeners.udpPort));

describe("no process inside the sandbox reaches a listener of the host", () => {
  test("the listeners themselves work", async () => {
    const before = listeners.hits();
    const way = `python3 -c 'import socket;socket.create_connection(("127.0.0.1",${listeners.port}));socket.socket(1,1).connect("${sockets.root}")'`;
    const plain = await script(place.root, way, { isolation: "off", allowNetwork: true });
    expect(plain.text).toBe("");
    await expect.poll(() => listeners.hits()).toBe(before + 2);
  });

  test.each(SHELL_WAYS)("by %s", async (_, text) => {
    const before = listeners.hits();
    await script(place.root, fill(text), { timeoutMs: 8_000 });
    expect(listeners.hits()).toBe(before);
  });

  test.each(PROGRAM_WAYS)("by %s", async (_, cmd, args) => {
    const before = listeners.hits();
    const outcome = await attempt({ cmd, args: args.map(fill), rootDir: place.root, timeoutMs: 8_000 });
    expect(listeners.hits()).toBe(before);
    expect(outcome.text).not.toContain("RING");
  });

  test("loopback inside works, so that test suites run", async () => {
    const text = `import socket;s=socket.socket();s.bind(("127.0.0.1",0));s.listen();c=socket.create_connection(s.getsockname());print("inside")`;
    const outcome = await attempt({ cmd: "python3", args: ["-c", text], rootDir: place.root });
    expect(outcome.text).toBe("inside\n");
  });

  test("with the network on, a command reaches the listener", async () => {
    const before = listeners.hits();
    const text = `import socket;print(socket.create_connection(("127.0.0.1",${listeners.port})).recv(99))`;
    const outcome = await attempt({
      cmd: "python3",
      args: ["-c", text],
      rootDir: place.root,
      allowNetwork: true,
    });
    expect(outcome.text).toContain("reached");
    expect(listeners.hits()).toBe(before + 1);
  });
});
