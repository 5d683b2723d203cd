import { type Clearing, type Forgetting, forgetRecords, type ForgetVendor } from '../records/forget-records.js';
import { TaskJob } from '../records/record-task.js';
import type { WriteReply } from '../records/reply.js';
import { fieldsOf } from '../sink.js';
import { readRecords, type Sending, writeRecords } from './batch.js';
import { listOf } from './classify.js';
import { clockToleranceMs } from './event-times.js';
import type { ForgetStep, Pair, Step, Task } from './operation.js';
import { changedAtMs } from './present-values.js';
import { leaveLists } from './send-associations.js';
import { inputOf, writeReplyOf } from './send-records.js';

/** A record whose values of this sink are cleared. */
class ForgetJob extends TaskJob<ForgetStep, Step> {
  declare readonly task: Task;
}

/** Clears this sink's values in records of one type that other systems also use. */
export async function forgetProperties(pairs: readonly Pair<ForgetStep>[], sending: Sending): Promise<void> {
  // The lists come first, because they are removed from the item's object below, and a later attempt could not leave
  // them.
  await leaveLists(pairs, sending);
  await forgetRecords(
    pairs.map(({ task, step }) => new ForgetJob(task, step)),
    new HubSpotForgetting(sending),
  );
}

class HubSpotForgetting implements ForgetVendor<ForgetJob> {
  readonly causes = 'hubspot';

  constructor(private readonly sending: Sending) {}

  nameOf({ step: { objectType, id } }: ForgetJob): string {
    return `${objectType} ${id}`;
  }

  async look(jobs: readonly ForgetJob[]): Promise<Map<ForgetJob, Forgetting>> {
    const states = new Map<ForgetJob, Forgetting>();
    const reading = jobs.filter(({ step }) => Object.keys(step.writtenAtMs).length > 0);
    for (const job of jobs) if (!reading.includes(job)) states.set(job, { kind: 'clear', id: job.step.id, values: {} });
    const names = [...new Set(reading.flatMap(({ step }) => Object.keys(step.writtenAtMs)))];
    const ids = reading.map(({ step }) => step.id);
    const wanted = { properties: names, withHistory: names };
    const read = reading.length === 0 ? [] : await readRecords(this.sending, reading[0]!.step.objectType, ids, wanted);
    for (const [index, job] of reading.entries()) {
      const reply = read[index]!;
      if (reply.kind === 'done') states.set(job, this.#clearing(job, reply.result));
      else if (reply.kind !== 'missing') job.task.endBy(reply, job.step.record);
      else {
        const state = await this.#missing(job);
        if (state !== undefined) states.set(job, state);
      }
    }
    return states;
  }

  async clear(records: readonly Clearing<ForgetJob>[]): Promise<WriteReply[]> {
    const { objectType } = records[0]!.jobs[0]!.step;
    const replies = await writeRecords(this.sending, objectType, 'update', records.map(inputOf));
    return replies.map((reply) => writeReplyOf(reply, 'update', this.sending));
  }

  forgot({ task, step }: ForgetJob): void {
    task.made(step.record, null);
  }

  /**
   * A property keeps its value if it was last changed before the sink first wrote to the record, or after the sink last
   * wrote the property, because the value then belongs to another system.
   */
  #clearing({ task, step }: ForgetJob, record: Readonly<Record<string, unknown>>): Forgetting {
    const ours = Object.entries(step.writtenAtMs).filter(([name, writtenAtMs]) => {
      const changed = changedAtMs(record, name);
      return (
        changed !== undefined && changed >= step.sinceMs - clockToleranceMs && changed <= writtenAtMs + clockToleranceMs
      );
    });
    task.note(`${ours.length} properties of ${step.objectType} ${step.id} cleared`);
    return { kind: 'clear', id: step.id, values: Object.fromEntries(ours.map(([name]) => [name, null])) };
  }

  /**
   * Returns the state of a record that was not found. If it was merged, HubSpot returns the record into which it was
   * merged, under another id.
   */
  async #missing({ task, step: { record, objectType, id } }: ForgetJob): Promise<Forgetting | undefined> {
    const { client, budget } = this.sending;
    const body = { inputs: [{ id }], properties: [], propertiesWithHistory: [] };
    const reply = await client.call('POST', client.path('objects', `${objectType}/batch/read`), body, budget);
    if (reply.kind === 'failed') {
      task.end(reply.result, record);
      return undefined;
    }
    const { id: into } = reply.kind === 'ok' ? fieldsOf(listOf(reply.body.results)[0]) : {};
    if (typeof into !== 'string') return { kind: 'gone' };
    if (into !== id) return { kind: 'merged', into };
    task.end({ kind: 'retry', detail: `HubSpot did not return ${objectType} ${id}` }, record);
    return undefined;
  }
}
