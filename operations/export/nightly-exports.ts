import { randomUUID } from 'node:crypto';
import { messageOf } from '../../base/errors.js';
import { hasSheet, isList, type SheetName, sheetNames } from '../../base/sheets/sheet-names.js';
import { dayIn, instantsOf } from '../../base/zoned-instant.js';
import type { NightlyExport } from '../../config/config.js';
import type { DailyTime } from '../../config/schema/exports.js';
import type { Collaborators, InUse, OpenSink } from '../../cycles/collaborators.js';
import { recordRequest, recordResult } from '../../ledger/audit.js';
import {
  claimExport,
  type DueExport,
  dropExport,
  dueExports,
  type ExportKey,
  failExport,
  oldExports,
  renewExport,
  settleExport,
} from '../../ledger/nightly-exports.js';
import { pausesOf, placeName } from '../../ledger/pauses.js';
import type { Sink } from '../../sinks/sink.js';
import { exportedPlace } from './exported-place.js';
import { type ExportRequest, writeExport } from './export-sheets.js';

const dayMs = 24 * 60 * 60_000;
const hourMs = 60 * 60_000;
/** A third of the time after which a claim that was not renewed ends. */
const renewEveryMs = 60_000;
/** The name under which the audit log has these exports. */
const auditName = 'nightly export';

/**
 * Returns the last night whose export is due: its day and the instant (epoch ms) at which it became due. If a clock skips
 * the time of day, the export is due an hour later. Pure.
 */
export function lastNight(
  { minutes, timezone }: DailyTime,
  nowMs: number,
): { readonly night: string; readonly atMs: number } {
  const found = [0, 1, 2].flatMap((back) => {
    const night = dayIn(timezone, nowMs - back * dayMs);
    const atMs = instantOf(night, minutes, timezone);
    return atMs <= nowMs ? [{ night, atMs }] : [];
  });
  return found[0]!;
}

function instantOf(day: string, minutes: number, timezone: string): number {
  const clock = `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}:00`;
  const [first] = instantsOf(`${day}T${clock}`, timezone);
  if (first !== undefined) return first;
  const before = instantsOf(`${day}T00:00:00`, timezone)[0] ?? Date.parse(`${day}T00:00:00Z`);
  return before + minutes * 60_000 + (minutes * 60_000 < hourMs ? hourMs : 0);
}

/**
 * Writes the exports of `exports:`. Any process of a ledger may write each of them; a claim in the ledger lets one process do
 * it. A process that dies leaves at most a draft, and another one writes the export three minutes later. A failed export is
 * tried again after ten minutes, and one that was missed because nothing ran is written at the next start.
 */
export class NightlyExports {
  constructor(private readonly editions: InUse) {}

  /** Writes what is due now, one export after another. */
  async look(): Promise<void> {
    await this.editions.use(async (deps) => {
      for (const entry of deps.config.exports) {
        const open = deps.sinks.get(entry.to);
        if (open === undefined || open.observing || deps.stopping.aborted) continue;
        if ((await pausesOf(deps.ledger, [{ scope: 'sink', name: entry.to }])).length > 0) continue;
        await writeDue(deps, entry, open);
      }
    });
  }
}

async function writeDue(deps: Collaborators, entry: NightlyExport, open: OpenSink): Promise<void> {
  const { ledger, config, stopping } = deps;
  if (open.sink.putFile === undefined) return; // the check of the configuration refuses such a sink
  const { night } = lastNight(entry.at, ledger.clock.nowMs());
  const syncs = Object.entries(config.syncs).flatMap(([name, { sinks }]) => (sinks.includes(entry.to) ? [name] : []));
  for (const due of await dueExports(ledger, { sink: entry.to, syncs, night })) {
    if (stopping.aborted) return;
    const key = { sink: entry.to, pigeonholeNumber: due.pigeonholeNumber, night };
    const owner = randomUUID();
    if (!(await claimExport(ledger, key, { owner, erased: due.erased }))) continue;
    const failure = await writeOne(deps, entry, { open, due, key, owner });
    if (failure === null) await removeOld(deps, entry, open.sink, key);
    else {
      await failExport(ledger, key, owner, failure);
      deps.log.warn({ sink: entry.to, place: placeName(due), refused: failure }, 'a nightly export has to wait');
    }
  }
}

