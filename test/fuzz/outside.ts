/** The world outside Toolwright: counts the real effects where no crash can reach them. */
export class Outside {
  readonly #effects = new Map<string, number>();
  readonly #keys = new Set<string>();
  readonly #onEffect: (name: string) => void;

  constructor(onEffect: (name: string) => void) {
    this.#onEffect = onEffect;
  }

  /** A service without idempotency: each request has an effect. */
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

/** A simulated process. When it is killed, its tools do nothing more. */
export interface FuzzProcess {
  isAlive: boolean;
}
