import { strongComponents } from './strong-components.js';

interface Arc {
  readonly source: string;
  readonly target: string;
}

/**
 * Ancestors of every node as bit sets: at most nodes² / 8 bytes and nodes × edges / 32 steps, cyclic or not, for
 * the nodes of a cycle share theirs.
 */
export class AncestorIndex {
  /** Nodes of each cyclic part, in the order of `ids`. */
  readonly cyclicParts: readonly string[][];
  readonly #position: ReadonlyMap<string, number>;
  readonly #bits: readonly Uint32Array[];

  constructor(
    private readonly ids: readonly string[],
    arcs: readonly Arc[],
  ) {
    this.#position = new Map(ids.map((id, at) => [id, at]));
    const parents = ids.map((): number[] => []);
    for (const { source, target } of arcs) {
      const [from, to] = [this.#position.get(source), this.#position.get(target)];
      if (from !== undefined && to !== undefined) parents[to]?.push(from);
    }
    // Along the parents: a component comes after all that lead to it.
    const components = strongComponents(parents);
    const isCyclic = (component: readonly number[]) =>
      component.length > 1 || component.some((at) => parents[at]?.includes(at));
    const cyclic = components.filter(isCyclic).map((component) => component.sort((a, b) => a - b));
    this.cyclicParts = cyclic
      .sort(([a = 0], [b = 0]) => a - b)
      .map((component) => component.map((at) => ids[at] ?? ''));
    this.#bits = inherit(components, parents);
  }

  of(id: string): ReadonlySet<string> {
    const bits = this.#bits[this.#position.get(id) ?? -1];
    return bits ? new BitSet(this.ids, this.#position, bits) : new Set();
  }
}

function inherit(components: readonly number[][], parents: readonly number[][]): Uint32Array[] {
  const words = Math.ceil(parents.length / 32);
  const all = new Array<Uint32Array>(parents.length);
  for (const component of components) {
    const bits = new Uint32Array(words);
    for (const parent of component.flatMap((at) => parents[at] ?? [])) {
      addBit(bits, parent);
      // Not there yet: the parent is of this very component.
      all[parent]?.forEach((word, at) => {
        bits[at] = (bits[at] ?? 0) | word;
      });
    }
    for (const at of component) all[at] = bits;
  }
  return all;
}

function addBit(bits: Uint32Array, at: number): void {
  bits[at >>> 5] = (bits[at >>> 5] ?? 0) | (1 << (at & 31));
}

function hasBit(bits: Uint32Array, at: number): boolean {
  return ((bits[at >>> 5] ?? 0) & (1 << (at & 31))) !== 0;
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
    return at !== undefined && hasBit(this.bits, at);
  }

  *keys(): SetIterator<string> {
    for (const [at, id] of this.ids.entries()) {
      if (hasBit(this.bits, at)) yield id;
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
