import { untilWords } from '../../base/reading-words.js';
import { useAsked } from '../asking/use-asked.js';
import { PageHead, Refusal } from '../parts/panel.js';
import { PauseButton, ReadButtons } from '../parts/controls.js';
import { PigeonholeTable } from '../parts/pigeonhole-table.js';
import { QuotaPanel } from '../parts/reading.js';
import { Troubles, StateWord } from '../parts/states.js';
import { Ago } from '../parts/time.js';
import { readingState } from '../words.js';

/** One workspace of the service: the quota of its API key and its pigeonholes. */
export function Workspace({ name }: { readonly name: string }) {
  const { data, problem } = useAsked('/api/status', {}, 4000);
  const overview = useAsked('/api/overview', {});
  const workspace = data?.workspaces.find((each) => each.name === name);
  const troubles = overview.data?.troubles.filter((each) => each.kind === 'workspace' && each.name === name) ?? [];
  if (problem !== undefined) {
    return (
      <>
        <PageHead kind="Workspace" title={name} />
        <Refusal text={problem.message} />
      </>
    );
  }
  if (data !== undefined && workspace === undefined) {
    return <PageHead kind="Workspace" title={name} note={['No workspace with this name is configured.']} />;
  }
  const next = workspace === undefined ? null : untilWords(workspace);
  const isCatchingUp = workspace?.pigeonholes.some(({ freshness }) => freshness.catchingUp) ?? false;
  return (
    <>
      <PageHead
        kind="Workspace"
        title={name}
        note={
          workspace === undefined
            ? []
            : [
                <StateWord of={readingState(workspace.state, troubles, isCatchingUp)} />,
                workspace.reason,
                next === null ? null : [`${next} `, <Ago at={workspace.until} />],
              ]
        }
      >
        <ReadButtons kind="workspace" name={name} />
        <PauseButton kind="workspace" name={name} paused={workspace?.pause != null} />
      </PageHead>
      <Troubles troubles={troubles} />
      <QuotaPanel workspace={name} />
      <PigeonholeTable workspace={name} />
    </>
  );
}
