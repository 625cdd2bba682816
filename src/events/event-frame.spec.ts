import { frameEvent, joinFrames } from './event-frame.js';

const frame = (seq: number, size = 2) =>
  frameEvent({ seq, type: seq === 9 ? 'workflow_error' : 'node_stream', payload: 'x'.repeat(size) });

describe('joinFrames', () => {
  it('joins what follows each other, in order', () => {
    const [joined, ...others] = joinFrames([frame(7), frame(8), frame(9)], 1000);
    expect(others).toEqual([]);
    expect(joined).toMatchObject({ first: 7, seq: 9, last: true });
    expect(joined?.bytes.toString()).toBe([7, 8, 9].map((seq) => frame(seq).bytes.toString()).join(''));
  });

  it('leaves a single frame as it is, and makes none of none', () => {
    const single = frame(1);
    expect(joinFrames([single], 1)[0]?.bytes).toBe(single.bytes);
    expect(joinFrames([], 1)).toEqual([]);
  });

  it('joins across no gap and not beyond the limit', () => {
    const ranges = (frames: ReturnType<typeof joinFrames>) => frames.map(({ first, seq }) => [first, seq]);
    expect(ranges(joinFrames([frame(1), frame(2), frame(5), frame(6)], 1000))).toEqual([
      [1, 2],
      [5, 6],
    ]);
    const limit = frame(1, 50).bytes.length * 2;
    expect(
      ranges(
        joinFrames(
          [1, 2, 3, 4, 5].map((seq) => frame(seq, 50)),
          limit,
        ),
      ),
    ).toEqual([
      [1, 2],
      [3, 4],
      [5, 5],
    ]);
  });
});
