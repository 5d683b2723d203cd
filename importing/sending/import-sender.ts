import { pause } from '../../ledger/pauses.js';
import { type StartedChunk, type NothingStarted, beginChunk } from '../../ledger/imports/chunks.js';
import { confirmImport, type ImportLease } from '../../ledger/imports/imports.js';
import { type ChunkSettlement, settleChunk } from '../../ledger/imports/settle-chunk.js';
import type { RefusalBehavior } from '../../ledger/workspaces.js';
import { waitWorkspace } from '../../ledger/workspaces.js';
import { ApiError } from '../../pigeonhole/api-error.js';
import { countToSend, maxUnknowns, type Answer, settleAnswer } from './settle-answer.js';
import type { Settlement } from '../../ledger/imports/settle-chunk.js';
import type { Collaborators } from '../../cycles/collaborators.js';
import { isRequestFailure, pauseForKey } from '../../requests/failures.js';
import { type ImportVerdict, judgeImportFailure } from './judge-import-failure.js';
import { LeaseWatch, whileHeld } from '../../base/lease.js';
import { PermitRefusal } from '../../requests/quota-rules.js';

/** The reason why sending stopped. */
type Halt = NothingStarted | { readonly kind: 'waits'; readonly reason: string; readonly waitMs: number };

interface SenderFacts {
  /** Consecutive failures of the import when the cycle started. */
  readonly failures: number;
  /** Consecutive waits of the workspace and their reason when the cycle started. */
  readonly workspaceWait: { readonly reason: string; readonly count: number } | null;
  readonly refusalBehavior: RefusalBehavior;
}

/** Sends the chunks of one import. Several loops run at the same time and share what they learn about the service. */
export class ImportSender {
  /** Number of settled rows. */
  rows = 0;
  /** Number of requests made. */
  requests = 0;
  /** Whether the service has created or refused registrants, which shows that it accepts the key and the request rate. */
  hasAnswer = false;
  halt: Halt | undefined;
  #failures: number;
  #indexBase: 0 | 1 | null;
  #refusesWhole: boolean;
  readonly #watch: LeaseWatch;

  constructor(
    private readonly deps: Collaborators,
    private readonly lease: ImportLease,
    private readonly facts: SenderFacts,
    private readonly signal: AbortSignal,
  ) {
    this.#failures = facts.failures;
    this.#indexBase = facts.refusalBehavior.indexBase;
    this.#refusesWhole = facts.refusalBehavior.refusesWhole;
    this.#watch = new LeaseWatch(() => confirmImport(deps.ledger, lease), deps.clocks);
  }

  /** Sends one chunk after another until nothing is due, something stops the import, or `shouldContinue` returns false. */
  async loop(shouldContinue: () => boolean): Promise<void> {
    let begun: StartedChunk | NothingStarted | undefined;
    while (begun !== undefined || (this.halt === undefined && shouldContinue())) {
      begun ??= await beginChunk(this.deps.ledger, this.lease, countToSend);
      if ('kind' in begun) {
        if (begun.kind === 'stop') this.halt = begun;
        return;
      }
      begun = await this.#send(begun, shouldContinue);
    }
  }

