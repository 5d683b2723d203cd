import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';

const folder = join(__dirname, 'histories');
const recordings = readdirSync(folder).filter((name) => name.endsWith('.json'));

beforeAll(() => Runtime.install({ logger: new DefaultLogger('ERROR') }));

/** Replays a recording of each released version of a workflow, from tools/record-histories.mjs. None is deleted. */
describe('a history that an earlier version recorded', () => {
  it('exists for every workflow', () => {
    expect(new Set(recordings.map((name) => name.split('.')[0]))).toEqual(
      new Set(['deliverToSink', 'discoverPigeonholes', 'forgetAttendee', 'importRegistrants', 'readPigeonholes']),
    );
  });

  it.each(recordings)('replays: %s', async (name) => {
    const history: unknown = JSON.parse(readFileSync(join(folder, name), 'utf8'));
    await Worker.runReplayHistory(
      { workflowBundle: { codePath: join(__dirname, '../../dist/workflow-bundle.js') } },
      history,
      `record/${name.split('.')[0]}`,
    );
  });
});
