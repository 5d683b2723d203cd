import { changeJson } from './change.js';
import { sampleChange } from './sample-change.test-kit.js';

describe('the change envelope as JSON', () => {
  it('is the same in any order in which the fields were built', () => {
    const change = sampleChange();
    const reversed = Object.fromEntries(Object.entries(change).reverse()) as unknown as typeof change;
    expect(changeJson(reversed)).toBe(changeJson(change));
    expect(Object.keys(JSON.parse(changeJson(reversed)) as object)).toEqual([
      'id',
      'type',
      'timestamp',
      'workspace',
      'pigeonholeId',
      'sessionId',
      'list',
      'key',
      'revision',
      'sequence',
      'data',
    ]);
  });

  it('contains the replay only if there is one', () => {
    expect(JSON.parse(changeJson(sampleChange({ replay: 'r1' })))).toHaveProperty('replay', 'r1');
    expect(JSON.parse(changeJson(sampleChange()))).not.toHaveProperty('replay');
  });

  it.each([undefined, 'r1'])(
    'embeds data that is already JSON exactly as JSON.stringify would (replay %s)',
    (replay) => {
      const change = sampleChange({ data: { b: 'é', a: [1] }, ...(replay !== undefined && { replay }) });
      expect(changeJson(change, JSON.stringify(change.data))).toBe(JSON.stringify(change));
      expect(changeJson(change)).toBe(JSON.stringify(change));
    },
  );

  it('is one line and survives encoding as UTF-8', () => {
    const text = 'a\nb\r\u2028\u0000 \ud800 é 🎈';
    const json = changeJson(sampleChange({ data: { text } }));
    expect(json).not.toMatch(/[\n\r]/);
    expect(JSON.parse(Buffer.from(json).toString())).toHaveProperty('data.text', text);
  });

  it('has null as data of a deletion and as a missing session', () => {
    const json = changeJson(sampleChange({ type: 'questions.deleted', data: null, sessionId: null }));
    expect(JSON.parse(json)).toMatchObject({ data: null, sessionId: null });
  });
});
