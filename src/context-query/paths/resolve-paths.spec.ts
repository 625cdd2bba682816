import { findLineage } from './find-lineage.js';
import { resolvePaths, type PathLimits, type PredecessorPaths } from './resolve-paths.js';
import type { VisitNode } from './visit-node.js';

/** `[visitUuid, nodeId, ...predecessors]`, in the order of beginning. */
type Row = readonly [string, string, ...string[]];

function visitsOf(rows: readonly Row[]): VisitNode[] {
  return rows.map(([visitUuid, nodeId, ...predecessors], at) => ({
    visitUuid,
    nodeId,
    predecessors,
    sortOrder: at + 1,
    iterSeq: rows.slice(0, at + 1).filter(([, id]) => id === nodeId).length,
    finished: true,
  }));
}

function pathsTo(caller: string, rows: readonly Row[], limits?: PathLimits): PredecessorPaths {
  const all = visitsOf(rows);
  const { visits } = findLineage(caller, (uuid) => all.find(({ visitUuid }) => visitUuid === uuid));
  const firstVisits = new Map<string, number>();
  for (const { nodeId, sortOrder } of all) {
    if (!firstVisits.has(nodeId)) firstVisits.set(nodeId, sortOrder);
  }
  return resolvePaths({ visits, firstVisits }, caller, limits);
}

describe('the spec’s examples (§2.1)', () => {
  test('a chain', () => {
    const rows: Row[] = [
      ['v1', 'A'],
      ['v2', 'B', 'v1'],
      ['v3', 'C', 'v2'],
      ['v4', 'G', 'v3'],
    ];
    expect(pathsTo('v4', rows)).toEqual({
      visitUuids: ['v1', 'v2', 'v3', 'v4'],
      nodeIds: ['A', 'B', 'C', 'G'],
      paths: [{ sequence: ['A', 'B', 'C', 'G'], visitUuids: ['v1', 'v2', 'v3', 'v4'], hasBacktrack: false }],
      backtrackEdgeKeys: [],
    });
  });

  test('G flies back to C’s second visit', () => {
    const rows: Row[] = [
      ['v1', 'A'],
      ['v2', 'B', 'v1'],
      ['c1', 'C', 'v2'],
      ['v3', 'G', 'v2'],
      ['v4', 'C', 'v3'],
    ];
    expect(pathsTo('v4', rows)).toEqual({
      visitUuids: ['v1', 'v2', 'v3', 'v4'],
      nodeIds: ['A', 'B', 'G', 'C'],
      paths: [{ sequence: ['A', 'B', 'G', 'C'], visitUuids: ['v1', 'v2', 'v3', 'v4'], hasBacktrack: true }],
      backtrackEdgeKeys: ['G->C'],
    });
  });
});

test('a diamond gives both paths, the earlier branch first', () => {
  const rows: Row[] = [
    ['a', 'A'],
    ['b', 'B', 'a'],
    ['c', 'C', 'a'],
    ['d', 'D', 'c', 'b'],
  ];
  const { paths, nodeIds } = pathsTo('d', rows);
  expect(paths.map(({ sequence }) => sequence)).toEqual([
    ['A', 'B', 'D'],
    ['A', 'C', 'D'],
  ]);
  expect(nodeIds).toEqual(['A', 'B', 'C', 'D']);
});

test('only the caller’s ancestors stand in the answer, from every visit without a predecessor', () => {
  const rows: Row[] = [
    ['a', 'A'],
    ['x', 'X'],
    ['other', 'B', 'a'],
    ['d', 'D', 'a', 'x'],
    ['later', 'E', 'd'],
  ];
  const answer = pathsTo('d', rows);
  expect(answer.visitUuids).toEqual(['a', 'x', 'd']);
  expect(answer.paths.map(({ sequence }) => sequence)).toEqual([
    ['A', 'D'],
    ['X', 'D'],
  ]);
});

test('the first visit has one path: itself', () => {
  expect(pathsTo('a', [['a', 'A']]).paths).toEqual([
    { sequence: ['A'], visitUuids: ['a'], hasBacktrack: false },
  ]);
});

test('a node visited twice stands twice, and a visit of the node itself is a backtrack', () => {
  const rows: Row[] = [
    ['a', 'A'],
    ['b1', 'B', 'a'],
    ['b2', 'B', 'b1'],
  ];
  const answer = pathsTo('b2', rows);
  expect(answer.nodeIds).toEqual(['A', 'B', 'B']);
  expect(answer.backtrackEdgeKeys).toEqual(['B->B']);
});

