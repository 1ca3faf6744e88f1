import { isIP, isIPv6 } from 'node:net';

import { integer, listOf, matching, type SettingType } from './setting-types.js';

const HOST_NAME = '[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*';
const IPV6 = '[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*';

/** A host name or an IP address, without a port. IPv6 has no brackets. */
export function host(): SettingType<string> {
  return matching({
    placeholder: 'host',
    expected: 'a host name or an IP address, without a port',
    pattern: `^(${HOST_NAME}|${IPV6})$`,
    accepts: (text) => !text.includes(':') || isIPv6(text),
  });
}

/** Hosts in the form of a `Host` header: with or without a port, IPv6 in brackets. */
export function hostList(): SettingType<string[]> {
  const expected = 'a host name or address, with or without a port, such as desk.example.com';
  const host = matching({ placeholder: 'host', expected, pattern: `^(${HOST_NAME}|\\[${IPV6}\\])(:\\d{1,5})?$` });
  return lowerCased(listOf(host, 'host names or addresses, with or without a port, such as desk.example.com'));
}

/** Hosts in the form that the URL parser gives them. `*.` before a name stands for all its subdomains. */
export function webhookHostList(): SettingType<string[]> {
  const expected = 'a host name or address without a port, such as hooks.example.com or *.example.com';
  const isHost = (text: string): boolean => URL.canParse(`http://${text.replace(/^\*\./, '')}`);
  const host = matching({
    placeholder: 'host',
    expected,
    pattern: `^((\\*\\.)?${HOST_NAME}|\\[${IPV6}\\])$`,
    accepts: isHost,
  });
  return mapped(
    listOf(host, 'host names or addresses without a port, such as hooks.example.com or *.example.com'),
    (text) => (text.startsWith('*.') ? text.toLowerCase() : new URL(`http://${text}`).hostname),
  );
}

export const portList = (): SettingType<number[]> => listOf(integer({ min: 1, max: 65_535 }), 'ports such as 80, 443');

/** An http or https URL. */
export function httpUrl(): SettingType<string> {
  return matching({
    placeholder: 'url',
    expected: 'a URL that begins with http:// or https://',
    pattern: '^https?://',
    accepts: URL.canParse,
  });
}

export function originList(): SettingType<string[]> {
  const origin = matching({
    placeholder: 'origin',
    expected: 'an origin such as https://app.example.com, without a path or a default port',
    pattern: '^https?://[^/]+$',
    accepts: (text) => URL.canParse(text) && new URL(text).origin === text.toLowerCase(),
  });
  return lowerCased(listOf(origin, 'origins such as https://app.example.com, without a path or a default port'));
}

export function cidrList(): SettingType<string[]> {
  const range = matching({
    placeholder: 'range',
    expected: 'an address range such as 10.0.0.0/8 or fd00::/8',
    pattern: '^[0-9A-Fa-f:.]+/\\d{1,3}$',
    accepts: isCidr,
  });
  return listOf(range, 'address ranges such as 10.0.0.0/8 or fd00::/8');
}

function isCidr(text: string): boolean {
  const [address = '', prefix] = text.split('/');
  const family = isIP(address);
  return family !== 0 && Number(prefix) <= (family === 4 ? 32 : 128);
}

/** `sqlite:<path>`, `postgres://...` or `postgresql://...`. */
export function databaseUrl(): SettingType<string> {
  return matching({
    placeholder: 'url',
    expected: 'sqlite:<path of a file> or postgres://<user>@<host>/<database>',
    pattern: '^(sqlite:.+|postgres(ql)?://.+)$',
    accepts: (text) => text.startsWith('sqlite:') || URL.canParse(text),
  });
}

// The values are compared with a request's Host and Origin in lower case.
const lowerCased = (type: SettingType<string[]>): SettingType<string[]> => mapped(type, (item) => item.toLowerCase());

function mapped(type: SettingType<string[]>, change: (item: string) => string): SettingType<string[]> {
  return {
    ...type,
    parse: (raw) => {
      const result = type.parse(raw);
      return 'value' in result ? { value: result.value.map(change) } : result;
    },
  };
}
