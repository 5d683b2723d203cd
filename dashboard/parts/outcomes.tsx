import type { AnswerAt } from '../../api/routes.js';
import { useAsked } from '../asking/use-asked.js';
import { counted, grouped } from '../../base/words.js';
import { AwaitAnswer, Panel } from './panel.js';
import { StateWord } from './state-word.js';
import type { Tone } from '../words.js';
import { Table } from './table.js';

type Outcome = AnswerAt<'get', '/api/sinks/{name}/outcomes'>['outcomes'][number];

/** Changes that were not sent, or not yet, with the reason. */
export function Outcomes({ sink }: { readonly sink: string }) {
  const asked = useAsked('/api/sinks/{name}/outcomes', { params: { name: sink } }, 4000);
  const withheld = asked.data?.outcomes.filter(({ state }) => state === 'withheld') ?? [];
  const all = withheld.reduce((sum, { changes }) => sum + changes, 0);
  return (
    <Panel
      title="Not sent, or not yet"
      id="outcomes"
      aside={asked.data === undefined ? undefined : `${counted(all, 'change')} withheld`}
    >
      <AwaitAnswer asked={asked} lines={3}>
        {({ outcomes }) => <Rows outcomes={outcomes} />}
      </AwaitAnswer>
    </Panel>
  );
}

const states: Readonly<Record<Outcome['state'], readonly [Tone, string]>> = {
  waiting: ['busy', 'queued'],
  sending: ['busy', 'being sent'],
  retry: ['warning', 'will be retried'],
  withheld: ['quiet', 'withheld'],
  dead: ['bad', 'dead letter'],
};

function Rows({ outcomes }: { readonly outcomes: readonly Outcome[] }) {
  if (outcomes.length === 0) return <p class="empty">All changes have been sent.</p>;
  return (
    <Table columns={{ List: '', State: '', Changes: 'number' }}>
      {outcomes.map(({ list, state, reason, words, changes }) => (
        <tr key={`${list} ${state} ${reason}`}>
          <th scope="row">{list}</th>
          <td>
            <StateWord tone={states[state][0]}>{states[state][1]}</StateWord>
            {reason === null ? null : <small class="why">{words ?? reason}</small>}
          </td>
          <td class="number">{grouped(changes)}</td>
        </tr>
      ))}
    </Table>
  );
}
