/** The words a decision needs, typed where it is made: an answer, or why not. */
import { type FormEvent, type KeyboardEvent, type ReactNode, useId, useState } from 'react';
import { Button } from './button.tsx';

interface ReasonFormProps {
  readonly label: string;
  readonly button: string;
  readonly isNeeded: boolean;
  onSay(text: string): Promise<boolean>;
  onCancel(): void;
}

const CHARS_MAX = 4_096;

export function ReasonForm(props: ReasonFormProps): ReactNode {
  const { label, button, isNeeded, onSay, onCancel } = props;
  const [text, setText] = useState('');
  const [isBusy, setBusy] = useState(false);
  const id = useId();
  const isReady = !isBusy && (!isNeeded || text.trim() !== '');

  const submit = async (event: FormEvent | KeyboardEvent): Promise<void> => {
    event.preventDefault();
    if (!isReady) return;
    setBusy(true);
    if (await onSay(text)) onCancel();
    else setBusy(false);
  };
  const onKey = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' && !event.shiftKey) void submit(event);
    if (event.key === 'Escape') {
      event.stopPropagation();
      onCancel();
    }
  };
  return (
    <form className="reason" onSubmit={(event) => void submit(event)}>
      <label htmlFor={id}>{label}</label>
      <textarea
        id={id}
        className="field"
        rows={2}
        maxLength={CHARS_MAX}
        value={text}
        // biome-ignore lint/a11y/noAutofocus: it was opened by a key or a click to be typed into.
        autoFocus
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKey}
      />
      <div className="reason-foot">
        <Button type="submit" isMain disabled={!isReady}>
          {button}
        </Button>
        <Button onClick={onCancel}>Cancel</Button>
        <span className="quiet">Enter sends, Shift Enter makes a new line</span>
      </div>
    </form>
  );
}
