/**
 * The body of a message. Most are a text; every other one is shown as what it is: its text or title first,
 * then its fields by name, and whatever is nested as JSON. Nothing in it becomes markup.
 */
import type { ReactNode } from 'react';
import { ASIDE } from '../../wire/body-text.ts';
import { Facts } from './facts.tsx';
import { Code, Prose, Words } from './words.tsx';

const FIELDS_MAX = 24;
const LINE_CHARS_MAX = 200;
/** Of a post these stand beside its title. */
const BESIDE: ReadonlySet<string> = new Set(['kind', 'type', 'tier']);

export function BodyText({
  body,
}: {
  readonly body: Readonly<Record<string, unknown>>;
}): ReactNode {
  const { title, text, ...rest } = body;
  const isPost = body.kind === 'post';
  const fields = Object.entries(rest).filter(
    ([name]) => name !== ASIDE && !(isPost && BESIDE.has(name)),
  );
  return (
    <div className="body">
      {typeof title === 'string' && (
        <p className="body-title">
          <Words text={title} />
          {isPost && typeof body.type === 'string' && (
            <span className="chip">
              <Words text={body.type} />
            </span>
          )}
          {isPost && typeof body.tier === 'number' && (
            <span className="chip">tier {body.tier}</span>
          )}
        </p>
      )}
      {typeof text === 'string' && <Prose text={text} />}
      {fields.length > 0 && (
        <Facts
          rows={fields
            .slice(0, FIELDS_MAX)
            .map(([name, value]) => [name, <Value key={name} value={value} />] as const)}
        />
      )}
      {fields.length > FIELDS_MAX && (
        <p className="quiet">and {fields.length - FIELDS_MAX} more fields</p>
      )}
      {Object.keys(body).length === 0 && <p className="quiet">(empty)</p>}
    </div>
  );
}

function Value({ value }: { readonly value: unknown }): ReactNode {
  if (typeof value === 'string') return <Prose text={value} />;
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) {
    return <Words text={value.join(', ')} />;
  }
  return <Code text={JSON.stringify(value)} />;
}

/** The beginning of a body on one line. */
export function lineOf(body: Readonly<Record<string, unknown>>): string {
  const { title, text } = body;
  const said = [title, text].find((one) => typeof one === 'string' && one.trim() !== '');
  const words = typeof said === 'string' ? said : JSON.stringify(body);
  return words.slice(0, LINE_CHARS_MAX).toWellFormed().replaceAll(/\s+/g, ' ');
}
