/** How people are told of what waits for them, as the configuration says it. */
import type { ConfigFile } from './config-file.ts';
import type { NoticesConfig } from './notices.ts';

const REMIND_AFTER_S = 3_600;

export function noticesOf(
  { notices, remind_after }: ConfigFile,
  absolute: (path: string) => string,
): NoticesConfig | null {
  if (notices === undefined || notices.length === 0) return null;
  const after = remind_after ?? REMIND_AFTER_S;
  return {
    ways: notices.map((way) =>
      way.kind === 'webhook'
        ? { kind: way.kind, url: way.url, secretFile: absolute(way.secret_file) }
        : way,
    ),
    remindAfterMs: after === 0 ? null : after * 1000,
  };
}
