import { expect, test } from 'vitest';
import { createIntake, type Incoming, type Intake, LARGE_BYTES, TURN_BYTES } from './intake.ts';

interface Rig {
  readonly intake: Intake;
  /** Who stopped and who went on, in order. */
  readonly said: string[];
  open(name: string, expected?: number): Incoming;
  /** The next turn of the event loop; false when nothing waits for it. */
  turn(): boolean;
}

function createRig(): Rig {
  const said: string[] = [];
  let later: (() => void) | null = null;
  const intake = createIntake((run) => {
    later = run;
  });
  return {
    intake,
    said,
    open: (name, expected) =>
      intake.open(
        { pause: () => said.push(`${name} stops`), resume: () => said.push(`${name} goes on`) },
        expected,
      ),
    turn() {
      const run = later;
      later = null;
      run?.();
      return run !== null;
    },
  };
}

test('[SV7] what is small never waits, however much of it comes in a turn', () => {
  const { said, open, turn } = createRig();
  for (let n = 0; n < 100; n++) {
    const small = open(`small-${n}`);
    small.took(LARGE_BYTES);
    small.end();
    // The next of the same connection.
    small.took(LARGE_BYTES);
  }
  expect([said, turn()]).toEqual([[], false]);
});

test('[SV7] in one turn so much is read of what is large; then one at a time goes on, those under way first', () => {
  const { said, open, turn } = createRig();
  const [ada, bob, cat] = ['ada', 'bob', 'cat'].map((name) => open(name, TURN_BYTES * 3));
  ada?.took(TURN_BYTES);
  bob?.took(1);
  cat?.took(1);
  expect(said.splice(0)).toEqual(['ada stops', 'bob stops', 'cat stops']);
  turn();
  expect(said.splice(0)).toEqual(['ada goes on']);
  ada?.took(TURN_BYTES);
  expect(said.splice(0)).toEqual(['ada stops']);
  // It has had a turn, the others have not.
  turn();
  expect(said.splice(0)).toEqual(['ada goes on']);
  ada?.end();
  turn();
  expect(said.splice(0)).toEqual(['bob goes on']);
  // It has nothing to say now, which holds up nobody.
  turn();
  expect(said.splice(0)).toEqual(['cat goes on']);
  turn();
  expect(turn()).toBe(false);
});

test('[SV7] one that does not say how large it is counts from where it is large', () => {
  const { said, open } = createRig();
  const ada = open('ada');
  ada.took(LARGE_BYTES);
  ada.took(TURN_BYTES - 1);
  expect(said).toEqual([]);
  ada.took(1);
  expect(said).toEqual(['ada stops']);
});

test('[SV7] one that is gone does not wait, and its place is free', () => {
  const { said, open, turn } = createRig();
  const [ada, bob] = ['ada', 'bob'].map((name) => open(name, TURN_BYTES * 2));
  ada?.took(TURN_BYTES);
  bob?.took(1);
  ada?.end();
  turn();
  expect(said).toEqual(['ada stops', 'bob stops', 'ada goes on', 'bob goes on']);
});
