import { alertsSchema } from '../config/schema/operations.js';
import { compareConfigurations } from './plan-configuration.js';

const before = {
  version: 1,
  workspaces: { acme: { baseUrl: 'https://one.example.com', apiKey: { $secret: 'aaa' } } },
  syncs: {
    events: { workspace: 'acme', pigeonholes: {}, everyMs: { live: 5000, lists: {} }, sinks: ['hooks'], drop: {} },
  },
  sinks: {
    hooks: {
      type: 'webhook',
      settings: { url: 'https://a.example.com/token', secret: [{ $secret: 'x' }] },
      mode: 'send',
    },
  },
};
type Document = typeof before;

const changed = (change: (document: Document) => void): Document => {
  const copy = structuredClone(before);
  change(copy);
  return copy;
};

describe('the comparison of two configurations', () => {
  it('is empty for equal configurations', () => {
    expect(compareConfigurations(before, structuredClone(before))).toEqual([]);
  });

  it.each<[string, (document: Document) => void, string, object[]]>([
    [
      'an interval',
      ({ syncs }) => (syncs.events.everyMs.live = 90_000),
      'sync events',
      [{ key: 'every.live', from: '5s', to: '90s' }],
    ],
    [
      'an interval of one list',
      ({ syncs }) => Object.assign(syncs.events.everyMs.lists, { votes: 60_000 }),
      'sync events',
      [{ key: 'every.lists.votes', from: 'nothing', to: '1m' }],
    ],
    [
      'pigeonholes named instead of filtered',
      ({ syncs }) => Object.assign(syncs.events, { pigeonholes: { ids: [101] } }),
      'sync events',
      [{ key: 'pigeonholes.ids', from: 'nothing', to: '[101]' }],
    ],
    [
      'a mode',
      ({ sinks }) => (sinks.hooks.mode = 'observe'),
      'sink hooks',
      [{ key: 'mode', from: '"send"', to: '"observe"' }],
    ],
    [
      'a history',
      ({ sinks }) => Object.assign(sinks.hooks, { history: { forMs: 86_400_000 } }),
      'sink hooks',
      [{ key: 'history', from: 'nothing', to: '1d' }],
    ],
    [
      'an address that may contain a token',
      ({ sinks }) => (sinks.hooks.settings.url = 'https://b.example.com/t'),
      'sink hooks',
      [{ key: 'url' }],
    ],
    [
      'a secret of a sink',
      ({ sinks }) => (sinks.hooks.settings.secret = [{ $secret: 'y' }]),
      'sink hooks',
      [{ key: 'secret' }],
    ],
    ['a key', ({ workspaces }) => (workspaces.acme.apiKey = { $secret: 'bbb' }), 'workspace acme', [{ key: 'apiKey' }]],
  ])('names the key of %s, with its values if they are not secret', (_, change, what, keys) => {
    expect(compareConfigurations(before, changed(change))).toEqual([
      { kind: 'changed', what: what.split(' ')[0], name: what.split(' ')[1], keys, note: null },
    ]);
  });

  it('names added and removed sinks', () => {
    const now = changed(({ sinks }) => {
      Object.assign(sinks, { archive: { type: 'file' } });
      Reflect.deleteProperty(sinks, 'hooks');
    });
    expect(compareConfigurations(before, now).map(({ kind, what, name }) => `${kind} ${what} ${name}`)).toEqual([
      'added sink archive',
      'removed sink hooks',
    ]);
  });

  describe('of alerts', () => {
    const when = alertsSchema.unwrap().shape.when;
    const withAlerts = (given: object, to = 'a@example.com') =>
      Object.assign(structuredClone(before), { alerts: { to: [{ type: 'smtp', to }], when: when.parse(given) } });
    const added = { kind: 'added', what: 'alerts', name: 'to', keys: [], note: null };

    it.each([
      ['only the receiver, if the file sets no condition', {}, []],
      ['the conditions that the file sets', { 'sink-paused': true, behind: '5m' }, ['behind', 'sink-paused']],
    ])('names %s', (_, given, keys) => {
      const conditions = {
        kind: 'changed',
        what: 'alerts',
        name: 'when',
        keys: keys.map((key) => ({ key })),
        note: null,
      };
      const changes = compareConfigurations(before, withAlerts(given));
      expect(changes).toEqual([added, ...(keys.length === 0 ? [] : [conditions])]);
    });

    it('names another receiver without its settings', () => {
      expect(compareConfigurations(withAlerts({}), withAlerts({}, 'b@example.com'))).toEqual([
        { ...added, kind: 'changed' },
      ]);
    });
  });
});
