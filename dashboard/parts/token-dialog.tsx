import { useEffect, useRef, useState } from 'preact/hooks';
import { connection, noteReached, storeToken } from '../asking/connection.js';
import { useStore } from '../asking/store.js';
import { askAgain } from '../asking/use-asked.js';

/** Asks for a token when the API does. There is nothing to see without one, so it cannot be closed. */
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
          <h2 id="token-title">Your token</h2>
          <p class="body">
            This browser is not signed in. Where pigeonpost runs, <code>pigeonpost open</code> prints a link that signs
            it in. Or enter a token, which an administrator creates with{' '}
            <code>pigeonpost token create NAME --role viewer</code>. It is kept until you close this tab.
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
            {now.refused ? 'That token is not valid, or no longer. Try another one.' : ''}
          </p>
          <div class="actions">
            <button type="submit" class="main">
              Go on
            </button>
          </div>
        </form>
      )}
    </dialog>
  );
}
