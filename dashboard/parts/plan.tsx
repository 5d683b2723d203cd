import type { ConfigurationPlan } from '../../operations/configuration-plan.js';
import { counted, grouped } from '../../base/words.js';
import { causedByWords, reasonWords, unsentWords, withholdingWords } from '../../sinks/reason-words.js';
import { capitalized } from '../words.js';
import { Panel } from './panel.js';

/** The differences between a file or a draft and the running configuration, and what applying it would do. */
export function Plan({ plan }: { readonly plan: ConfigurationPlan }) {
  const { changes, pigeonholes, deliveries, withholding, kept, atNextStart, warnings } = plan;
  const isSame = changes.length === 0 && atNextStart.length === 0;
  return (
    <Panel title={isSame ? 'The file matches the running configuration' : 'Changes in the file'} id="plan">
      <div class="inside">
        {warnings.map((warning) => (
          <p key={warning} class="refused">
            {warning}
          </p>
        ))}
        {withholding.map(({ sink, list, problem }) =>
          problem === null ? null : (
            <p key={`${sink} ${list}`} class="refused">
              Sink {sink}: {problem}
            </p>
          ),
        )}
        <ul class="changes">
          {changes.map(({ kind, what, name, keys, note }) => (
            <li key={`${what} ${name}`}>
              <b>
                {capitalized(what)} {name}
              </b>{' '}
              is {kind}
              {note === null ? '' : `: ${note}`}
              {keys.length === 0 ? null : (
                <ul>
                  {keys.map(({ key, from, to }) => (
                    <li key={key}>
                      <code>{key}</code> {from === undefined ? '' : `from ${from} `}
                      {to === undefined ? '' : `to ${to}`}
                    </li>
                  ))}
                </ul>
              )}
            </li>
          ))}
          {pigeonholes.map(({ sync, added, removed, unread }) => (
            <li key={`selection ${sync}`}>
              <b>Sync {sync}</b> starts reading {counted(added.length, 'pigeonhole')}
              {unread > 0 ? ` (${grouped(unread)} never read before)` : ''} and stops reading {grouped(removed.length)}
            </li>
          ))}
          {deliveries.map(({ sink, list, cause, reason, changes: n, withheld, failed, observed, estimated }) => (
            <li key={`delivery ${sink} ${list} ${cause} ${reason ?? ''}`}>
              <b>Sink {sink}</b> {observed ? 'would receive' : 'will receive'} {estimated ? 'about ' : ''}
              {[
                `${counted(n, 'change')}${cause === 'observed' ? '' : ` of ${list}`}`,
                ...unsentWords({ withheld, failed }),
              ].join(', ')}{' '}
              ({causedByWords({ cause, reason })})
            </li>
          ))}
          {withholding.map((each) =>
            each.problem !== null ? null : (
              <li key={`withholding ${each.sink} ${each.list}`}>
                <b>Sink {each.sink}</b>: the mapping {withholdingWords(each)}
              </li>
            ),
          )}
          {kept.map(({ sink, list, items, reason }) => (
            <li key={`kept ${sink} ${list} ${reason}`}>
              <b>Sink {sink}</b> keeps {counted(items, 'item')} of {list} but receives no further changes to them (
              {reasonWords(reason)})
            </li>
          ))}
          {atNextStart.map((key) => (
            <li key={key}>
              <code>{key}</code> takes effect at the next start
            </li>
          ))}
        </ul>
      </div>
    </Panel>
  );
}
