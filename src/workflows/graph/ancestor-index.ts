interface Arc {
  readonly source: string;
  readonly target: string;
}

/**
 * Ancestors of every node as bit sets: nodes² / 8 bytes. Acyclic parts are computed once in topological order;
 * nodes in or behind a cycle by a search of their own when they are asked for.
 */
export class AncestorIndex {
  readonly #position: ReadonlyMap<string, number>;
  readonly #parents: readonly number[][];
  readonly #bits: (Uint32Array | undefined)[];
  readonly #words: number;

  constructor(
    private readonly ids: readonly string[],
    arcs: readonly Arc[],
  ) {
    this.#position = new Map(ids.map((id, at) => [id, at]));
    this.#parents = ids.map(() => []);
    this.#words = Math.ceil(ids.length / 32);
    this.#bits = new Array<Uint32Array | undefined>(ids.length);
    const children = ids.map((): number[] => []);
    for (const { source, target } of arcs) {
      const [from, to] = [this.#position.get(source), this.#position.get(target)];
      if (from === undefined || to === undefined) continue;
      this.#parents[to]?.push(from);
      children[from]?.push(to);
    }
    this.#fillInOrder(children);
  }

  of(id: string): ReadonlySet<string> {
    const at = this.#position.get(id);
    return at === undefined ? new Set() : new BitSet(this.ids, this.#position, this.#bitsOf(at));
  }

  #fillInOrder(children: readonly number[][]): void {
    const open = this.#parents.map((parents) => parents.length);
    const ready = open.flatMap((count, at) => (count === 0 ? [at] : []));
    for (let next = ready.pop(); next !== undefined; next = ready.pop()) {
      const bits = new Uint32Array(this.#words);
      for (const parent of this.#parents[next] ?? []) {
        const inherited = this.#bits[parent];
        if (inherited) for (let word = 0; word < bits.length; word += 1) bits[word]! |= inherited[word]!;
        bits[parent >>> 5]! |= 1 << (parent & 31);
      }
      this.#bits[next] = bits;
      for (const child of children[next] ?? []) {
        const left = (open[child] ?? 0) - 1;
        open[child] = left;
        if (left === 0) ready.push(child);
      }
    }
  }

  #bitsOf(at: number): Uint32Array {
    const known = this.#bits[at];
    if (known) return known;
    const bits = new Uint32Array(this.#words);
    const pending = [...(this.#parents[at] ?? [])];
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      const mask = 1 << (next & 31);
      if ((bits[next >>> 5]! & mask) !== 0) continue;
      bits[next >>> 5]! |= mask;
      pending.push(...(this.#parents[next] ?? []));
    }
    this.#bits[at] = bits;
    return bits;
  }
}

/** A set of ids that are bits; made for nothing, read without copying. */
class BitSet implements ReadonlySet<string> {
  constructor(
    private readonly ids: readonly string[],
    private readonly position: ReadonlyMap<string, number>,
    private readonly bits: Uint32Array,
  ) {}

  get size(): number {
    let size = 0;
    for (const word of this.bits) {
      for (let rest = word; rest !== 0; rest &= rest - 1) size += 1;
    }
    return size;
  }

  has(id: string): boolean {
    const at = this.position.get(id);
    return at !== undefined && (this.bits[at >>> 5]! & (1 << (at & 31))) !== 0;
  }

  *keys(): SetIterator<string> {
    for (const [at, id] of this.ids.entries()) {
      if ((this.bits[at >>> 5]! & (1 << (at & 31))) !== 0) yield id;
    }
  }

  values(): SetIterator<string> {
    return this.keys();
  }

  [Symbol.iterator](): SetIterator<string> {
    return this.keys();
  }

  *entries(): SetIterator<[string, string]> {
    for (const id of this.keys()) yield [id, id];
  }

  forEach(callback: (value: string, key: string, set: ReadonlySet<string>) => void): void {
    for (const id of this.keys()) callback(id, id, this);
  }
}