  /** @returns the next chunk, or why there is none; undefined if the settlement did not look for one */
  async #send(chunk: StartedChunk, shouldContinue: () => boolean): Promise<StartedChunk | NothingStarted | undefined> {
    const { deps, lease } = this;
    let requestId: string | null;
    try {
      ({ requestId } = await deps.gate.request(
        deps,
        { workspace: lease.workspace, priority: 'import' },
        // The permit or a connection may have taken a long time, or the machine may have been suspended.
        async (client) =>
          await whileHeld(
            () => this.#watch.confirm(),
            () => client.createRegistrants(lease.pigeonholeId, chunk.elements, { signal: this.signal }),
          ),
        ({ quota }) => quota,
      ));
    } catch (error) {
      if (!isRequestFailure(error)) throw error;
      await this.#failed(chunk, error);
      return undefined;
    }
    this.requests += 1;
    this.hasAnswer = true;
    const { id, workspace, pigeonholeId: pigeonhole } = lease;
    deps.log.info({ import: id, workspace, pigeonhole, rows: chunk.count, requestId }, 'registrants created');
    const beginsNext = this.halt === undefined && shouldContinue();
    return await this.#settle(chunk, { kind: 'created' }, { requestId }, beginsNext);
  }

  /** Settles a chunk that an earlier attempt was sending. The service may or may not have received it. */
  async settleLeftover(chunk: StartedChunk): Promise<void> {
    await this.#settle(chunk, { kind: 'unheard' }, {});
  }

  async #failed(chunk: StartedChunk, error: ApiError | PermitRefusal): Promise<void> {
    const { deps, lease } = this;
    const waitReason = error instanceof PermitRefusal ? 'quota' : error.kind;
    const workspaceWaits = this.facts.workspaceWait?.reason === waitReason ? this.facts.workspaceWait.count : 0;
    const verdict = judgeImportFailure(
      error,
      { count: chunk.count, indexBase: this.#indexBase },
      { failures: this.#failures, workspaceWaits },
      { now: deps.ledger.clock.nowMs(), random: Math.random() },
    );
    if (!(error instanceof PermitRefusal)) this.requests += 1;
    const line = {
      import: lease.id,
      workspace: lease.workspace,
      pigeonhole: lease.pigeonholeId,
      rows: chunk.count,
      ...(error instanceof PermitRefusal
        ? { kind: error.reason }
        : { kind: error.kind, code: error.code, requestId: error.requestId }),
    };
    if (verdict.affects === 'rows') {
      await this.#settleFailure(chunk, verdict, error, line);
      return;
    }
    await this.#settle(chunk, { kind: 'failed' }, { unspent: verdict.affects !== 'import' });
    if (verdict.affects === 'request') {
      this.halt ??= { kind: 'waits', reason: 'quota', waitMs: verdict.waitMs };
    } else if (verdict.affects === 'workspace') {
      const { reason, waitMs } = verdict;
      await waitWorkspace(deps.ledger, lease.workspace, { reason, waitMs, count: workspaceWaits + 1 });
      if (reason === 'credential') await pauseForKey(deps, lease.workspace, error.message);
      if (this.halt === undefined) deps.log.warn({ ...line, waitMs }, `workspace waits: ${reason}`);
      this.halt ??= { kind: 'waits', reason, waitMs };
    } else {
      const { cause, detail } = verdict;
      await pause(deps.ledger, {
        scope: 'import',
        name: lease.id,
        pausedBy: 'cause',
        cause,
        detail,
        fingerprint: null,
      });
      deps.log.warn({ ...line, cause }, 'import paused');
      this.halt ??= { kind: 'stop', why: 'paused' };
    }
  }

  async #settleFailure(
    chunk: StartedChunk,
    verdict: Extract<ImportVerdict, { affects: 'rows' }>,
    error: ApiError | PermitRefusal,
    line: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    const { answer, indexBase, retryInMs } = verdict;
    const requestId = error instanceof ApiError ? error.requestId : null;
    if (indexBase !== null) this.#indexBase = indexBase;
    if (answer.kind === 'refused' || answer.kind === 'tooMany') {
      this.#failures = 0;
      this.hasAnswer = true;
      this.deps.log.info(line, 'registrants refused');
    } else {
      this.#failures += 1;
      this.deps.log.warn({ ...line, error: error.message }, 'no answer for registrants');
    }
    const failing = retryInMs === null ? null : { retryInMs, detail: error.message };
    if (answer.kind === 'unknown' && chunk.count === 1 && chunk.piece.unknowns + 1 >= maxUnknowns) {
      if (await this.#serviceAnswers()) return await this.#giveUp(chunk, requestId);
    }
    await this.#settle(chunk, answer, { requestId, indexBase, failing });
  }

  /** Whether the service answers another request. If it does, the row is the problem and not the service. */
  async #serviceAnswers(): Promise<boolean> {
    const { deps, lease } = this;
    try {
      await deps.gate.pigeonhole(
        deps,
        { workspace: lease.workspace, priority: 'import' },
        lease.pigeonholeId,
        this.signal,
      );
      return true;
    } catch (error) {
      if (isRequestFailure(error)) return false;
      throw error;
    }
  }

  async #giveUp(chunk: StartedChunk, requestId: string | null): Promise<void> {
    const message = `the service did not answer ${maxUnknowns} requests with this row only: look it up in the dashboard`;
    const complaints = { named: new Map(), nameless: [], tooMany: false, indexBase: null, candidates: [] };
    const rest = settleAnswer(chunk.piece, this.#aboutRequest(chunk), { kind: 'refused', complaints });
    const row = { index: 0, outcome: 'unknown', field: null, message, origin: null, sent: null } as const;
    await this.#store(chunk, { ...rest, rows: [row] }, { requestId });
  }

  async #settle(
    chunk: StartedChunk,
    answer: Answer,
    about: Partial<ChunkSettlement>,
    beginsNext = false,
  ): Promise<StartedChunk | NothingStarted | undefined> {
    if (answer.kind === 'created') this.#failures = 0;
    return await this.#store(chunk, settleAnswer(chunk.piece, this.#aboutRequest(chunk), answer), about, beginsNext);
  }

  #aboutRequest({ count, request }: StartedChunk): { count: number; request: number; refusesWhole: boolean } {
    return { count, request, refusesWhole: this.#refusesWhole };
  }

  async #store(
    chunk: StartedChunk,
    settlement: Settlement,
    about: Partial<ChunkSettlement>,
    beginsNext = false,
  ): Promise<StartedChunk | NothingStarted | undefined> {
    this.#refusesWhole ||= settlement.refusesWhole;
    const all = { requestId: null, indexBase: null, failing: null, unspent: false, ...settlement, ...about };
    const begun = await settleChunk(this.deps.ledger, this.lease, chunk, {
      settlement: all,
      count: beginsNext ? countToSend : null,
    });
    const created = settlement.pieces.reduce((sum, piece) => sum + (piece.created ? piece.rows : 0), 0);
    this.rows += created + settlement.rows.length;
    return begun;
  }
}
