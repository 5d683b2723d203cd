import { placeNamed } from './place-named.js';

describe('the place of a pigeonhole', () => {
  it.each([
    ['101', ['acme'], { workspace: 'acme', id: '101' }],
    ['pigeonhole:acme/101', ['acme', 'other'], { workspace: 'acme', id: '101' }],
  ])('of %s among %s is found', (word, workspaces, place) => {
    expect(placeNamed(word, workspaces)).toEqual(place);
  });

  it('is not guessed where there are several workspaces', () => {
    expect(() => placeNamed('101', ['acme', 'other'])).toThrow('write WORKSPACE/101: there are workspaces acme, other');
  });
});
