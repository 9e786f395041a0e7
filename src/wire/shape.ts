/**
 * A shape that is made when somebody first asks for it, and then kept: there are some two thousand here, and a
 * process meets few. What several operations share is declared so, and what an operation takes and answers.
 */

/*@__NO_SIDE_EFFECTS__*/
export function shape<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
