/** Every vendor there is, by name. */
import type { Vendor } from '../../../wire/tool-names.ts';
import { claude } from './claude.ts';
import { codex } from './codex.ts';
import { gemini } from './gemini.ts';
import { opencode } from './opencode.ts';
import type { VendorPart } from './vendor.ts';

export const VENDOR_PARTS: Readonly<Record<Vendor, VendorPart>> = {
  claude,
  codex,
  gemini,
  opencode,
};
