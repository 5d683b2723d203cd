import { useEffect, useRef, useState } from 'preact/hooks';
import { openQuestion } from '../asking/act.js';
import { useStore, connection, noteReached, storeToken } from '../asking/page-state.js';
import { askAgain } from '../asking/use-asked.js';
import { Field } from './controls.js';

/** Confirms an action. Escape and a click outside the dialog cancel. */
export function QuestionDialog() {
  const question = useStore(openQuestion);
  const dialog = useModal(question !== null);
  const [written, setWritten] = useState('');
  useEffect(() => setWritten(''), [question]);
  return (
    <dialog
      ref={dialog}
      aria-labelledby="question-title"
      onClose={() => openQuestion.value?.answer(null)}
      onClick={(event) => {
        if (event.target === dialog.current) openQuestion.value?.answer(null);
      }}
    >
      {question === null ? null : (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            question.answer(written.trim());
          }}
        >
          <h2 id="question-title">{question.title}</h2>
          <div class="body">{question.body}</div>
          {question.field === undefined ? null : (
            <Field
              label={question.field.label}
              value={written}
              maxLength={500}
              placeholder={question.field.hint}
              onText={setWritten}
            />
          )}
          <div class="actions">
            <button type="button" onClick={() => question.answer(null)}>
              Cancel
            </button>
            <button type="submit" class={question.grave === true ? 'grave' : 'main'}>
              {question.confirm}
            </button>
          </div>
        </form>
      )}
    </dialog>
  );
}

/** Asks for a token when the API requires one. Cannot be closed, because the page can show nothing without a token. */
export function TokenDialog() {
  const now = useStore(connection);
  const wanted = now.state === 'token';
  const dialog = useModal(wanted);
  const [token, setToken] = useState('');
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
          <p>
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

/** Opens and closes a dialog, in front of the rest of the page. */
export function useModal(isOpen: boolean) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (isOpen) dialog.current?.showModal();
    else dialog.current?.close();
  }, [isOpen]);
  return dialog;
}
