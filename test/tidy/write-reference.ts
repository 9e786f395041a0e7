/** `npm run docs`: writes the pages under docs/reference that are made. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeReference } from './reference.ts';
import { ROOT } from './repository.ts';

for (const [path, text] of await makeReference()) {
  writeFileSync(join(ROOT, path), text);
  console.log(path);
}
