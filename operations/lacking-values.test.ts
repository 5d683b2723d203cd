import type { Config } from '../config/config.js';
import type { SeenFields } from '../ledger/seen-fields.js';
import { Expression } from '../sinks/mapping/expression.js';
import { lackOf } from './lacking-values.js';

const email = { value: new Expression('$email(item.email)'), write: 'always' };
const configOf = (settings: unknown): Config =>
  ({
    syncs: { all: { workspace: 'acme', pigeonholes: {}, sinks: ['crm'] } },
    sinks: { crm: { type: 'any', settings } },
  }) as unknown as Config;
const place = (fields: readonly string[]): SeenFields => ({
  workspace: 'acme',
  pigeonholeId: 101,
  items: 3,
  fields: fields.map((field) => ({ field, member: null, types: { string: 3 }, filled: 3, values: null })),
});
const seen = new Map([['attendees', [place(['Email', 'Name'])]]]);
const lack = (settings: unknown, reason: string): ReturnType<typeof lackOf> =>
  lackOf(configOf(settings), { sink: 'crm', list: 'attendees', reason }, seen);

describe('where a mapping lacks a value', () => {
  it('is what a CRM matches by, with the field that it reads and those that there are', () => {
    const name = { value: new Expression('item.Nick'), write: 'always' };
    const records = [{ from: 'attendees', match: ['email'], properties: { name, email } }];
    expect(lack({ records }, 'no-match')).toEqual({
      values: ['email'],
      at: 'crm.records[0].match',
      fields: 'reads item.email; fields seen: "Email"',
    });
  });

  it.each([
    ['no-email', { records: [{ from: 'attendees', email: new Expression('item.Email') }] }, 'crm.records[0].email'],
    ['no-user', { records: [{ from: 'attendees', user: new Expression('item.Email') }] }, 'crm.records[0].user'],
    ['no-key', { records: [{ from: 'attendees', externalId: email }] }, 'crm.records[0].externalId'],
    ['no-actor', { actor: { name: new Expression('attendee.Email') } }, 'crm.actor.name'],
  ])('is derived from the reason %s', (reason, settings, at) => {
    expect(lack(settings, reason)).toMatchObject({ at });
  });

  it('says nothing of fields that are there, and is not known for other lists and reasons', () => {
    const there = { records: [{ from: 'attendees', email: new Expression('item.Email') }] };
    expect(lack(there, 'no-email')?.fields).toBeNull();
    expect(lack(there, 'unchanged')).toBeNull();
    expect(lack({ records: [{ from: 'votes', email: new Expression('item.Email') }] }, 'no-email')).toBeNull();
  });
});
