/** The world outside of Toolwright: what really happened, counted where no crash reaches it. */
export class Outside {
  readonly #effects = new Map<string, number>();
  readonly #keys = new Set<string>();
  readonly #onEffect: (name: string) => void;

  constructor(onEffect: (name: string) => void) {
    this.#onEffect = onEffect;
  }

  /** A service that does what it is asked to, as often as it is asked. */
  act(name: string): void {
    this.#onEffect(name);
    this.#effects.set(name, this.count(name) + 1);
  }

  /** A service that honours idempotency keys. */
  actOnce(name: string, key: string): void {
    if (this.#keys.has(key)) return;
    this.#keys.add(key);
    this.act(name);
  }

  count(name: string): number {
    return this.#effects.get(name) ?? 0;
  }

  get names(): string[] {
    return [...this.#effects.keys()];
  }
}

/** What a runtime of a round stands for. When it is killed, its tools do nothing more. */
export interface FuzzProcess {
  isAlive: boolean;
}
