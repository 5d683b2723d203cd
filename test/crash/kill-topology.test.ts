import { Client } from 'pg';
import { freeTestPort } from '../free-port.js';
import { apiHeaders } from '../kit/api-headers.js';
import { followConference, type FollowedConference } from '../kit/follow-conference.js';
import { untilOutput } from '../kit/processes.js';
import { sleep } from '../kit/promises.js';
import { hasPostgres } from '../postgres.js';
import { until } from '../until.js';

/**
 * Runs the topology of docker-compose.yml and deploy/kubernetes with processes: two API processes and three workers on
 * one PostgreSQL and one Temporal. One of each is killed under load and not started again. The killed worker reads the
 * live pigeonhole.
 */
const archivedBeforeKill = 300;
const live = 101;
/**
 * Maximum time without a request for a live list after a kill. Temporal notices the kill after 12 s and starts another
 * stay a second later (`test/workflows` holds that these are less than 15 s); the rest is for a busy machine.
 */
const longestGapMs = 30_000;

interface StatusAnswer {
  readonly trouble: string | null;
  readonly sinks: readonly { readonly name: string; readonly delivered: number }[];
}

(hasPostgres() ? describe : describe.skip)('two API processes and three workers, one of each killed', () => {
  it(
    'lose nothing and duplicate nothing: the others take over',
    () =>
      followConference({ seed: 8, store: 'servers' }, async (conference) => {
        const otherPort = await freeTestPort();
        const statusOfOther = async (): Promise<StatusAnswer> => await statusOf(conference, 'other.yaml', otherPort);
        conference.configure('other.yaml', otherPort);
        const apis = [conference.start('api'), conference.start('--config', 'other.yaml', 'api')];
        for (const api of apis) await untilOutput(api, /ready: serving/);
        expect((await statusOfOther()).trouble).toMatch(/^no worker has asked Temporal for work/);
        const probes = await freeTestPort();
        const listening = conference.start('worker', '--listen', `127.0.0.1:${probes}`);
        const store = new Client({ connectionString: conference.databaseUrl! });
        await store.connect();
        await until('the first worker reads all pigeonholes', async () => (await readerPids(store)).length === 1);
        await giveEachAReader(store);
        const workers = [listening, conference.start('worker'), conference.start('worker')];
        await until('a worker is ready by its probe', async () => (await probe(probes, '/readyz')).status === 200);
        expect((await probe(probes, '/healthz')).status).toBe(200);
        expect((await probe(probes, '/metrics')).text).toMatch(/^pigeonpost_store_up 1$/m);
        expect((await probe(probes, '/api/status')).status).toBe(404);
        await until('much of the conference is archived', () => conference.archived().length >= archivedBeforeKill);
        await until('a worker says that it is ready', () =>
          workers.some((worker) => worker.output().includes('ready')),
        );
        await until('the stays that end go to other workers, too', async () => {
          if (new Set(await readerPids(store)).size > 1) return true;
          await store.query('update readers set epoch = epoch + 1'); // ends the stays
          await sleep(1000); // until others have started
          return false;
        });

        await conference.kill(apis[0]!);
        const victim = await pidOfReader(store);
        await conference.kill(workers.find(({ pid }) => pid === victim)!);
        const killedAt = Date.now();
        const atKill = deliveredToArchive(await statusOfOther());
        await until('another worker reads the live pigeonhole', async () => (await pidOfReader(store)) !== victim);
        await until('it requests a live list', async () => (await firstRequest(conference, killedAt)) !== undefined);
        expect((await firstRequest(conference, killedAt))! - killedAt).toBeLessThan(longestGapMs);
        await store.end();
        await until('the other API process tells that the other workers deliver', async () => {
          const status = await statusOfOther();
          return status.trouble === null && deliveredToArchive(status) > atKill;
        });
      }),
    480_000,
  );
});

/** Returns the pid of each process that stays with a reader, once for each reader that has pigeonholes. */
async function readerPids(store: Client): Promise<number[]> {
  const { rows } = await store.query<{ owner: string }>(
    'select owner from readers where owner is not null and number in (select reader from pigeonholes)',
  );
  return rows.map(({ owner }) => pidOf(owner));
}

async function pidOfReader(store: Client): Promise<number> {
  const { rows } = await store.query<{ owner: string }>(
    'select owner from readers where number = (select reader from pigeonholes where pigeonhole_id = $1)',
    [live],
  );
  return pidOf(rows[0]!.owner);
}

/** An owner is named `<host>/<pid>/<id>`. */
function pidOf(owner: string): number {
  return Number(owner.split('/').at(-2));
}

/** Gives each pigeonhole a reader of its own, as if there were many. The next process starts their workflows. */
async function giveEachAReader(store: Client): Promise<void> {
  await store.query(`with places as (select pigeonhole_number, row_number() over (order by pigeonhole_number) as row
    from pigeonholes where reader is not null),
      added as (insert into readers select from places returning number),
      readers as (select number, row_number() over (order by number) as row from added)
    update pigeonholes p set reader = r.number, asked = asked + 1 from places n join readers r on r.row = n.row
      where p.pigeonhole_number = n.pigeonhole_number`);
}

/** Returns the time of the first request for a live list after an instant. */
async function firstRequest({ baseUrl }: FollowedConference, sinceMs: number): Promise<number | undefined> {
  const answer = await fetch(`${baseUrl}/_control/requests?last=10000`);
  const { requests } = (await answer.json()) as { requests: { at: string; path: string }[] };
  const times = requests
    .filter(({ path }) => path === `/v2/pigeonholes/${live}/attendees`)
    .map(({ at }) => Date.parse(at));
  return times.find((at) => at > sinceMs);
}

async function statusOf({ folder }: FollowedConference, config: string, port: number): Promise<StatusAnswer> {
  const headers = apiHeaders(folder, { config });
  return (await (await fetch(`http://127.0.0.1:${port}/api/status`, { headers })).json()) as StatusAnswer;
}

function deliveredToArchive({ sinks }: StatusAnswer): number {
  return sinks.find(({ name }) => name === 'archive')!.delivered;
}

/** Status 0 while nothing listens. */
async function probe(port: number, path: string): Promise<{ status: number; text: string }> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`);
    return { status: answer.status, text: await answer.text() };
  } catch {
    return { status: 0, text: '' };
  }
}
