import { isIP, isIPv6 } from 'node:net';
import { listOf, matching, type Kind } from './kinds.js';

const HOST_NAME = '[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*';
const IPV6 = '[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*';

/** A name or an address, without a port; IPv6 without brackets. */
export function host(): Kind<string> {
  return matching({
    placeholder: 'host',
    expected: 'a host name or an IP address, without a port',
    pattern: `^(${HOST_NAME}|${IPV6})$`,
    accepts: (text) => !text.includes(':') || isIPv6(text),
  });
}

/** As a `Host` header has them: with a port or without, IPv6 in brackets. */
export function hostList(): Kind<string[]> {
  const expected = 'a host name or address, with a port or without, such as desk.example.com';
  const host = matching({ placeholder: 'host', expected, pattern: `^(${HOST_NAME}|\\[${IPV6}\\])(:\\d{1,5})?$` });
  return lowerCased(listOf(host, 'host names or addresses, with a port or without, such as desk.example.com'));
}

/** An http or https URL. */
export function httpUrl(): Kind<string> {
  return matching({ placeholder: 'url', expected: 'a URL that begins with http:// or https://', pattern: '^https?://', accepts: URL.canParse });
}

export function originList(): Kind<string[]> {
  const origin = matching({
    placeholder: 'origin',
    expected: 'an origin such as https://app.example.com, without a path or a default port',
    pattern: '^https?://[^/]+$',
    accepts: (text) => URL.canParse(text) && new URL(text).origin === text.toLowerCase(),
  });
  return lowerCased(listOf(origin, 'origins such as https://app.example.com, without a path or a default port'));
}

export function cidrList(): Kind<string[]> {
  const range = matching({ placeholder: 'range', expected: 'an address range such as 10.0.0.0/8 or fd00::/8', pattern: '^[0-9A-Fa-f:.]+/\\d{1,3}$', accepts: isCidr });
  return listOf(range, 'address ranges such as 10.0.0.0/8 or fd00::/8');
}

function isCidr(text: string): boolean {
  const [address = '', prefix] = text.split('/');
  const family = isIP(address);
  return family !== 0 && Number(prefix) <= (family === 4 ? 32 : 128);
}

/** `sqlite:<path>`, `postgres://...` or `postgresql://...`. */
export function databaseUrl(): Kind<string> {
  return matching({
    placeholder: 'url',
    expected: 'sqlite:<path of a file> or postgres://<user>@<host>/<database>',
    pattern: '^(sqlite:.+|postgres(ql)?://.+)$',
    accepts: (text) => text.startsWith('sqlite:') || URL.canParse(text),
  });
}

// What they are compared with, a request's Host and Origin, is compared in lower case.
function lowerCased(kind: Kind<string[]>): Kind<string[]> {
  return {
    ...kind,
    read: (raw) => {
      const reading = kind.read(raw);
      return 'value' in reading ? { value: reading.value.map((item) => item.toLowerCase()) } : reading;
    },
  };
}
