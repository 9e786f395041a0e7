/** Nothing is here, why, and what to do next: the very command, to be copied. */
import { type ReactNode, useState } from 'react';

interface EmptyProps {
  readonly title: string;
  readonly children?: ReactNode;
  readonly command?: string;
}

export function Empty({ title, children, command }: EmptyProps): ReactNode {
  return (
    <div className="empty">
      <p className="empty-title">{title}</p>
      {children !== undefined && <p>{children}</p>}
      {command !== undefined && <Command line={command} />}
    </div>
  );
}

/** A command to type. */
export function Command({ line }: { readonly line: string }): ReactNode {
  const [isCopied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    // Only a page that was served over TLS or from this machine may write there.
    await navigator.clipboard?.writeText(line);
    setCopied(true);
  };
  return (
    <span className="command">
      <code>{line}</code>
      {isSecureContext && (
        <button type="button" className="link" onClick={() => void copy().catch(() => {})}>
          {isCopied ? 'copied' : 'copy'}
        </button>
      )}
    </span>
  );
}
