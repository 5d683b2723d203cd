import { heldRecord } from './held-record.js';

const at = '2026-11-21T08:00:00.000Z';
const told = (state: string, identity: boolean | null = true) => ({ sink: 'crm', state, identity, at });
const revision = (number: number, kind: string, ...sinks: readonly ReturnType<typeof told>[]) => ({
  revision: number,
  kind,
  sinks,
});

describe('the record of a person at a sink', () => {
  it('is the last revision that was delivered, also if later ones were withheld', () => {
    const revisions = [revision(1, 'created', told('delivered')), revision(2, 'updated', told('withheld', null))];
    expect(heldRecord(revisions, 'crm')).toEqual({ revision: 1, at });
    expect(heldRecord(revisions, 'other')).toBeNull();
  });

  it('is gone after the removal was delivered: because it was deleted, or because consent was withdrawn', () => {
    const first = revision(1, 'created', told('delivered'));
    expect(heldRecord([first, revision(2, 'deleted', told('delivered'))], 'crm')).toBeNull();
    expect(heldRecord([first, revision(2, 'updated', told('delivered', false))], 'crm')).toBeNull();
    expect(heldRecord([first, revision(2, 'deleted', told('waiting'))], 'crm')).toEqual({ revision: 1, at });
  });
});