interface Writing {
  readonly open: OpenSink;
  readonly due: DueExport;
  readonly key: ExportKey;
  readonly owner: string;
}

/** @returns why the export failed; null: it was written */
async function writeOne(
  deps: Collaborators,
  { format, tables }: NightlyExport,
  { open, due, key, owner }: Writing,
): Promise<string | null> {
  const { ledger, config, stopping } = deps;
  const place = await exportedPlace(ledger, due);
  const sheets = tables ?? sheetNames.filter((name) => isList(name) && hasSheet(place, name));
  const request = { place, format, personal: true, accepts: open.accepts };
  const requestId = randomUUID();
  const asked = await recordRequest(ledger, {
    who: auditName,
    token: null,
    action: 'export',
    target: `pigeonhole:${placeName(due)}`,
    detail: { sink: open.name, sheets: sheets.join(','), format, personal: true },
    subject: null,
    requestId,
  });
  const held = holdClaim(() => renewExport(ledger, key, owner), stopping);
  const folder = `${due.workspace}/${due.pigeonholeId}/${key.night}`;
  const files: string[] = [];
  let failure: string | null = null;
  try {
    for (const [name, own] of filesOf(folder, format, sheets)) {
      const bytes = bytesOf({ ledger, config }, { ...request, sheets: own });
      const result = await open.sink.putFile!({ name, bytes }, ledger.id, held.signal);
      if (result.kind !== 'delivered') {
        failure = result.detail;
        break;
      }
      files.push(name);
    }
    if (failure === null) await settleExport(ledger, key, owner, { ...due, files });
  } catch (error) {
    failure = held.signal.aborted ? 'it was stopped' : messageOf(error);
  } finally {
    held.release();
  }
  await recordResult(ledger, asked, {
    outcome: failure === null ? 'done' : 'failed',
    status: failure === null ? 200 : 500,
    requestId,
  });
  return failure;
}

/** Returns the names of the files of an export, each with its tables. */
function filesOf(
  folder: string,
  format: NightlyExport['format'],
  sheets: readonly SheetName[],
): (readonly [name: string, sheets: readonly SheetName[]])[] {
  if (format === 'xlsx') return [[`${folder}.xlsx`, sheets]];
  return sheets.map((sheet) => [`${folder}-${sheet}.csv`, [sheet]]);
}

async function* bytesOf(
  sources: Parameters<typeof writeExport>[0],
  request: ExportRequest,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const part of writeExport(sources, request)) yield typeof part === 'string' ? Buffer.from(part) : part;
}

/** Renews a claim until it is released. The signal is aborted if the claim is lost or the process stops. */
function holdClaim(
  renew: () => Promise<boolean>,
  stopping: AbortSignal,
): { readonly signal: AbortSignal; readonly release: () => void } {
  const lost = new AbortController();
  const abort = (): void => lost.abort();
  stopping.addEventListener('abort', abort);
  if (stopping.aborted) abort();
  const timer = setInterval(() => {
    renew().then(
      (isHeld) => isHeld || abort(),
      () => undefined, // the store does not answer; writing will fail as well
    );
  }, renewEveryMs);
  return {
    signal: lost.signal,
    release: () => {
      clearInterval(timer);
      stopping.removeEventListener('abort', abort);
    },
  };
}

/** Removes the files that are no longer kept. What cannot be removed now is removed after the next export. */
async function removeOld(
  { ledger, log, stopping }: Collaborators,
  { keep }: NightlyExport,
  sink: Sink,
  key: ExportKey,
): Promise<void> {
  for (const old of await oldExports(ledger, key, keep === 'all' ? null : keep)) {
    for (const file of old.files) {
      const result = await sink.removeFile!(file, stopping);
      if (result.kind === 'delivered') continue;
      log.warn({ sink: key.sink, refused: result.detail }, 'an old export could not be removed');
      return;
    }
    await dropExport(ledger, old);
  }
}
