import { connection } from '../asking/connection.js';
import { useStore } from '../asking/store.js';
import { For } from './time.js';

/** Says that what is shown is old, at the edge, so that nothing moves. It goes away by itself. */
export function ConnectionNote() {
  const now = useStore(connection);
  return (
    <div class="connection" role="status">
      {now.state === 'lost' ? (
        <p>
          <strong>pigeonpost does not answer</strong> for <For since={new Date(now.sinceMs).toISOString()} />: {now.why}
          . What you see is from before; it is asked again all the time.
        </p>
      ) : null}
    </div>
  );
}
