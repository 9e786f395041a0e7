/**
 * Answers to requests, where anybody may have written to the subject that they come by: the first that is vouched for
 * counts, and whatever else comes is passed over.
 */
import type { Link } from '../../log/nats/link.ts';

export interface Inbox {
  /** `read` answers null for what is no answer. */
  request<Answer>(
    subject: string,
    payload: Uint8Array,
    read: (data: Uint8Array) => Answer | null,
  ): Promise<Answer | 'nobody' | 'unknown'>;
  close(): void;
}

/** As long as a command may take to be stored. */
const ANSWER_MS = 12_000;
/** What NATS answers when nobody listens. */
const NO_RESPONDERS = 503;

export function openInbox({ connection, createInbox }: Link): Inbox {
  const place = createInbox();
  const waiting = new Map<string, (data: Uint8Array | 'nobody' | 'unknown') => void>();
  let asked = 0;
  const answers = connection.subscribe(`${place}.*`, {
    callback(error, { subject, data, headers }) {
      if (error !== null) return;
      const isNobody = data.byteLength === 0 && headers?.code === NO_RESPONDERS;
      waiting.get(subject)?.(isNobody ? 'nobody' : data);
    },
  });

  return {
    request<Answer>(
      subject: string,
      payload: Uint8Array,
      read: (data: Uint8Array) => Answer | null,
    ): Promise<Answer | 'nobody' | 'unknown'> {
      const reply = `${place}.${++asked}`;
      return new Promise((resolve) => {
        const end = (answer: Answer | 'nobody' | 'unknown'): void => {
          clearTimeout(timer);
          waiting.delete(reply);
          resolve(answer);
        };
        const timer = setTimeout(() => end('unknown'), ANSWER_MS).unref();
        waiting.set(reply, (data) => {
          if (typeof data === 'string') return end(data);
          const answer = read(data);
          if (answer !== null) end(answer);
        });
        try {
          connection.publish(subject, payload, { reply });
        } catch {
          // The connection is closed: it was not sent.
          end('nobody');
        }
      });
    },
    close() {
      answers.unsubscribe();
      for (const end of [...waiting.values()]) end('unknown');
    },
  };
}
