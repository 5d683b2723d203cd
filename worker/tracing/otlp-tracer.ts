import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import type { SpanAttributes, Tracer } from '../../base/tracer.js';

/** A span that has ended. */
export interface EndedSpan {
  /** 16 bytes, as hexadecimal. */
  readonly traceId: string;
  /** 8 bytes, as hexadecimal. */
  readonly spanId: string;
  readonly parentSpanId: string | null;
  readonly name: string;
  /** Unix time in milliseconds. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: SpanAttributes;
  /** The kind of failure, such as the class of an error; null: it went well. */
  readonly failure: string | null;
}

/** Makes spans of what runs, and hands each over when it ends. Of an error only its class is kept: messages are not ours to send. */
export class OtlpTracer implements Tracer {
  readonly #running = new AsyncLocalStorage<Pick<EndedSpan, 'traceId' | 'spanId'>>();

  /** @param now Unix time in milliseconds */
  constructor(
    private readonly onEnded: (span: EndedSpan) => void,
    private readonly now: () => number = Date.now,
  ) {}

  async span<Result>(name: string, attributes: SpanAttributes, work: () => Promise<Result>): Promise<Result> {
    const identity = this.#identity();
    const startMs = this.now();
    const end = (failure: string | null): void =>
      this.onEnded({ ...identity, name, startMs, endMs: this.now(), attributes, failure });
    try {
      const result = await this.#running.run(identity, work);
      end(null);
      return result;
    } catch (error) {
      end(error instanceof Error ? error.constructor.name : 'unknown');
      throw error;
    }
  }

  ended(name: string, attributes: SpanAttributes, took: { durationMs: number; failure: string | null }): void {
    const endMs = this.now();
    const { durationMs, failure } = took;
    this.onEnded({ ...this.#identity(), name, startMs: endMs - durationMs, endMs, attributes, failure });
  }

  #identity(): Pick<EndedSpan, 'traceId' | 'spanId' | 'parentSpanId'> {
    const parent = this.#running.getStore();
    const traceId = parent?.traceId ?? randomBytes(16).toString('hex');
    return { traceId, spanId: randomBytes(8).toString('hex'), parentSpanId: parent?.spanId ?? null };
  }
}
