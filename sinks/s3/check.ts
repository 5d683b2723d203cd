import { randomUUID } from 'node:crypto';
import type { CheckLine } from '../sink.js';
import { classifyFailure } from './classify.js';
import type { S3Answer } from './client.js';
import { readMarker, md5, onlyIfNew, refusal, type Store } from './store.js';
import { ObjectNames } from './objects.js';

/**
 * Tests each right with an object that it deletes afterwards, and checks that the prefix is free or belongs to this
 * sink. Returns one line for each missing right. Never throws.
 */
export async function checkStore(store: Store, sink: string, signal: AbortSignal): Promise<CheckLine[]> {
  const { client, config } = store;
  const lines: CheckLine[] = [];
  const key = new ObjectNames(config).own(`check-${randomUUID()}`);
  const bad = (text: string): void => void lines.push({ ok: false, text });
  const failed = (answer: S3Answer, what: string): void => {
    bad(classifyFailure(answer, what, { isWrite: false }).detail);
  };
  const statusOf = (answer: S3Answer): number => (answer.kind === 'answer' ? answer.status : 0);

  const body = Buffer.from('pigeonpost check\n');
  const headers = { 'content-type': 'text/plain', 'content-md5': md5(body) };
  const put = await client.call({ method: 'PUT', key, body, headers: { ...headers, ...onlyIfNew(config) } }, signal);
  if (put.kind !== 'answer' || put.status !== 200) {
    failed(put, 'writing an object');
    await client.call({ method: 'DELETE', key }, signal); // the write may have arrived although there was no answer
    return lines;
  }
  await checkAbsent();
  const versions = [put.headers['x-amz-version-id']];
  if (config.conditionalWrites) {
    const again = await client.call(
      { method: 'PUT', key, body, headers: { ...headers, ...onlyIfNew(config) } },
      signal,
    );
    if (again.kind === 'answer' && again.status === 200) {
      versions.push(again.headers['x-amz-version-id']);
      bad(`${client.host} ignores If-None-Match: set "conditionalWrites: false"`);
    } else if (statusOf(again) !== 412) failed(again, 'writing an object under a name that exists');
  }
  const got = await client.call({ method: 'GET', key }, signal);
  if (got.kind !== 'answer' || got.status !== 200) failed(got, 'reading an object');
  await remove();
  if (lines.length === 0)
    lines.push({ ok: true, text: `${client.host} lets this sink write, read and delete objects` });
  if (versions[0] !== undefined) {
    lines.push({
      ok: true,
      warning: true,
      text: `${config.bucket} keeps old versions, which contain what an erasure replaces: expire noncurrent versions with a lifecycle rule`,
    });
  }
  const marker = await readMarker(store, signal);
  // The check does not know the ledger's id. The sink compares it before it sends for the first time.
  const refused = refusal(marker, { sink }, config.prefix);
  // A failed read of the marker is left out if the lines above report a failure, because the cause is the same.
  const isRead = marker.kind === 'owned' || marker.kind === 'foreign';
  if (refused !== undefined && (isRead || lines.every(({ ok }) => ok))) bad(refused.detail);
  return lines;

  /** Without the right to list the bucket, a missing object answers 403, and `recover` could not detect a lost write. */
  async function checkAbsent(): Promise<void> {
    const none = await client.call({ method: 'HEAD', key: `${key}-none` }, signal);
    if (statusOf(none) === 403)
      bad(
        `the object store refuses a request for an object that does not exist (HTTP 403): allow s3:GetObject on the prefix and s3:ListBucket on ${config.bucket}`,
      );
    else if (statusOf(none) !== 404) failed(none, 'looking for an object');
  }

  /** Deletes the object. In a bucket with versions, deletes each version by its id, so that nothing stays. */
  async function remove(): Promise<void> {
    for (const version of versions) {
      const query: Record<string, string> = version === undefined ? {} : { versionId: version };
      const gone = await client.call({ method: 'DELETE', key, query }, signal);
      if (statusOf(gone) === 204 || statusOf(gone) === 200) continue;
      if (version === undefined) failed(gone, 'deleting an object');
      else {
        const hidden = await client.call({ method: 'DELETE', key }, signal);
        if (statusOf(hidden) !== 204) failed(hidden, 'deleting an object');
        else
          lines.push({
            ok: true,
            warning: true,
            text: `an old version of ${key} stays: the key may not delete versions`,
          });
      }
    }
  }
}
