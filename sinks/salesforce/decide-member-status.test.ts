import { decideMemberStatus } from './decide-member-status.js';

const status = { registered: 'Sent', attended: 'Responded' };
const responds = (label: string): boolean => label === 'Responded' || label === 'Donated';

describe('the status of a member', () => {
  it.each([
    ['nobody yet', null, 'registered', 'Sent'],
    ['nobody yet', null, 'attended', 'Responded'],
    ['Sent', 'Sent', 'registered', null],
    ['Sent', 'Sent', 'attended', 'Responded'],
    ['Responded', 'Responded', 'registered', null],
    ['Responded', 'Responded', 'attended', null],
    ['Invited, by somebody', 'Invited', 'registered', 'Sent'],
    ['Donated, by somebody', 'Donated', 'registered', null],
    ['Donated, by somebody', 'Donated', 'attended', 'Responded'],
  ] as const)('who is %s (%s) and has %s becomes %s', (_, now, stage, expected) => {
    const present = now === null ? null : { status: now, hasResponded: responds(now) };
    expect(decideMemberStatus(present, stage, status, responds)).toBe(expected);
  });
});
