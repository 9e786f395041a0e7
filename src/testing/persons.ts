/** The people of a simulation, and an agent that tries what only they may do. */
import type { Principal } from '../core/law/principal.ts';
import { createPrincipal } from './story.ts';

export const MIA: Principal = createPrincipal('mia', { kind: 'human', tier: 'owner' });
export const TOM: Principal = createPrincipal('tom', { kind: 'human', tier: 'trusted' });
export const ROOT: Principal = createPrincipal('root', { kind: 'admin', tier: 'owner' });
export const ADA: Principal = createPrincipal('ada');
/** Whom the log may name where only a person or an administrator acts. */
export const PERSONS: ReadonlySet<string> = new Set(['mia', 'tom', 'root', 'hal']);
