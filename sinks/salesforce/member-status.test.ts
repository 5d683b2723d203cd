import { decideMemberStatus } from './member-status.js';

const status = { registered: 'Sent', attended: 'Responded' };
const responds = (label: string): boolean => label === 'Responded' || label === 'Donated';

describe('the status of a campaign member', () => {
  it.each([
    ['no member', null, 'registered', 'Sent'],
    ['no member', null, 'attended', 'Responded'],
    ['Sent', 'Sent', 'registered', null],
    ['Sent', 'Sent', 'attended', 'Responded'],
    ['Responded', 'Responded', 'registered', null],
    ['Responded', 'Responded', 'attended', null],
    ['Invited, set by a user', 'Invited', 'registered', 'Sent'],
    ['Donated, set by a user', 'Donated', 'registered', null],
    ['Donated, set by a user', 'Donated', 'attended', 'Responded'],
  ] as const)('from %s (%s), for a person who has %s, becomes %s', (_, now, stage, expected) => {
    const present = now === null ? null : { status: now, hasResponded: responds(now) };
    expect(decideMemberStatus(present, stage, status, responds)).toBe(expected);
  });
});
