import { filledAddress } from './filled-address.js';

describe('an address of the API', () => {
  it('contains its parameters in encoded form', () => {
    expect(filledAddress('/api/items/{workspace}/{id}', { params: { workspace: 'a/b?', id: 7 } })).toBe(
      '/api/items/a%2Fb%3F/7',
    );
  });

  it('contains only the query parameters that have a value, even an empty one', () => {
    const query = { limit: 5, after: undefined, counts: '', key: 'a&b' };
    expect(filledAddress('/api/why', { query })).toBe('/api/why?limit=5&counts=&key=a%26b');
    expect(filledAddress('/api/why', { query: { after: undefined } })).toBe('/api/why');
  });
});
