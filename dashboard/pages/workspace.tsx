import { untilWords } from '../../base/reading-words.js';
import { useAsked } from '../asking/use-asked.js';
import { PageHead } from '../parts/panel.js';
import { PauseButton, ReadButtons } from '../parts/button.js';
import { PigeonholeTable } from '../parts/pigeonhole-table.js';
import { QuotaPanel } from '../parts/quota-panel.js';
import { ReadingState } from '../parts/state-word.js';
import { Ago } from '../parts/time.js';
import { Troubles } from '../parts/troubles.js';
import { capitalized } from '../words.js';

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
        <p class="refused">{capitalized(problem.message)}.</p>
      </>
    );
  }
  if (data !== undefined && workspace === undefined) {
    return <PageHead kind="Workspace" title={name} note="No workspace with this name is configured." />;
  }
  const next = workspace === undefined ? null : untilWords(workspace);
  return (
    <>
      <PageHead
        kind="Workspace"
        title={name}
        note={
          workspace === undefined ? (
            ' '
          ) : (
            <>
              <ReadingState
                state={workspace.state}
                troubles={troubles}
                isCatchingUp={workspace.pigeonholes.some(({ freshness }) => freshness.catchingUp)}
              />
              {workspace.reason === null ? null : ` · ${workspace.reason}`}
              {next === null ? null : (
                <>
                  {' '}
                  · {next} <Ago at={workspace.until} />
                </>
              )}
            </>
          )
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
