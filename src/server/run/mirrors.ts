/** A mirror for every space that is open or opens, in one folder [MI1]. */
import type { Hub } from '../../hub/hub.ts';
import { type Mirror, openMirror } from '../record/mirror.ts';
import type { ServerLog } from './server-log.ts';
import type { OpenSpaces } from './spaces.ts';

export function openMirrors(dir: string, spaces: OpenSpaces, log: ServerLog): Mirror {
  const mirrors = new Map<string, Mirror>();
  const stopOpened = spaces.onOpened((hub: Hub) => {
    const mirror = openMirror({
      ...{ dir, hub },
      onTrouble: (line, cause) => log('error', line, cause),
      onMended: (line) => log('info', line),
    });
    mirrors.set(hub.space, mirror);
  });
  const stopRemoved = spaces.onRemoved((space) => {
    mirrors.get(space)?.stop();
    mirrors.delete(space);
  });
  const stop = (): void => {
    stopOpened();
    stopRemoved();
    for (const mirror of mirrors.values()) mirror.stop();
  };
  return {
    stop,
    async close() {
      stopOpened();
      stopRemoved();
      await Promise.all([...mirrors.values()].map((mirror) => mirror.close()));
    },
  };
}
