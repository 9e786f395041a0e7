/** Vendors of coding agents as they are named on the command line. */
import { isVendor, VENDORS, type Vendor } from '../wire/tool-names.ts';
import { fail } from './failure.ts';

export function parseVendor(name: string, flag: string): Vendor {
  if (isVendor(name)) return name;
  throw fail('cli.usage', `${flag} must be one of ${VENDORS.join(', ')}; found ${name}`);
}

/** Null for all that are here. */
export function parseVendors(args: readonly string[]): readonly Vendor[] | null {
  if (args.length === 0 || args.includes('all')) return null;
  return args.map((name) => {
    if (isVendor(name)) return name;
    throw fail('cli.usage', `${name} is none of ${VENDORS.join(', ')}, all`);
  });
}
