import { LruCache } from './lru-cache.js';

describe('LruCache', () => {
  it('gives up the least recently used first', () => {
    const cache = new LruCache<string, number>(2);
    cache.set('a', 1);
    cache.set('b', 2);
    cache.get('a');
    cache.set('c', 3);
    expect([cache.get('a'), cache.get('b'), cache.get('c')]).toEqual([1, undefined, 3]);
  });

  it('counts weights, also of replaced and deleted values', () => {
    const cache = new LruCache<string, string>(10);
    cache.set('a', 'x', 6);
    cache.set('a', 'y', 4);
    cache.set('b', 'z', 6);
    expect([cache.get('a'), cache.get('b')]).toEqual(['y', 'z']);
    cache.delete('a');
    cache.set('c', 'w', 4);
    expect([cache.get('b'), cache.get('c'), cache.size]).toEqual(['z', 'w', 2]);
  });

  it('does not keep what is heavier than its capacity', () => {
    const cache = new LruCache<string, string>(10);
    cache.set('a', 'x', 3);
    cache.set('b', 'y', 11);
    expect([cache.get('a'), cache.get('b')]).toEqual(['x', undefined]);
  });
});
