/**
 * Which addresses are public, and which a rule has named. An address of the machine itself, of a private
 * network or of a cloud's metadata is reached only by who names it; one that carries another within (IPv6
 * around IPv4) counts as what it carries, and where that is not sure, as private [PO6].
 */
import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';

type Family = 'ipv4' | 'ipv6';

/** Special by IANA's registries, and so no place for whoever was told "the internet". */
const PRIVATE: readonly (readonly [string, number, Family])[] = [
  ['0.0.0.0', 8, 'ipv4'],
  ['10.0.0.0', 8, 'ipv4'],
  ['100.64.0.0', 10, 'ipv4'],
  ['127.0.0.0', 8, 'ipv4'],
  ['169.254.0.0', 16, 'ipv4'],
  ['172.16.0.0', 12, 'ipv4'],
  ['192.0.0.0', 24, 'ipv4'],
  ['192.0.2.0', 24, 'ipv4'],
  ['192.88.99.0', 24, 'ipv4'],
  ['192.168.0.0', 16, 'ipv4'],
  ['198.18.0.0', 15, 'ipv4'],
  ['198.51.100.0', 24, 'ipv4'],
  ['203.0.113.0', 24, 'ipv4'],
  ['224.0.0.0', 4, 'ipv4'],
  ['240.0.0.0', 4, 'ipv4'],
];

/** Of IPv6 only this is handed out to the world; the rest is private whatever it is. */
const GLOBAL6: readonly [string, number] = ['2000::', 3];
const PRIVATE6: readonly (readonly [string, number])[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
];

/** Where clouds answer whoever asks with the machine's own credentials. */
const METADATA = [
  '169.254.169.254',
  '169.254.170.2',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
];
const METADATA6 = ['fd00:ec2::254', 'fd20:ce::254'];

const privateList = new BlockList();
for (const [net, bits, family] of PRIVATE) privateList.addSubnet(net, bits, family);
for (const [net, bits] of PRIVATE6) privateList.addSubnet(net, bits, 'ipv6');
const globalList = new BlockList();
globalList.addSubnet(...GLOBAL6, 'ipv6');
const metadataList = new BlockList();
for (const address of METADATA) metadataList.addAddress(address, 'ipv4');
for (const address of METADATA6) metadataList.addAddress(address, 'ipv6');

export type AddressClass = 'public' | 'private' | 'metadata';

export function classOf(address: string): AddressClass {
  const plain = unwrapped(address);
  const family: Family = isIPv4(plain) ? 'ipv4' : 'ipv6';
  if (isIP(plain) === 0) return 'private';
  if (metadataList.check(plain, family)) return 'metadata';
  if (privateList.check(plain, family)) return 'private';
  return family === 'ipv4' || globalList.check(plain, 'ipv6') ? 'public' : 'private';
}

/** `::ffff:a.b.c.d` and `64:ff9b::a.b.c.d` are the address they carry; a zone is left off. */
export function unwrapped(address: string): string {
  const [bare = ''] = address.split('%');
  if (!isIPv6(bare)) return bare;
  const words = wordsOf(bare);
  const isMapped = words.slice(0, 5).every((word) => word === 0) && words[5] === 0xffff;
  const isNat64 =
    words[0] === 0x64 && words[1] === 0xff9b && words.slice(2, 6).every((word) => word === 0);
  if (!isMapped && !isNat64) return bare;
  const [high = 0, low = 0] = words.slice(6);
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

function wordsOf(address: string): number[] {
  // The URL parser writes any IPv6 address in one way, with the last four bytes as words.
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const parse = (part: string | undefined): number[] =>
    part === undefined || part === ''
      ? []
      : part.split(':').map((word) => Number.parseInt(word, 16));
  const [first, last] = [parse(head), parse(tail)];
  return [...first, ...Array(8 - first.length - last.length).fill(0), ...last];
}

/** Addresses and ranges that a rule names. */
export interface Named {
  has(address: string): boolean;
}

/** Throws for what is neither an address nor a range. */
export function parseNamed(entries: readonly string[]): Named {
  const list = new BlockList();
  const single = new Set<string>();
  for (const entry of entries) {
    const [net = '', bits, ...more] = entry.split('/');
    const plain = unwrapped(net);
    const version = isIP(plain);
    const longest = version === 4 ? 32 : 128;
    const length = bits === undefined ? longest : Number(bits);
    const isRange = /^\d{1,3}$/.test(bits ?? '0') && length <= longest && more.length === 0;
    if (version === 0 || !isRange || (bits !== undefined && plain !== net)) {
      throw new Error(`${JSON.stringify(entry)} is neither an address nor a range like 10.0.0.0/8`);
    }
    list.addSubnet(plain, length, version === 4 ? 'ipv4' : 'ipv6');
    if (length === longest) single.add(canonical(plain));
  }
  return {
    has(address) {
      const plain = unwrapped(address);
      if (isIP(plain) === 0) return false;
      if (classOf(plain) === 'metadata') return single.has(canonical(plain));
      return list.check(plain, isIPv4(plain) ? 'ipv4' : 'ipv6');
    },
  };
}

function canonical(address: string): string {
  return isIPv6(address) ? new URL(`http://[${address}]`).hostname : address;
}
