import { carryOut } from '../asking/act.js';
import { post } from '../asking/ask.js';
import { caller, storeToken, useStore } from '../asking/page-state.js';

/** Shows on every page whose token this browser uses, so that nobody works in the name of another without noticing. */
export function SignedIn() {
  const now = useStore(caller);
  if (now === null) return null;
  const isAdministrator = now.name === 'local' || now.name === 'server.token';
  const roles = now.roles.join(', ');
  const where = now.workspace === null ? '' : `, only ${now.workspace}`;
  return (
    <div class="signed-in">
      <span title={`Token ${now.name}; roles: ${roles}${where}`}>
        <span class="unseen">Signed in as </span>
        <b>{isAdministrator ? 'administrator' : now.name}</b>
        {isAdministrator ? null : <span class="roles"> {`${roles}${where}`}</span>}
      </span>
      <button type="button" class="link" onClick={() => void signOut()}>
        Sign out
      </button>
    </div>
  );
}

/** Ends the session on the server, forgets a token that was entered, and discards everything that the page shows. */
async function signOut(): Promise<void> {
  const done = await carryOut(
    () => post('/api/sign-out', { json: {} }),
    () => 'Signed out',
  );
  if (done === undefined) return;
  storeToken(null);
  location.reload();
}
