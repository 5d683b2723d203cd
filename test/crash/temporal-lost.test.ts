import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type FollowedConference, followConference } from '../kit/follow-conference.js';
import { type Program, untilOutput } from '../kit/processes.js';
import { until } from '../until.js';

/**
 * Temporal has no data that the ledger lacks. The test deletes Temporal's data once after an orderly stop and once
 * after a kill, under live traffic. Everything must continue where it was, and pauses of an operator must stay.
 */
describe('a pigeonpost whose Temporal has lost everything', () => {
  it(
    'continues where it was, loses nothing, duplicates nothing, and keeps pauses',
    () =>
      followConference({ seed: 7, attendees: 100, store: 'embedded' }, async (conference) => {
        let main = await startReady(conference);
        await until('the file has something', () => conference.archived().length > 100);
        await until('the receiver has something', () => conference.received().length > 100);
        await ask(conference, 'pause', 'sink:hooks', '--reason', 'receiver is moved');

        main.kill('SIGTERM');
        expect(await main.exited).toBe(0);
        const paused = conference.received().length; // a pause takes effect after the current batch, and so does a stop
        forgetTemporal(conference);
        main = await startReady(conference);
        await untilMore(conference);

        conference.killTemporal();
        await conference.kill(main);
        forgetTemporal(conference);
        await startReady(conference);
        await untilMore(conference);

        expect(conference.received()).toHaveLength(paused);
        const status = JSON.parse(await ask(conference, 'status', '--json')) as {
          sinks: { name: string; state: string; pause: { reason: string } | null }[];
        };
        expect(status.sinks.find(({ name }) => name === 'hooks')).toMatchObject({
          state: 'paused',
          pause: { pausedBy: 'person', reason: 'receiver is moved' },
        });
        await ask(conference, 'resume', 'sink:hooks');
      }),
    360_000,
  );
});

async function startReady(conference: FollowedConference): Promise<Program> {
  const program = conference.start('start');
  await untilOutput(program, /ready/);
  return program;
}

async function ask(conference: FollowedConference, ...args: string[]): Promise<string> {
  const program = conference.start(...args);
  expect([args, await program.exited, program.errors()]).toEqual([args, 0, '']);
  return program.output();
}

/** Deletes the data of the embedded Temporal; fails if there is none. */
function forgetTemporal({ folder }: FollowedConference): void {
  const data = join(folder, 'data');
  const files = readdirSync(data).filter((name) => name.startsWith('temporal.sqlite'));
  expect(files).not.toEqual([]);
  for (const name of files) rmSync(join(data, name));
}

async function untilMore(conference: FollowedConference): Promise<void> {
  const before = conference.archived().length;
  await until('live changes arrive again', () => conference.archived().length > before + 20);
}
