import { freeTestPort } from '../free-port.js';
import { apiHeaders } from '../kit/api-headers.js';
import { followConference, type FollowedConference } from '../kit/follow-conference.js';
import { untilOutput } from '../kit/processes.js';
import { hasPostgres } from '../postgres.js';
import { until } from '../until.js';

/**
 * Runs the topology of docker-compose.yml and deploy/kubernetes with processes: two API processes and three workers on
 * one PostgreSQL and one Temporal. One of each is killed under load and not started again.
 */
const archivedBeforeKill = 300;

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
        const workers = [listening, conference.start('worker'), conference.start('worker')];
        await until('a worker is ready by its probe', async () => (await probe(probes, '/readyz')).status === 200);
        expect((await probe(probes, '/healthz')).status).toBe(200);
        expect((await probe(probes, '/metrics')).text).toMatch(/^pigeonpost_store_up 1$/m);
        expect((await probe(probes, '/api/status')).status).toBe(404);
        await until('much of the conference is archived', () => conference.archived().length >= archivedBeforeKill);
        const readyWorker = () => workers.find((worker) => worker.output().includes('ready'));
        await until('a worker says that it is ready', () => readyWorker() !== undefined);

        await conference.kill(apis[0]!);
        await conference.kill(readyWorker()!);
        const atKill = deliveredToArchive(await statusOfOther());
        await until('the other API process tells that the other workers deliver', async () => {
          const status = await statusOfOther();
          return status.trouble === null && deliveredToArchive(status) > atKill;
        });
      }),
    480_000,
  );
});

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
