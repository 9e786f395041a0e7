/** A button: plain, or the one thing to do here. What cannot be undone says so in its words, not in red. */
import type { ComponentProps, ReactNode } from 'react';

interface ButtonProps extends ComponentProps<'button'> {
  readonly isMain?: boolean;
}

export function Button({ isMain = false, className = '', ...rest }: ButtonProps): ReactNode {
  const kind = isMain ? 'button button-main' : 'button';
  return <button type="button" className={`${kind} ${className}`} {...rest} />;
}
