/** What an agent is told whose question nobody can answer while its turn runs. */
export const UNANSWERED =
  'Not answered: the question is now before people, and the answer will come as a message, in another turn.';
