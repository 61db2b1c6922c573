/** Bubblewrap with the seccomp filter: the first choice if it is installed and may create namespaces. */
import { boundDescriptors, bwrapOptions, type BwrapFeatures } from "./bwrap-options.ts";
import { viewFor } from "../view/command-view.ts";
import {
  FILTER_DESCRIPTOR,
  FIRST_HELD_DESCRIPTOR,
  GATE_DESCRIPTOR,
  OPTIONS_DESCRIPTOR,
  STATUS_DESCRIPTOR,
  type Launch,
} from "./launch.ts";
import { buildSeccompFilter, seccompArchitecture } from "./seccomp-filter.ts";
import { runProcess } from "../process/run-process.ts";
import { LAUNCH, need, type PlanRequest, type Programs, type Tier } from "./tier.ts";

export const bwrap: Tier = {
  name: "bwrap",
  enforces: { network: true, filesystem: true, processes: true, environment: true },
  showsHost: false,
  async find(find) {
    if (seccompArchitecture() === undefined) return `there is no seccomp filter for ${process.arch}`;
    const program = find("bwrap");
    if (program === undefined) return "bubblewrap (bwrap) is not on PATH";
    return { bwrap: program, features: await readFeatures(program) };
  },
  plan: planBwrap,
};

function planBwrap({ bwrap: program, features: found }: Programs, request: PlanRequest): Launch {
  const { rootReadOnly, cwd, env, allowNetwork, plan } = request;
  const view = viewFor(request);
  const features = need(found);
  const held = boundDescriptors(plan, rootReadOnly, features);
  const options = bwrapOptions({
    rootReadOnly,
    cwd,
    home: view.home,
    allowNetwork,
    view: view.system,
    features,
    readOnly: view.readOnly,
    plan,
    hiddenFiles: view.maskedFiles,
    hiddenFolders: view.maskedFolders,
    seccompDescriptor: FILTER_DESCRIPTOR,
    statusDescriptor: STATUS_DESCRIPTOR,
    gateDescriptor: GATE_DESCRIPTOR,
    handedOver: (descriptor) => FIRST_HELD_DESCRIPTOR + held.indexOf(descriptor),
  });
  return {
    ...LAUNCH,
    tier: "bwrap",
    // Passed through a descriptor, so that /proc/1/cmdline does not reveal the hidden paths to the command.
    argv: [need(program), "--args", `${OPTIONS_DESCRIPTOR}`, "--", request.cmd, ...request.args],
    options: Buffer.from(options.map((option) => `${option}\0`).join("")),
    filter: buildSeccompFilter(need(seccompArchitecture()), {
      sockets: allowNetwork ? "internet" : "families",
      noSetUserId: true,
    }),
    held,
    expected: { plan, rootReadOnly, hiddenFiles: view.maskedFiles },
    env,
    cwd: "/",
    reports: true,
    kill: "namespace",
  };
}

const HELP_LIMIT_MS = 30_000;

async function readFeatures(program: string): Promise<BwrapFeatures> {
  const launch: Launch = {
    ...LAUNCH,
    tier: "none",
    argv: [program, "--help"],
    env: {},
    cwd: "/",
    kill: "group",
  };
  const { output } = await runProcess({
    launch,
    merge: true,
    maxOutputBytes: 65_536,
    timeoutMs: HELP_LIMIT_MS,
  });
  const help = output.text();
  return {
    disableUserns: help.includes("--disable-userns"),
    size: help.includes("--size "),
    bindFd: help.includes("--ro-bind-fd"),
  };
}
