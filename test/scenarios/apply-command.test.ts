import { apiSources, asLocalUser } from '../../api/api-sources.test-kit.js';
import { createApp } from '../../api/create-app.js';
import type { ApiClient } from '../../cli/api-client.js';
import { type ApplyOptions, applyText } from '../../cli/commands/apply.js';
import { type EventView, planProvisioning, provisionEvent } from '../../operations/provision-event.js';
import type { Output } from '../../cli/output.js';
import { kinds } from '../kit/scenario-kinds.js';
import { Editions } from '../../operations/editions.js';
import { passTime } from '../kit/pass-time.js';
import { made, posts, summit, wholeSummit } from '../kit/provisioning.js';
import type { Scene } from '../kit/scene.js';
import { type Stage, useStages } from '../kit/stage.js';

const stages = useStages();
const [kind] = kinds;

/** Connects the command to the HTTP API without a network. */
async function commandOn(stage: Stage, scene?: Scene) {
  const { deps } = scene ?? (await stage.scene());
  const editions = new Editions({ deps, close: async () => undefined }, () => undefined);
  const woken: string[] = [];
  const starter = {
    wakeReaders: () => void woken.push('readers'),
    wakeWorkflow: async ({ id }: { readonly id: string }) => woken.push(id) > 0,
  };
  const app = createApp(
    apiSources({
      ledger: deps.ledger,
      config: deps.config,
      lookAtEvent: (asked) => planProvisioning(editions, asked),
      applyEvent: (asked) => provisionEvent(editions, starter, asked),
    }),
  );
  const post = async (path: string, body: unknown): Promise<{ status: number; json: unknown }> => {
    const init = { method: 'POST', body: JSON.stringify(body), headers: asLocalUser };
    const answer = await app.request(`http://127.0.0.1/api/events/${path}`, init);
    return { status: answer.status, json: await answer.json() };
  };
  const client: Pick<ApiClient, 'post'> = {
    post: async (path, { json }: { readonly json?: unknown }) =>
      (await post(path.replace('/api/events/', ''), json)).json as never,
  };
  return {
    post,
    woken,
    async run(options: Partial<ApplyOptions> = {}, text = summit) {
      const [lines, notes]: [string[], string[]] = [[], []];
      const out = {
        line: (line: string) => void lines.push(line),
        note: (line: string) => void notes.push(line),
      } as Output;
      const all = { file: 'event.yaml', dryRun: false, yes: true, json: false, ...options };
      const code = await applyText(client, text, all, { out, wait: (ms) => passTime(stage.db, ms) });
      return { code, lines, notes };
    },
  };
}

describe('pigeonpost apply', () => {
  it('creates one pigeonhole if it runs twice because the first answer was lost', async () => {
    const stage = await stages.open(kind!);
    const command = await commandOn(stage);
    await stage.fault({ kind: 'dropAfter', method: 'POST', next: 1 });
    const first = await command.run();
    expect(first.code).toBe(0);
    expect(first.notes[0]).toMatch(
      /^the answer about pigeonhole was lost: pigeonpost checks in 60 s whether the service has it/,
    );
    expect(first.lines.at(-1)).toBe('4 created');
    expect(await posts(stage)).toHaveLength(4);

    const second = await command.run();
    expect([second.code, second.notes, second.lines.at(-1)]).toEqual([0, [], '4 already there']);
    expect(await posts(stage)).toEqual([]);
    expect(await made(stage)).toEqual(wholeSummit);
  });

  it('sends nothing in a dry run or before the operator confirms', async () => {
    const stage = await stages.open(kind!);
    const command = await commandOn(stage);
    const dry = await command.run({ dryRun: true, yes: false });
    expect([dry.code, dry.lines]).toEqual([0, expect.arrayContaining(['4 to be created'])]);
    await expect(command.run({ yes: false })).rejects.toThrow('There is no terminal to confirm at: add --yes');
    expect(await posts(stage)).toEqual([]);
  });

  it('exits with 5 if the service refuses a session, and with 1 if the operator must decide', async () => {
    const stage = await stages.open(kind!);
    const command = await commandOn(stage);
    const refused = await command.run({}, summit.replace('poll_word_cloud', 'dance'));
    expect(refused.code).toBe(5);
    expect(refused.lines.join('\n')).toMatch(
      /words +refused by the service \(request .*\)\n.*event\.yaml:10: sessions\[2\]\.type: must be one of/,
    );
    await stage.db.query('delete from provisioned');
    const undecided = await command.run();
    expect(undecided.code).toBe(1);
    expect(undecided.lines.join('\n')).toMatch(
      /pigeonhole +similar to an existing object\n.*"ACME Summit".*\n.*to use an existing one, add --use pigeonhole=\d+;/,
    );
  });

  it('prints one JSON document, either the plan or the result', async () => {
    const stage = await stages.open(kind!);
    const command = await commandOn(stage);
    const [dry, done] = [await command.run({ json: true, dryRun: true }), await command.run({ json: true })];
    const states = (lines: string[]): string[] =>
      (JSON.parse(lines.join('\n')) as EventView).objects.map(({ state }) => state);
    expect([states(dry.lines), states(done.lines)]).toEqual([Array(4).fill('create'), Array(4).fill('created')]);
  });

  it('makes the sync of the pigeonhole read the new objects immediately', async () => {
    const stage = await stages.open(kind!);
    const scene = await stage.scene();
    await scene.discover();
    const command = await commandOn(stage, scene);
    await command.run();
    expect(command.woken).toContain('discover/acme');
  });

  it('is refused with the line of the mistake, or if the file describes no event', async () => {
    const stage = await stages.open(kind!);
    const { post } = await commandOn(stage);
    const asked = { file: 'event.yaml', text: summit.replace('startDate', 'startdate'), use: {}, create: [], skip: [] };
    expect(await post('apply', asked)).toMatchObject({
      status: 422,
      json: {
        detail: expect.stringContaining('event.yaml:4: pigeonhole.startdate: unknown key, did you mean "startDate"?'),
      },
    });
    expect(await post('plan', { text: summit })).toMatchObject({ status: 400 });
    expect(await stage.requests()).toEqual([]);
  });
});
