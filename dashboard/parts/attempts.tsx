import { useEffect, useState } from 'preact/hooks';
import type { AttemptView, FullAttemptView } from '../../api/deliveries.js';
import { grouped } from '../../base/words.js';
import { get, refusalOf } from '../asking/ask.js';
import { useMay } from '../asking/page-state.js';
import { useAsked } from '../asking/use-asked.js';
import { AwaitAnswer, namedItemLink, Refusal } from './panel.js';
import { Button } from './controls.js';
import { StateWord } from './states.js';
import { Clock, Sentence } from './time.js';
import type { ToneAndWord } from '../words.js';

/** The outcomes of an attempt in words. */
export const attemptWords: Readonly<Record<AttemptView['outcome'], ToneAndWord>> = {
  delivered: ['good', 'delivered'],
  retry: ['warning', 'failed, retried later'],
  rejected: ['bad', 'refused'],
  unknown: ['warning', 'outcome unknown'],
  pause: ['bad', 'stopped the sink'],
};

/** Returns how long an attempt took: `312 ms`, `2.1 s`. Pure. */
export function durationText(ms: number): string {
  return ms < 1000 ? `${grouped(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

interface Delivery {
  readonly sink: string;
  readonly workspace: string;
  readonly pigeonholeId: number;
  readonly sequence: number;
  readonly replay: number;
}

interface Props {
  readonly delivery: Delivery;
  /** Set if the item is not named beside it. */
  readonly namesItem?: boolean;
}

/** All attempts at one delivery, the newest first, with what was sent and answered. */
export function AttemptsOf({ delivery, namesItem = false }: Props) {
  const { sink, workspace, pigeonholeId, sequence, replay } = delivery;
  const query = {
    sink,
    pigeonhole: `${workspace}/${pigeonholeId}`,
    sequence: String(sequence),
    limit: 50,
  };
  const asked = useAsked('/api/attempts', { query });
  return (
    <AwaitAnswer asked={asked} lines={3}>
      {({ items }) => {
        const own = items.filter((each) => each.replay === replay);
        return own.length === 0 ? (
          <p class="dim">
            The log has no attempt at this change. It keeps every failed attempt, and of those that succeeded the last,
            for the time that <code>retention.attempts</code> sets. The preview of the sink shows what is sent.
          </p>
        ) : (
          <>
            {namesItem ? <p>{namedItemLink(own[0]!)}</p> : null}
            <ol class="attempts" aria-label="Attempts, the newest first">
              {own.map((each, at) => (
                <OneAttempt key={each.number} attempt={each} isNewest={at === 0} />
              ))}
            </ol>
          </>
        );
      }}
    </AwaitAnswer>
  );
}

interface OneProps {
  readonly attempt: AttemptView;
  readonly isNewest: boolean;
}

function OneAttempt({ attempt, isNewest }: OneProps) {
  const { outcome, at, durationMs, status, requestId, detail, hasContent, cause } = attempt;
  const [shown, setShown] = useState<FullAttemptView | null>(null);
  const [refused, setRefused] = useState<string | null>(null);
  const maySeePeople = useMay('personal');
  useEffect(() => setShown(null), [attempt.number]);
  const show = async (): Promise<void> => {
    try {
      const params = { number: String(attempt.number) };
      setShown(await get('/api/attempts/{number}', { params, query: { personal: '1' } }));
    } catch (error) {
      setRefused(refusalOf(error, 'the attempt could not be read'));
    }
  };
  const content = shown?.content ?? null;
  return (
    <li>
      <p>
        <b>Try {attempt.try}</b> <StateWord of={attemptWords[outcome]} /> <Clock at={at} />
        <span class="dim">
          {' '}
          · {durationText(durationMs)}
          {status === null ? null : ` · HTTP ${status}`}
          {cause === null || cause === `http-${status}` ? null : (
            <>
              {' '}
              · <code>{cause}</code>
            </>
          )}
          {requestId === null ? null : (
            <>
              {' '}
              · request ID <code>{requestId}</code>
            </>
          )}
        </span>
      </p>
      {detail === null || detail === `HTTP ${status}` ? null : (
        <p class="dim">
          <Sentence text={detail} />
        </p>
      )}
      {refused === null ? null : <Refusal text={refused} />}
      {content !== null ? (
        <Content content={content} />
      ) : !hasContent || shown !== null ? (
        <p class="dim">What was sent and answered is not stored.</p>
      ) : maySeePeople ? (
        <Button look={isNewest ? 'main' : 'plain'} onPress={show}>
          Show request and answer (audited)
        </Button>
      ) : (
        <p class="dim">The roles privacy and admin see what was sent and answered.</p>
      )}
    </li>
  );
}

function Content({ content }: { readonly content: NonNullable<FullAttemptView['content']> }) {
  const { requests, calls, furtherCalls } = content;
  return (
    <div class="exchange">
      <section aria-label="Request">
        <h4>Request</h4>
        {requests.length === 0 ? <p class="dim">The sink shows none.</p> : null}
        {requests.map(({ method, address, body, cut }, at) => (
          <div key={at}>
            <p>
              <b>{method}</b> <code>{address}</code>
            </p>
            {body === null ? null : <Body text={body} cut={cut} />}
          </div>
        ))}
      </section>
      <section aria-label="Answer">
        <h4>Answer</h4>
        {calls.length === 0 ? <p class="dim">This sink makes no HTTP calls.</p> : null}
        {calls.map(({ method, address, status, requestId, durationMs, answer, shared }, at) => (
          <div key={at}>
            <p>
              <b>{status === null ? 'No answer' : `HTTP ${status}`}</b> {method} <code>{address}</code>
              <span class="dim">
                {' '}
                · {durationText(durationMs)}
                {requestId === null ? '' : ` · request ID ${requestId}`}
                {shared ? ' · carried other changes too' : ''}
              </span>
            </p>
            {answer === null || answer.body === '' ? null : <Body text={answer.body} cut={answer.cut} />}
            {answer?.body === '' ? <p class="dim">The answer has no body.</p> : null}
          </div>
        ))}
        {furtherCalls === 0 ? null : <p class="dim">and {grouped(furtherCalls)} more calls</p>}
      </section>
    </div>
  );
}

function Body({ text, cut }: { readonly text: string; readonly cut: boolean }) {
  return (
    <pre class="code" tabIndex={0}>
      {readable(text)}
      {cut ? '…' : ''}
    </pre>
  );
}

/** Returns JSON with a line for each member; any other text as it is. */
function readable(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
