import { act, notices } from './act.js';
import { post } from './ask.js';

// The package is an ES module, which Jest cannot load. The code under test renders nothing.
jest.mock('preact/hooks', () => ({}));
jest.mock('./ask.js', () => ({ post: jest.fn(), Problem: Error }));

beforeEach(() => {
  jest.useFakeTimers();
  notices.set([]);
});
afterEach(() => {
  jest.useRealTimers();
});

const shown = (): unknown => notices.value.map(({ kind, text }) => [kind, text]);

describe('the notice after an action', () => {
  it('says what is done', async () => {
    jest.mocked(post).mockResolvedValue({ done: true });
    await act({ do: 'resume', kind: 'sink', name: 'hooks' });
    expect(shown()).toEqual([['done', 'sink hooks continues']]);
  });

  it('shows the note of the API if there was nothing to do', async () => {
    const note = 'sink hooks was not paused. To end a wait, run "pigeonpost try-now sink:hooks"';
    jest.mocked(post).mockResolvedValue({ done: true, note });
    await act({ do: 'resume', kind: 'sink', name: 'hooks' });
    expect(shown()).toEqual([['done', note]]);
  });
});
