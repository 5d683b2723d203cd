import { type DecidingList, type ServiceListName, serviceTraits } from '../base/lists.js';
import { LedgerError } from '../ledger/ledger-error.js';
import type { Ledger } from '../ledger/ledger.js';

/**
 * Maximum number of pages of `qna-questions` that are read for each waiting page. A longer list is only polled, which
 * finds the flags of new questions.
 */
const pagesPerPage = 5;

/**
 * Reads a stream of a deciding list, or leaves it alone if it is being read or cannot be read now. Returns also if the
 * read is slow and continues.
 * @param whole true: from the first page to the last
 */
type ReadList = (streamId: number, whole: boolean) => Promise<void>;

/**
 * Reads the lists that decide who may be named in other lists, after pages of those lists have arrived. Pages that wait
 * at the same time share one read. Serves one cycle of a pigeonhole.
 */
export class DecidingLists {
  readonly #reads = new Map<DecidingList, SharedRead>();
  #pigeonholeNumber = 0;
  #read: ReadList = async () => undefined;

  constructor(private readonly ledger: Pick<Ledger, 'db'>) {}

  /** Sets how the lists are read in the present part of the cycle. */
  use(pigeonholeNumber: number, read: ReadList): void {
    this.#pigeonholeNumber = pigeonholeNumber;
    this.#read = read;
  }

  /**
   * Reads the lists that decide about a list by requests that are sent after this call. Returns without having read them
   * if a list cannot be read now, or is slow.
   * @param pages number of pages that wait for it
   */
  async readFor(list: string, pages: number): Promise<void> {
    const lists = serviceTraits[list as ServiceListName].judgedBy;
    await Promise.all(lists.map((each) => this.#shared(each).fromNowOn(pages)));
  }

  /** Runs a read of a deciding list while no other one runs. */
  async alone(list: DecidingList, read: () => Promise<void>): Promise<void> {
    await this.#shared(list).alone(read);
  }

  #shared(list: DecidingList): SharedRead {
    let shared = this.#reads.get(list);
    if (shared === undefined) {
      shared = new SharedRead((pages) => this.#readNow(list, pages));
      this.#reads.set(list, shared);
    }
    return shared;
  }

  async #readNow(list: DecidingList, pages: number): Promise<void> {
    const [stream] = await this.ledger.db.query<{ id: number; pages: number | null }>(
      `select id, page_count as pages from streams where pigeonhole_number = $1 and list = $2 and session_id = 0
         and wanted and gone_at is null and (failures = 0 or due_at <= now())`,
      [this.#pigeonholeNumber, list],
    );
    if (stream === undefined) return;
    const isWhole = list === 'sessions' || stream.pages === null || stream.pages <= pagesPerPage * pages;
    try {
      await this.#read(stream.id, isWhole);
    } catch (error) {
      // Another reader took the stream over. The setting counts as not read, unless that reader has read it.
      if (!(error instanceof LedgerError)) throw error;
    }
  }
}

/** Runs one read at a time. A call during a read waits for the next one, which all such calls share. */
export class SharedRead {
  /** The read in progress. Never rejects. */
  #running: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;
  #pages = 0;

  /** @param work reads for a number of waiting pages */
  constructor(private readonly work: (pages: number) => Promise<void>) {}

  /** Resolves when a read that started after this call has ended. */
  async fromNowOn(pages: number): Promise<void> {
    this.#pages += pages;
    this.#next ??= this.alone(async () => {
      const waiting = this.#pages;
      this.#next = undefined;
      this.#pages = 0;
      await this.work(waiting);
    });
    await this.#next;
  }

  /** Runs another read after those that were requested before. */
  async alone(read: () => Promise<void>): Promise<void> {
    const turn = this.#running.then(read);
    this.#running = turn.then(
      () => undefined,
      () => undefined,
    );
    await turn;
  }
}
