/**
 * Threads told a second time: to which one a message belongs. What is said without a reply in a turn
 * belongs to what the turn was begun for. Only what managed agents may hear is followed.
 */
export interface ThreadModel {
  /** `causes`: what it replies to, or what the turn it was said in was begun for. */
  hear(position: number, causes: readonly number[], isPerson: boolean): void;
  rootOf(position: number): number;
  /** How far from a person's word. */
  hopsOf(position: number): number;
}

export function createThreadModel(): ThreadModel {
  const places = new Map<number, { readonly root: number; readonly hops: number }>();
  const lastPerson = new Map<number, number>();
  return {
    hear(position, causes, isPerson) {
      let place = { root: position, hops: -1 };
      for (const cause of causes) {
        const { root, hops } = places.get(cause) ?? { root: cause, hops: 0 };
        const far = (lastPerson.get(root) ?? -1) > cause ? 1 : hops + 1;
        if (far > place.hops) place = { root, hops: far };
      }
      places.set(position, { root: place.root, hops: isPerson ? 0 : Math.max(0, place.hops) });
      if (isPerson) lastPerson.set(place.root, position);
    },
    rootOf: (position) => places.get(position)?.root ?? position,
    hopsOf: (position) => places.get(position)?.hops ?? 0,
  };
}
