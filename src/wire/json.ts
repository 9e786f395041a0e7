/** For those who know nothing of the law: clients read what the hub wrote as it is written [M12]. */
import { readJson as readAsWritten } from '../core/law/json.ts';

export const readJson: (text: string) => unknown = readAsWritten;
