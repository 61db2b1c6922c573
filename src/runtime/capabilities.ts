/** Creates the capabilities of a call. If the option is a function, they are created for the call and disposed after it. */
import { SharedCapability } from "../definition/context.ts";
import { describe } from "../definition/option-checks.ts";
import { asOptionError } from "../definition/option-table.ts";
import type { CallCapabilities, Host } from "../invoke/host.ts";
import { type Disposer, disposerOf, isDisposable, runDisposers } from "./dispose-capabilities.ts";
import { type Capabilities, noContextFields, refusal, type RuntimeOptions } from "./options.ts";

export function createCapabilities(
  given: RuntimeOptions["capabilities"],
  warnOnce: Host["warnOnce"],
): Host["capabilitiesFor"] {
  if (given === undefined) return undefined;
  if (typeof given !== "function") {
    const shared: CallCapabilities = { values: unwrap(given), dispose: () => Promise.resolve() };
    return () => Promise.resolve(shared);
  }
  const uses = new Uses(warnOnce);
  return async (call) => {
    const made = checkMade(await given(call));
    const dispose = uses.begin(made);
    try {
      asOptionError("createRuntime", () => noContextFields(made, "capabilities"));
    } catch (error) {
      await dispose();
      throw error;
    }
    return { values: unwrap(made), dispose };
  };
}

function checkMade(made: unknown): Capabilities {
  if (typeof made !== "object" || made === null || Array.isArray(made)) {
    throw refusal("capabilities", `must return an object such as { conn }, not ${describe(made)}`);
  }
  return made as Capabilities;
}

function unwrap(values: Capabilities): Capabilities {
  const isWrapped = (value: unknown): value is SharedCapability => value instanceof SharedCapability;
  if (!Object.values(values).some(isWrapped)) return values;
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, isWrapped(value) ? value.value : value]),
  );
}

/** The values that calls in flight use. A value that two calls received is disposed when the last of them ends. */
class Uses {
  readonly #counts = new Map<unknown, number>();
  readonly #disposed = new WeakSet<object>();
  readonly #warnOnce: Host["warnOnce"];

  constructor(warnOnce: Host["warnOnce"]) {
    this.#warnOnce = warnOnce;
  }

  /** Returns a function that ends the use. */
  begin(made: Capabilities): () => Promise<void> {
    const disposers = disposersOf(made);
    for (const { name, value } of disposers) {
      this.#counts.set(value, (this.#counts.get(value) ?? 0) + 1);
      if (this.#disposed.has(value)) this.#warnAboutReuse(name);
    }
    return () => runDisposers(disposers.filter(({ value }) => this.#endUse(value)));
  }

  #endUse(value: object): boolean {
    const left = (this.#counts.get(value) ?? 1) - 1;
    if (left > 0) {
      this.#counts.set(value, left);
      return false;
    }
    this.#counts.delete(value);
    this.#disposed.add(value);
    return true;
  }

  #warnAboutReuse(name: string): void {
    const what = name === "" ? "the object of capabilities" : `capability "${name}"`;
    this.#warnOnce(
      `capability-reuse ${name}`,
      `${what} was disposed after an earlier call and then passed to another one. If calls share it, wrap it: sharedCapability(value).`,
    );
  }
}

/** The object itself if it is disposable, else each of its values once, in reverse order. */
function disposersOf(made: Capabilities): Disposer[] {
  if (isDisposable(made)) return [disposerOf("", made)].filter((one) => one !== undefined);
  const seen = new Set<unknown>();
  const disposers: Disposer[] = [];
  for (const [name, value] of Object.entries(made)) {
    if (value instanceof SharedCapability || seen.has(value)) continue;
    seen.add(value);
    const disposer = disposerOf(name, value);
    if (disposer !== undefined) disposers.unshift(disposer);
  }
  return disposers;
}
