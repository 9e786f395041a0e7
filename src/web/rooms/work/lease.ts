/** What is left of a lease, in few words. */
import { spanText } from '../../parts/ago.tsx';

export function leftText(seconds: number): string {
  if (seconds <= 0) return 'lapses now';
  return seconds < 60 ? 'under a minute left' : `${spanText(seconds)} left`;
}
