/**
 * A worker for the tests of the SDK: it does what the method says, dies and hangs included. Its
 * chunks carry no request id unless they are asked to, as those of most workers.
 */
import { createInterface } from 'node:readline';

interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly sessionId?: string;
  readonly _ext?: unknown;
  readonly [member: string]: unknown;
}

const held = new Map<string, () => void>();
const asked = new Map<unknown, (answer: Message) => void>();
const hanging = new Map<unknown, Message>();
let questions = 0;
let agents = 0;

function write(message: object): void {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
}

function chunk(to: Message, text: string): void {
  const agentSession = to.params?.sessionId;
  write({
    method: 'session/update',
    sessionId: to.sessionId,
    ...(to.params?.named === true && { _ext: { requestId: to.id } }),
    params: {
      ...(agentSession !== undefined && { sessionId: agentSession }),
      update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } },
    },
  });
}

async function resultOf(message: Message): Promise<object> {
  const { method, params = {}, sessionId } = message;
  const { pid } = process;
  switch (method) {
    case 'session/new':
      return { sessionId: `agent-${pid}-${++agents}`, pid };
    case 'session/prompt': {
      const words = String(params.text ?? '').split(/(?<= )/);
      for (const word of words) if (word !== '') chunk(message, word);
      const { hold } = params;
      if (typeof hold === 'string') await new Promise<void>((go) => held.set(hold, go));
      if (params.fail === true) {
        throw Object.assign(new Error('the brain failed'), { code: -32_050, data: { at: 7 } });
      }
      return { stopReason: 'end_turn', pid };
    }
    case 'ask': {
      const id = `q${++questions}`;
      write({ id, method: 'session/request_permission', sessionId, params });
      const answer = await new Promise<Message>((resolve) => asked.set(id, resolve));
      return {
        answer: answer.error === undefined ? { result: answer.result } : { error: answer.error },
      };
    }
    case 'fail':
      throw Object.assign(new Error(), params);
    case 'list':
      return [1, 2, 3];
    case 'die':
      process.exit(3);
      break;
    case 'environment':
      return { env: process.env };
    default:
      return { echo: params, method, pid, ppid: process.ppid, whole: message };
  }
}

async function take(message: Message): Promise<void> {
  const { id, method, params = {}, sessionId } = message;
  if (method === undefined) return asked.get(id)?.(message);
  if (method === '$/cancelRequest') {
    const cancelled = hanging.get(params.id);
    write({
      method: 'was-cancelled',
      sessionId: cancelled?.sessionId,
      params: { method: cancelled?.method },
    });
    return;
  }
  if (method === 'release') return held.get(String(params.hold))?.();
  if (method === 'later') {
    await new Promise<void>((go) => held.set(String(params.hold), go));
    return write({ method: 'said-later', sessionId, params });
  }
  if (id === undefined) {
    write({ method: 'echo.notification', sessionId, params: { original: params, method } });
    return;
  }
  hanging.set(id, message);
  if (method === 'hang') return write({ method: 'hangs', sessionId, params });
  try {
    write({ id, sessionId, result: await resultOf(message) });
  } catch (error) {
    const { code, message: text, data } = error as { [name: string]: unknown };
    write({ id, sessionId, error: { code, message: text, data } });
  }
}

process.stderr.write('the worker is up\n');
createInterface({ input: process.stdin }).on('line', (line) => void take(JSON.parse(line)));
