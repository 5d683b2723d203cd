import { serviceLists, serviceTraits } from '../../base/lists.js';
import { isListName, LISTS } from '../../sandbox/list-name.js';

// The two tables are written apart from each other, so that one shows a misreading in the other.
describe('the lists of the sandbox', () => {
  it.each(serviceLists)('include %s as the client reads it', (list) => {
    const name: string = list;
    if (!isListName(name)) throw new Error(`sandbox/list-name.ts lacks the list ${name}`);
    const { of, filters, perSession, idWithin, hasIds } = serviceTraits[list];
    const { of: owner, filters: documented, needsSession, idWithin: member, hasIds: showsIds } = LISTS[name];
    expect({ owner, documented, needsSession, member, showsIds }).toEqual({
      owner: of,
      documented: filters,
      needsSession: perSession !== null,
      member: idWithin,
      showsIds: hasIds,
    });
  });
});
