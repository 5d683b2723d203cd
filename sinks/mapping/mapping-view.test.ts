import { subjectOf } from '../plan-of.test-kit.js';
import { sampleChange } from '../sample-change.test-kit.js';
import { mappingView } from './expression.js';

describe('what mappings see', () => {
  it('has the person of an item beside it, and of a person’s own record that record', () => {
    const attendee = { id: 7, Name: 'Ada' };
    expect(mappingView(subjectOf(sampleChange(), { attendee })).attendee).toBe(attendee);
    const own = sampleChange({ list: 'attendees', type: 'attendees.updated', data: attendee });
    expect(mappingView(subjectOf(own)).attendee).toBe(attendee);
  });

  it('has no person where nobody may be shown, or nothing is left of the record', () => {
    expect(mappingView(subjectOf(sampleChange())).attendee).toBeNull();
    expect(mappingView(subjectOf(sampleChange({ list: 'attendees', data: null }))).attendee).toBeNull();
  });
});
