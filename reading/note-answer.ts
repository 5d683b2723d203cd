import type { PageResult } from './record-page.js';
import type { Page } from '../pigeonhole/page.js';
import type { PageItems } from './to-items.js';
import { facts, type StreamReading } from './stream-reading.js';

/** What is to be told of a page once it is stored: to the turn, to the sinks that have something to do, to the log. */
export async function noteAnswer(
  reading: StreamReading,
  page: Page,
  seen: Pick<PageItems, 'unidentified' | 'foreign'> | null,
  result: PageResult,
): Promise<void> {
  const { to, turn } = reading;
  const { unidentified, foreign } = seen ?? { unidentified: 0, foreign: 0 };
  turn.created += result.created;
  turn.updated += result.updated;
  turn.deleted += result.deleted;
  turn.reviewsLeft ||= result.reviewsLeft;
  if (result.woken.length > 0) await to.orchestration.wakeSinks(result.woken);
  if (result.created + result.updated + result.deleted + unidentified + foreign + page.irregular.length > 0) {
    to.log.info(
      {
        ...facts(reading),
        requestId: page.requestId,
        items: page.items.length,
        created: result.created,
        updated: result.updated,
        deleted: result.deleted,
        unidentified,
        foreign,
        irregular: page.irregular.length,
      },
      'page stored',
    );
  }
}
