/**
 * Calls a function of the program that uses us. What it throws is a mistake there: it is not ours to hide,
 * and nobody else is to suffer from it, so it is thrown where nobody is on the way [K16].
 */
export function tellProgram(call: () => void): void {
  try {
    call();
  } catch (cause) {
    queueMicrotask(() => {
      throw cause;
    });
  }
}
