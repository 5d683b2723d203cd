import { LedgerError } from '../../ledger/ledger-error.js';
import { writeProgress } from '../../ledger/streams-progress.js';
import { PigeonholeReader } from '../../reading/pigeonhole-reader.js';
import type { Collaborators } from '../../cycles/collaborators.js';
import type { PigeonholeName, ReadingResult } from '../../cycles/cycle-results.js';

interface KeptReader {
  readonly reader: PigeonholeReader;
  /** State of the ledger after the last cycle. */
  state: string;
}

/**
 * Keeps the reader of each pigeonhole from cycle to cycle, as an activity that stays does. Hears of every change that
 * others make in the ledger, also by statements of a test.
 */
export class KeptReaders {
  readonly #readers = new Map<string, KeptReader>();

  constructor(private readonly deps: Collaborators) {}

  async read(name: PigeonholeName, signal: AbortSignal): Promise<ReadingResult> {
    const key = `${name.workspace} ${name.pigeonholeId}`;
    const kept = this.#readers.get(key) ?? { reader: new PigeonholeReader(this.deps, name, null), state: '' };
    this.#readers.set(key, kept);
    if ((await this.#state(name)) !== kept.state) kept.reader.forget();
    try {
      const result = await kept.reader.round(signal);
      const refused = await writeProgress(this.deps.ledger.db, null, kept.reader.takeProgress());
      kept.reader.progressRefused(refused);
      kept.state = await this.#state(name);
      return result;
    } catch (error) {
      this.#readers.delete(key);
      // Another process has taken the pigeonhole over. The next stay takes it back.
      if (kept.state !== '' && error instanceof LedgerError && error.kind === 'stale')
        return await this.read(name, signal);
      throw error;
    }
  }

  /** Stores what the readers have only in memory. */
  async save(): Promise<void> {
    for (const { reader } of this.#readers.values()) await reader.close();
  }

  async #state({ workspace, pigeonholeId }: PigeonholeName): Promise<string> {
    const [row] = await this.deps.ledger.db.query<{ state: string }>(
      `with place as (select pigeonhole_number from pigeonholes where workspace = $1 and pigeonhole_id = $2),
       ids as (select id from streams where pigeonhole_number in (select pigeonhole_number from place))
       select concat_ws(' ',
         (select string_agg(xmin::text, ',' order by id) from streams
           where pigeonhole_number in (select pigeonhole_number from place)),
         (select string_agg(xmin::text, ',' order by stream_id, kind) from walks where stream_id in (select id from ids)),
         (select string_agg(xmin::text, ',' order by stream_id, ordinal) from pages where stream_id in (select id from ids)),
         (select string_agg(xmin::text, ',' order by key) from missing
           where pigeonhole_number in (select pigeonhole_number from place)),
         (select string_agg(xmin::text, ',' order by session_id) from visibility_reviews
           where pigeonhole_number in (select pigeonhole_number from place)),
         (select string_agg(xmin::text, ',' order by pigeonhole_number) from pigeonholes),
         (select string_agg(xmin::text, ',' order by number) from imports),
         (select string_agg(xmin::text, ',' order by scope, name) from pauses),
         (select string_agg(xmin::text, ',' order by name) from workspaces),
         (select string_agg(xmin::text, ',' order by number) from configurations)) as state`,
      [workspace, pigeonholeId],
    );
    return row!.state;
  }
}
