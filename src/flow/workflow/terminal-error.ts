/** How a step says that trying again is of no use. */

/**
 * An error that trying again will not mend: the step that throws it is tried no more.
 *
 * @example
 * await ctx.step('charge', async () => {
 *   throw new TerminalError('the card is blocked');
 * });
 */
export class TerminalError extends Error {
  override readonly name = 'TerminalError';
}
