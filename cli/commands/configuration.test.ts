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

describe('a plan for a person', () => {
  it('says so when nothing changes', () => {
    expect(formatPlan(plan({}))).toEqual(['nothing changes: this is configuration 3']);
  });

  it('has what changes first, then what is read, then what is sent', () => {
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
      '  url is another',
      'removed: sink old (archived with its watermark)',
      'sync events (acme): begins to read pigeonholes 101, 102; reads pigeonhole 99 no more; what 1 of them hold is not known yet',
      'sink hooks is sent 7 votes, 2 withheld: consent refused (what is there already: the sink is new there)',
      'sink hooks counts, and does not send, 7 votes (what is there already: the list is new to it)',
      'sink hooks is sent 7 votes (withheld until now: consent not asked)',
      'sink hooks is sent 7 votes (what it missed while it was left out)',
      'sink hooks keeps 40 answers that it was sent, and no longer receives their changes (a list that it is sent no more)',
      'sink crm keeps 12 attendees that it was sent, and no longer receives their changes (consent not asked)',
      'at the next start: server',
      'note: pigeonpost.yaml:9: sinks.old: no sync names this sink',
    ]);
  });

  it('only counts pigeonholes where there are many', () => {
    const added = Array.from({ length: 11 }, (_, index) => index + 1);
    expect(
      formatPlan(plan({ pigeonholes: [{ sync: 'events', workspace: 'acme', added, removed: [], unread: 0 }] })),
    ).toEqual(['sync events (acme): begins to read 11 pigeonholes']);
  });
});
