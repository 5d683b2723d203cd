import { useState } from 'preact/hooks';
import type { ConfigurationPlan } from '../../operations/configuration-plan.js';
import { carryOut, askPerson } from '../asking/act.js';
import { post, refusalOf } from '../asking/ask.js';
import { useMay } from '../asking/page-state.js';
import { useAsked } from '../asking/use-asked.js';
import { ConfigurationHistory } from '../parts/configuration-history.js';
import { Button } from '../parts/controls.js';
import { Drafts } from '../parts/drafts.js';
import { PageHead, Panel } from '../parts/panel.js';
import { Sections } from '../parts/sections.js';
import {
  causedByWords,
  reasonWords,
  sentByPlan,
  unsentWords,
  withheldByPlan,
  withholdingWords,
} from '../../sinks/reason-words.js';
import { counted, grouped } from '../../base/words.js';
import { address } from '../route.js';
import { capitalized } from '../words.js';

/**
 * Compares the configuration file with the running configuration and applies it, and shows earlier configurations. The file
 * is edited on the machine where pigeonpost runs.
 */
export function Configuration() {
  const overview = useAsked('/api/overview', {}, 5000);
  const [plan, setPlan] = useState<ConfigurationPlan | null>(null);
  const [refused, setRefused] = useState<string | null>(null);
  const mayOperate = useMay('operate');
  const mayApply = useMay('administer');
  const compare = async (): Promise<void> => {
    try {
      setPlan(await post('/api/configuration/plan', { json: {} }, { patienceMs: 120_000 }));
      setRefused(null);
    } catch (error) {
      setPlan(null);
      setRefused(refusalOf(error, 'the comparison failed'));
    }
  };
  const apply = async (): Promise<void> => {
    const sends = plan === null ? null : sentByPlan(plan.deliveries);
    const given = await askPerson({
      title: 'Apply the file?',
      body: [
        'The file becomes the running configuration, without a restart.',
        ...(sends === null ? [] : [`It sends ${sends} to sinks.`]),
        ...withheldByPlan(plan?.withholding ?? []),
      ].join(' '),
      confirm: 'Apply',
    });
    if (given === null) return;
    const applied = await carryOut(
      () => post('/api/configuration/apply', { json: {} }, { patienceMs: 120_000 }),
      ({ changed, number }) =>
        changed ? `configuration ${number} is running` : 'nothing to apply: the file is the running configuration',
    );
    if (applied !== undefined) setPlan(null);
  };
  return (
    <>
      <Sections current={address.configuration} />
      <PageHead
        kind="Installation"
        title={
          overview.data === undefined ? 'Configuration' : `Configuration ${overview.data.configuration} is running`
        }
        note={[
          'Edit pigeonpost.yaml on the machine where pigeonpost runs, compare it here with the running configuration, then apply it.',
        ]}
      >
        {mayOperate ? <Button onPress={compare}>Compare with the file</Button> : null}
        {mayApply && plan !== null ? (
          <Button look="main" onPress={apply}>
            Apply the file…
          </Button>
        ) : null}
      </PageHead>
      <div aria-live="polite">
        {refused === null ? null : <pre class="code refused">{capitalized(refused)}</pre>}
        {plan === null ? null : <Plan plan={plan} />}
      </div>
      <Drafts />
      {mayOperate ? <ConfigurationHistory /> : null}
    </>
  );
}

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
