import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../config/config.js';
import type { Database } from '../../ledger/drivers/database.js';
import { type Ledger, openLedger } from '../../ledger/ledger.js';
import { useConfiguration } from '../../ledger/configurations.js';
import { keyFile } from '../../ledger/ledger-key.js';
import { adoptSyncs, documentOf } from '../../operations/editions.js';
import { loadProcessConfig } from '../../operations/load-process-config.js';
import { createSinks, registerOpenSinks, sharedThroughLedger } from '../../delivering/open-sinks.js';

/** Size of a synthetic ledger. */
export interface LedgerSize {
  readonly pigeonholes: number;
  readonly sinks: number;
  /** Number of deliveries over all sinks. */
  readonly deliveries: number;
}

export interface FilledLedger {
  readonly ledger: Ledger;
  readonly config: Config;
  readonly configuration: number;
}

/** Opens a ledger in an empty or filled store, with a configuration of one workspace, one sync and `sinks` sinks. */
export async function openFilled(db: Database, folder: string, { sinks }: LedgerSize): Promise<FilledLedger> {
  const names = Array.from({ length: sinks }, (_, index) => `sink${index + 1}`);
  const file = join(folder, 'pigeonpost.yaml');
  writeFileSync(
    file,
    [
      'workspaces: { acme: { baseUrl: "http://127.0.0.1:9", apiKey: "${BENCH_KEY}" } }',
      `syncs: { events: { workspace: acme, sinks: [${names.join(', ')}] } }`,
      'alerts: { to: [{ type: webhook, url: "http://127.0.0.1:9/alerts", secret: "${BENCH_SECRET}" }] }',
      'sinks:',
      ...names.map((name) => `  ${name}: { type: file, folder: ./${name} }`),
      '',
    ].join('\n'),
  );
  const config = await loadProcessConfig(file, {
    BENCH_KEY: 'key',
    BENCH_SECRET: `whsec_${Buffer.alloc(24, 7).toString('base64')}`,
  });
  const ledger = await openLedger(db, keyFile(join(folder, 'ledger.key'), { isBesideSources: true }));
  const configuration = await useConfiguration(ledger, documentOf(config, ledger), true);
  await adoptSyncs(config, ledger);
  await registerOpenSinks(config, ledger, createSinks(config, sharedThroughLedger(ledger)));
  return { ledger, config, configuration };
}

/**
 * Fills the ledger by statements instead of by reading and sending. Of each pigeonhole's changes, a sink has withheld
 * 5 %, superseded 2 % and refused 0.1 %. The last sink is down: in each pigeonhole, its last 400 changes have no
 * delivery yet, and 100 deliveries before them are open.
 */
