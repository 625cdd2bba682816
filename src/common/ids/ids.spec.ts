import { newRunId } from './run-id.js';
import { newVisitUuid } from './visit-uuid.js';

describe('ids', () => {
  it('of runs are lower-case and URL-safe, begin with the time and end with 80 random bits', () => {
    const before = Date.now();
    const ids = Array.from({ length: 1_000 }, newRunId);
    for (const id of ids) {
      expect(id).toMatch(/^[0-9a-f]{32}$/);
      const time = Number.parseInt(id.slice(0, 12), 16);
      expect(time).toBeGreaterThanOrEqual(before);
      expect(time).toBeLessThanOrEqual(Date.now());
    }
    expect(new Set(ids.map((id) => id.slice(12))).size).toBe(ids.length);
  });

  it('of visits are UUIDs of version 7', () => {
    const before = Date.now();
    const ids = Array.from({ length: 1_000 }, newVisitUuid);
    for (const id of ids) {
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect(Number.parseInt(id.slice(0, 13).replace('-', ''), 16)).toBeGreaterThanOrEqual(before);
    }
    expect(new Set(ids.map((id) => id.slice(15))).size).toBe(ids.length);
  });
});
