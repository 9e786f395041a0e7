/** What a step says it cost, added up over its attempts in this process. */
import { DefinitionError } from './errors.ts';
import type { Cost } from './seam.ts';
import type { StepCost } from './step-options.ts';

export interface Bill {
  add(spent: StepCost): void;
  /** Undefined while nobody said anything. */
  readonly total: Cost | undefined;
}

const NAMES = { usd: 'usd', tokensIn: 'tokens_in', tokensOut: 'tokens_out' } as const;

export function createBill(whose: string): Bill {
  const total: Partial<Record<keyof Cost, number>> = {};
  return {
    add(spent) {
      const said = Object.entries(NAMES).flatMap(([name, kept]) => {
        const value = spent[name as keyof StepCost];
        return value === undefined ? [] : [{ name, kept, value }];
      });
      for (const { name, value } of said) {
        if (Number.isFinite(value) && value >= 0) continue;
        throw new DefinitionError(
          'step.cost-invalid',
          `${whose}: ${name} is ${value}; a cost is a number from 0 on`,
        );
      }
      for (const { kept, value } of said) total[kept] = (total[kept] ?? 0) + value;
    },
    get total() {
      return Object.keys(total).length === 0 ? undefined : { ...total };
    },
  };
}
