import { useEffect, useRef, useState } from 'preact/hooks';
import { connection, noteReached, storeToken } from '../asking/connection.js';
import { useStore } from '../asking/store.js';
import { askAgain } from '../asking/use-asked.js';

/** Prompts for a token when the API requires one. Cannot be closed: without a token there is nothing to show. */
export function TokenDialog() {
  const now = useStore(connection);
  const dialog = useRef<HTMLDialogElement>(null);
  const [token, setToken] = useState('');
  const wanted = now.state === 'token';
  useEffect(() => {
    if (wanted) dialog.current?.showModal();
    else dialog.current?.close();
  }, [wanted]);
  const present = (event: Event): void => {
    event.preventDefault();
    storeToken(token.trim());
    setToken('');
    noteReached();
    askAgain();
  };
  return (
    <dialog ref={dialog} aria-labelledby="token-title" onCancel={(event) => event.preventDefault()}>
      {!wanted ? null : (
        <form onSubmit={present}>
          <h2 id="token-title">Sign in</h2>
          <p class="body">
            Run <code>pigeonpost open</code> where pigeonpost runs to get a link that signs this browser in. Or enter a
            token, which an administrator creates with <code>pigeonpost token create NAME --role viewer</code>. The
            token is kept until you close this tab.
          </p>
          <label>
            Token
            <input
              type="password"
              autocomplete="off"
              spellcheck={false}
              required
              value={token}
              aria-describedby="token-refused"
              onInput={(event) => setToken(event.currentTarget.value)}
            />
          </label>
          <p id="token-refused" class="bad" role="status">
            {now.refused ? 'This token is invalid, expired or revoked. Try another one.' : ''}
          </p>
          <div class="actions">
            <button type="submit" class="main">
              Sign in
            </button>
          </div>
        </form>
      )}
    </dialog>
  );
}
