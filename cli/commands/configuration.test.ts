import type { ConfigurationPlan } from '../../operations/configuration-plan.js';
import { formatPlan } from './configuration.js';

const plan = (given: Partial<ConfigurationPlan>): ConfigurationPlan => ({
  current: 3,
  changes: [],
  pigeonholes: [],
  deliveries: [],
  kept: [],
  atNextStart: [],
  warnings: [],
  ...given,
});
const caused = {
  sink: 'hooks',
  list: 'votes',
  reason: null,
  changes: 7,
  withheld: {},
  observed: false,
  estimated: false,
} as const;

describe('the text of a plan', () => {
  it('says if nothing changes', () => {
    expect(formatPlan(plan({}))).toEqual(['nothing changes: this is configuration 3']);
  });

  it('lists changed keys first, then pigeonholes, then deliveries', () => {
    expect(
      formatPlan(
        plan({
          changes: [
            {
              kind: 'changed',
              what: 'sync',
              name: 'events',
              keys: [{ key: 'every.live', from: '5s', to: '1m' }, { key: 'url' }],
              note: null,
            },
            { kind: 'removed', what: 'sink', name: 'old', keys: [], note: 'archived with its watermark' },
          ],
          pigeonholes: [{ sync: 'events', workspace: 'acme', added: [101, 102], removed: [99], unread: 1 }],
          deliveries: [
            { ...caused, cause: 'history', withheld: { 'consent-refused': 2 } },
            { ...caused, cause: 'list-added', observed: true },
            { ...caused, cause: 'released', reason: 'consent-not-asked' },
            { ...caused, cause: 'since-watermark' },
          ],
          kept: [
            { sink: 'hooks', list: 'answers', reason: 'list-not-wanted', items: 40 },
            { sink: 'crm', list: 'attendees', reason: 'consent-not-asked', items: 12 },
          ],
          atNextStart: ['server'],
          warnings: ['pigeonpost.yaml:9: sinks.old: no sync names this sink'],
        }),
      ),
    ).toEqual([
      'changed: sync events',
      '  every.live: 5s becomes 1m',
      '  url changed',
      'removed: sink old (archived with its watermark)',
      'sync events (acme): starts reading pigeonholes 101, 102; no longer reads pigeonhole 99; 1 of the new ones not read yet',
      'sink hooks will receive 7 votes, 2 withheld: consent refused (existing items: the sink is new)',
      'sink hooks will count, without sending, 7 votes (existing items: the list is new for this sink)',
      'sink hooks will receive 7 votes (withheld until now: consent not asked)',
      'sink hooks will receive 7 votes (found while the sink was not in the configuration)',
      'sink hooks keeps 40 answers that it received, and no longer receives their changes (a list that the sink no longer receives)',
      'sink crm keeps 12 attendees that it received, and no longer receives their changes (consent not asked)',
      'at the next start: server',
      'note: pigeonpost.yaml:9: sinks.old: no sync names this sink',
    ]);
  });

  it('counts pigeonholes instead of listing many', () => {
    const added = Array.from({ length: 11 }, (_, index) => index + 1);
    expect(
      formatPlan(plan({ pigeonholes: [{ sync: 'events', workspace: 'acme', added, removed: [], unread: 0 }] })),
    ).toEqual(['sync events (acme): starts reading 11 pigeonholes']);
  });
});
