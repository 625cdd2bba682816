/** Lets a limited number of operations run at the same time; the others wait in order. */
export class ReadSlots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(slots: number) {
    this.#free = slots;
  }

  async run<T>(operation: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await operation();
    } finally {
      const next = this.#waiting.shift();
      // The slot is handed over, so that nobody who comes later takes it.
      if (next) next();
      else this.#free += 1;
    }
  }
}
