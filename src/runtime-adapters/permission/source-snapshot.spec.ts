import { snapshotOf } from './source-snapshot.js';

describe('snapshotOf', () => {
  it('lists every part with kind, reference, digest and size, and no text', () => {
    const snapshot = snapshotOf({
      instructions: '',
      instruction: '写',
      contextSummary: [{ kind: 'contextSummary', ref: 'chapter-1', text: 'abc' }],
      knowledge: [{ kind: 'knowledge', ref: 'kb:7', text: '' }],
      formatRequirements: null,
    });
    expect(snapshot.parts).toEqual([
      {
        kind: 'instruction',
        ref: null,
        digest: 'eecaf7bb139f9c37a82faa01abef5d4661f913976f7a2cad6373b47198481239',
        bytes: 3,
      },
      {
        kind: 'contextSummary',
        ref: 'chapter-1',
        digest: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
        bytes: 3,
      },
      {
        kind: 'knowledge',
        ref: 'kb:7',
        digest: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
        bytes: 0,
      },
    ]);
    expect(JSON.stringify(snapshot)).not.toContain('写');
  });
});
