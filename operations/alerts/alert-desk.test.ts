import { anyStore, useBothDatabases } from '../../ledger/drivers/both-databases.test-kit.js';
import { testKey } from '../../ledger/ledger-key.test-kit.js';
import { openLedger } from '../../ledger/ledger.js';
import { useConfiguration } from '../../ledger/configurations.js';
import { Secret } from '../../config/secret.js';
import type { Log } from '../../base/log.js';
import type { StatusSources } from '../read-status.js';
import { AlertDesk } from './alert-desk.js';

const databases = useBothDatabases({ only: anyStore });

it('closes the receivers of a replaced configuration once, however many requests come at the same time', async () => {
  const ledger = await openLedger(databases.of(anyStore), testKey);
  const secret = new Secret(`whsec_${Buffer.alloc(32, 9).toString('base64')}`);
  const made = () => ({
    network: {},
    alerts: { to: [{ type: 'webhook', url: 'http://127.0.0.1:9/', secret }], when: {} },
  });
  let config = made();
  const sources = () => ({ ledger, config, configuration: 1 }) as unknown as StatusSources;
  const log = {} as Log; // nothing is logged here
  const desk = new AlertDesk({ sources, owner: 'one', isAlone: false, publicUrl: () => null, log });
  await desk.view();
  config = made();
  const views = await Promise.all([desk.view(), desk.view(), desk.view()]);
  expect(views.map(({ receivers }) => receivers.length)).toEqual([1, 1, 1]);
  await desk.close();
});

it('forgets raised alerts once the configuration has no alerts, and the messages that wait for a removed receiver', async () => {
  const ledger = await openLedger(databases.of(anyStore), testKey);
  const configuration = await useConfiguration(ledger, {}, true);
  await ledger.db.script(`
insert into alerts (code, subject, holds, since, announced, raises, facts)
  values ('sink-paused', 'hooks', true, now(), true, 1, '{}');
insert into alert_receivers (receiver) values ('removed');
insert into alert_messages (id, receiver, code, subject, kind, since, facts, created_at)
  values (gen_random_uuid(), 'removed', 'sink-paused', 'hooks', 'raised', now(), '{}', now() - interval '25 hours');
`);
  const withoutAlerts = { network: {}, workspaces: {}, syncs: {}, sinks: {} };
  const sources = () =>
    ({
      ledger,
      trouble: () => null,
      quotas: async () => new Map(),
      config: withoutAlerts,
      configuration,
    }) as unknown as StatusSources;
  const log = { error: () => undefined } as unknown as Log;
  const desk = new AlertDesk({ sources, owner: 'one', isAlone: false, publicUrl: () => null, log });
  await desk.check();
  const { when, ...view } = await desk.view();
  expect(view).toEqual({ raised: [], receivers: [] });
  expect(when.filter(({ on }) => on)).toEqual([]);
  expect(await ledger.db.query('select 1 from alert_messages')).toEqual([]);
  await desk.close();
});
