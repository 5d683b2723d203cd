/** One direction of one association between two records. */
export interface Association {
  readonly fromType: string;
  readonly fromId: string;
  readonly toType: string;
  readonly toId: string;
  readonly category: 'HUBSPOT_DEFINED' | 'USER_DEFINED';
  readonly typeId: number;
}

/** Associations of records. Creating one again changes nothing; both ends see each. */
export class Associations {
  private readonly made = new Map<string, Association>();

  add(association: Association): void {
    this.made.set(keyOf(association), association);
  }

  /** As seen from one record, whichever end it was made from. */
  of(type: string, id: string, otherType: string): { toId: string; category: string; typeId: number }[] {
    return [...this.made.values()].flatMap(({ fromType, fromId, toType, toId, category, typeId }) => {
      if (fromType === type && fromId === id && toType === otherType) return [{ toId, category, typeId }];
      if (toType === type && toId === id && fromType === otherType) return [{ toId: fromId, category, typeId }];
      return [];
    });
  }

  /** Removes all between two records. */
  removeBetween(type: string, id: string, otherType: string, otherId: string): void {
    for (const [key, { fromType, fromId, toType, toId }] of this.made) {
      const forwards = fromType === type && fromId === id && toType === otherType && toId === otherId;
      const backwards = toType === type && toId === id && fromType === otherType && fromId === otherId;
      if (forwards || backwards) this.made.delete(key);
    }
  }

  removeAllOf(type: string, id: string): void {
    for (const [key, { fromType, fromId, toType, toId }] of this.made) {
      if ((fromType === type && fromId === id) || (toType === type && toId === id)) this.made.delete(key);
    }
  }

  all(): Association[] {
    return [...this.made.values()];
  }
}

function keyOf({ fromType, fromId, toType, toId, typeId }: Association): string {
  return [fromType, fromId, toType, toId, typeId].join(' ');
}
