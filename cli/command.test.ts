import { parseFullPigeonhole } from './command.js';

describe('a pigeonhole on the command line', () => {
  it.each([
    ['101', ['acme'], { workspace: 'acme', id: '101' }],
    ['pigeonhole:acme/101', ['acme', 'other'], { workspace: 'acme', id: '101' }],
  ])('is found from %s if the workspaces are %s', async (word, workspaces, place) => {
    expect(await parseFullPigeonhole(word, workspaces)).toEqual(place);
  });

  it('needs a workspace if there are several', async () => {
    await expect(parseFullPigeonhole('101', ['acme', 'other'])).rejects.toThrow(
      'give WORKSPACE/101; the workspaces are acme, other',
    );
  });
});