export async function fillLedger(ledger: Ledger, { pigeonholes, sinks, deliveries }: LedgerSize): Promise<void> {
  const changes = Math.ceil(deliveries / pigeonholes / sinks);
  await ledger.db.withoutLimits(async (session) => {
    await session.query(
      `insert into workspaces (name, discovered_at) values ('acme', now()) on conflict (name) do update set discovered_at = now()`,
    );
    await session.query(`insert into quotas (fingerprint, used) values ($1, 100)`, [ledger.hash.fingerprint('key')]);
    await session.query(
      `insert into pigeonholes (workspace, pigeonhole_id, status, next_sequence)
       select 'acme', n, case when n = 0 then null when n % 10 = 0 then 'live' when n % 3 = 0 then 'ended' else 'upcoming' end,
         case when n = 0 then $1::int8 + 1 else $2::int8 + 1 end
       from generate_series(0, $1::int8) n order by n`,
      [pigeonholes, changes],
    );
    await session.query(
      `insert into selections (sync, pigeonhole_number) select 'events', pigeonhole_number from pigeonholes
         where pigeonhole_id > 0`,
    );
    await session.query(
      `insert into streams (pigeonhole_number, list, session_id, item_order, due_at, sweep_due_at, polled_at, swept_at,
         item_count, page_count, per_page, every_ms, every_reason, wanted_ms)
       select p.pigeonhole_number, l.list, s.id, 'ascending', now() + random() * interval '5 minutes',
         now() + interval '1 hour', now(), now(), 200, 1, 300, e.ms, e.reason, e.ms
       from pigeonholes p
         cross join lateral (values ('live', 5000, 'live'), ('ended', 3600000, 'ended'), ('upcoming', 300000, 'upcoming'))
           as e (status, ms, reason)
         cross join lateral (values ('sessions', 1), ('attendees', 1), ('questions', 1), ('poll-mcq-votes', 1),
           ('poll-quiz-votes', 1), ('qna-questions', 1), ('votes', 4), ('answers', 4), ('answer_ratings', 4)) as l (list, n)
         cross join lateral (select case when l.n = 1 then 0 else p.pigeonhole_id * 10 + n end as id
           from generate_series(1, l.n) n) s
       where p.pigeonhole_id > 0 and e.status = p.status`,
    );
    await session.query(
      `insert into items (pigeonhole_number, list, key, stream_id, revision, content_hash, rules, seen_at,
         last_sequence, payload)
       select w.pigeonhole_number, 'pigeonholes', p.pigeonhole_id::text, 1, 1, '\\x00', '', now(), p.pigeonhole_id,
         json_build_object('id', p.pigeonhole_id, 'name', 'Event ' || p.pigeonhole_id, 'status', p.status,
           'description', repeat('A day of talks, questions and answers. ', 15), 'startDate', '2026-11-27',
           'endDate', '2026-11-29', 'timezone', 'Europe/Berlin')
       from pigeonholes p join pigeonholes w on w.pigeonhole_id = 0 where p.pigeonhole_id > 0`,
    );
    await session.query(
      `insert into items (pigeonhole_number, list, key, stream_id, revision, content_hash, rules, seen_at,
         last_sequence, payload)
       select p.pigeonhole_number, 'sessions', (p.pigeonhole_id * 10 + n)::text, 1, 1, '\\x00', '', now(), 0,
         json_build_object('id', p.pigeonhole_id * 10 + n, 'type', 'qna', 'name', 'Session ' || n,
           'startDate', '2026-11-28T09:00:00Z', 'endDate', '2026-11-28T17:00:00Z')
       from pigeonholes p cross join generate_series(1, 4) n where p.pigeonhole_id > 0`,
    );
    await session.query(
      `insert into changes (pigeonhole_number, sequence, id, list, key, revision, kind, found_at)
       select p.pigeonhole_number, n.n, gen_random_uuid(),
         (array['attendees', 'attendees', 'questions', 'votes', 'answers'])[n.n % 5 + 1],
         n.n::text, 1, 'created', now() - ($1::int8 - n.n) * interval '1 second'
       from pigeonholes p cross join lateral (select n from generate_series(1, $1::int8) n order by n) n
       where p.pigeonhole_id > 0 order by p.pigeonhole_number, n.n`,
      [changes],
    );
    await session.query(
      `insert into items (pigeonhole_number, list, key, stream_id, revision, content_hash, rules, seen_at,
         last_sequence, payload)
       select c.pigeonhole_number, c.list, c.key, 1, 1, '\\x00', '', now(), c.sequence, '{"id":1}' from changes c
         order by c.pigeonhole_number, c.list, c.key`,
    );
    await session.query(
      `insert into lanes (sink_id, pigeonhole_number, history_until, watermark, lists, configuration, delivered,
         delivered_at, filling_at, failing_since, failure)
       select k.id, p.pigeonhole_number, 0, case when k.id = $2 then greatest(0, $1::int8 - 400)
         else $1 end, 'attendees questions votes answers', 1, $1, now(), null,
         case when k.id = $2 then now() - interval '1 minute' end, case when k.id = $2 then 'http:503: the destination is down' end
       from sinks k cross join pigeonholes p where p.pigeonhole_id > 0`,
      [changes, sinks],
    );
    for (let sink = 1; sink <= sinks; sink += 1) {
      const isDown = sink === sinks;
      await session.script('alter table deliveries disable trigger user');
      await session.query(
        `insert into deliveries (sink_id, pigeonhole_number, sequence, list, key, revision, state, reason, identity,
           configuration)
         select $1, c.pigeonhole_number, c.sequence, c.list, c.key, 1,
           case when c.sequence > $2::int8 then 'waiting' when c.sequence % 20 = 0 then 'withheld' when c.sequence % 50 = 3 then 'superseded'
             when c.sequence % 1000 = 7 then 'dead' else 'delivered' end,
           case when c.sequence > $2 then null when c.sequence % 40 = 0 then 'condition' when c.sequence % 20 = 0 then 'no-consent'
             when c.sequence % 1000 = 7 then 'http:422' end, null, 1
         from changes c where c.sequence <= $3::int8 order by c.pigeonhole_number, c.sequence`,
        [sink, isDown ? Math.max(0, changes - 500) : changes, isDown ? Math.max(0, changes - 400) : changes],
      );
      await session.script('alter table deliveries enable trigger user');
    }
    await session.query(
      `insert into delivery_counts (sink_id, pigeonhole_number, list, state, reason, changes)
       select sink_id, pigeonhole_number, list, state, coalesce(reason, ''), count(*) from deliveries
         group by 1, 2, 3, 4, 5`,
    );
    await session.script('analyze');
  });
}
