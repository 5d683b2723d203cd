import type { ComponentChildren } from 'preact';
import { caller, useStore } from '../asking/page-state.js';
import { Panel } from './panel.js';

interface Props {
  /** The way to what the caller may see instead. */
  readonly instead: ComponentChildren;
  readonly children: ComponentChildren;
}

/** Shows content about people to callers who may see people, and to others why it is not shown. */
export function OnlyForPeople({ instead, children }: Props) {
  const me = useStore(caller);
  if (me === null) return null;
  if (me.rights.includes('personal')) return <>{children}</>;
  return (
    <Panel title="People are not shown" id="not-shown">
      <p>
        Your {me.roles.length === 1 ? `role ${me.roles[0]!} does` : 'roles do'} not show names, addresses and texts of
        people. The roles <b>privacy</b> and <b>admin</b> do; an administrator grants them with{' '}
        <code>pigeonpost token create NAME --role privacy</code>.
      </p>
      <p>{instead}</p>
    </Panel>
  );
}
