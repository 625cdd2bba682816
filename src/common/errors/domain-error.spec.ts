import { ValidationError } from './domain-error.js';

describe('ValidationError.ofFields', () => {
  it('names every wrong field, in the message and beside it', () => {
    const fields = [
      { field: 'a.b', message: 'is required' },
      { field: '', message: 'must be an object' },
    ];
    const error = ValidationError.ofFields(fields);
    expect(error.message).toBe('a.b: is required; must be an object');
    expect(error.details).toEqual(fields);
  });

  it('answers a small request with no huge list', () => {
    const fields = Array.from({ length: 100_000 }, (_, at) => ({
      field: `k${at}`,
      message: 'is not a known key',
    }));
    const error = ValidationError.ofFields(fields);
    expect(error.details).toEqual(fields.slice(0, 100));
    expect(error.message.length).toBeLessThan(4_000);
  });

  it('does not repeat a key of a million characters', () => {
    const error = ValidationError.ofFields([{ field: 'k'.repeat(1_000_000), message: 'is not a known key' }]);
    expect(error.details).toEqual([{ field: `${'k'.repeat(500)}…`, message: 'is not a known key' }]);
    expect(error.message.length).toBeLessThan(600);
  });
});