test('in an item of an iteration nothing flies back, whatever branches other items took before', () => {
  const rows: Row[] = [
    ['in', 'in'],
    ['x1', 'loop.X', 'in'],
    ['z1', 'loop.Z', 'x1'],
    ['d1', 'loop.deep.D', 'z1'],
    ['y2', 'loop.Y', 'in'],
    ['z2', 'loop.Z', 'y2'],
    ['d2', 'loop.deep.D', 'y2', 'z2'],
  ];
  expect(pathsTo('d2', rows)).toMatchObject({
    nodeIds: ['in', 'loop.Y', 'loop.Z', 'loop.deep.D'],
    paths: [
      { visitUuids: ['in', 'y2', 'd2'], hasBacktrack: false },
      { visitUuids: ['in', 'y2', 'z2', 'd2'], hasBacktrack: false },
    ],
    backtrackEdgeKeys: [],
  });
});

test('a flight back to an iteration shows on the way into its items', () => {
  const rows: Row[] = [
    ['in', 'in'],
    ['i1', 'loop.I', 'in'],
    ['l1', 'loop', 'in'],
    ['g', 'G', 'l1'],
    ['i2', 'loop.I', 'g'],
  ];
  expect(pathsTo('i2', rows)).toMatchObject({
    paths: [{ sequence: ['in', 'loop', 'G', 'loop.I'], hasBacktrack: true }],
    backtrackEdgeKeys: ['G->loop.I'],
  });
});

test('a backtrack edge on several paths has one key, and paths without it say so', () => {
  const rows: Row[] = [
    ['a', 'A'],
    ['b', 'B', 'a'],
    ['g', 'G', 'b'],
    ['b2', 'B', 'g'],
    ['c', 'C', 'b2'],
    ['d', 'D', 'b2'],
    ['e', 'E', 'c', 'd', 'a'],
  ];
  const answer = pathsTo('e', rows);
  expect(answer.backtrackEdgeKeys).toEqual(['G->B']);
  expect(answer.paths.map(({ hasBacktrack }) => hasBacktrack)).toEqual([false, true, true]);
});

test('a predecessor named twice counts once; one that is unknown or began later leads nowhere', () => {
  const rows: Row[] = [
    ['a', 'A', 'b'],
    ['b', 'B', 'a', 'a', 'gone'],
  ];
  const answer = pathsTo('b', rows);
  expect(answer.paths.map(({ sequence }) => sequence)).toEqual([['A', 'B']]);
});

describe('limits', () => {
  const layers = (count: number): Row[] => {
    const rows: Row[] = [['s', 'S']];
    for (let at = 1; at <= count; at += 1) {
      const before = at === 1 ? ['s'] : [`l${at - 1}`, `r${at - 1}`];
      rows.push([`l${at}`, `L${at}`, ...before], [`r${at}`, `R${at}`, ...before]);
    }
    rows.push(['e', 'E', `l${count}`, `r${count}`]);
    return rows;
  };

  test('of 2^20 paths a hundred are enumerated, all different', () => {
    const answer = pathsTo('e', layers(20));
    expect(answer.paths).toHaveLength(100);
    expect(new Set(answer.paths.map(({ visitUuids }) => visitUuids.join())).size).toBe(100);
    expect(answer.truncated).toBe(true);
    expect(answer.visitUuids).toHaveLength(42);
  });

  test('exactly as many paths as allowed are not called truncated', () => {
    const limits = { maxPaths: 8, maxDepth: 200 };
    expect(pathsTo('e', layers(3), limits)).not.toHaveProperty('truncated');
    expect(pathsTo('e', layers(3), limits).paths).toHaveLength(8);
    expect(pathsTo('e', layers(4), limits)).toMatchObject({ truncated: true });
  });

  test('a long chain keeps the 200 visits next to the caller', () => {
    const rows = Array.from({ length: 250 }, (_, at): Row =>
      at === 0 ? ['v0', 'N0'] : [`v${at}`, `N${at}`, `v${at - 1}`],
    );
    const [path] = pathsTo('v249', rows).paths;
    expect(path?.sequence).toHaveLength(200);
    expect(path?.sequence.at(0)).toBe('N50');
    expect(path?.sequence.at(-1)).toBe('N249');
    expect(path?.truncated).toBe(true);
    expect(pathsTo('v199', rows).paths[0]).not.toHaveProperty('truncated');
  });

  test('paths that differ only where they are cut are one', () => {
    const rows = layers(3);
    const limits = { maxPaths: 100, maxDepth: 2 };
    expect(pathsTo('e', rows, limits).paths.map(({ sequence }) => sequence)).toEqual([
      ['L3', 'E'],
      ['R3', 'E'],
    ]);
  });
});
