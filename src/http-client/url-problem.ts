import type { AddressRules, UrlGiver } from './address-rules.js';

/** In characters. */
export const LONGEST_URL = 2_048;

/** Why no request may go to this URL, judged without a lookup, completing "must ..."; null if nothing is wrong. */
export function urlProblem(text: string, by: UrlGiver, rules: AddressRules): string | null {
  if (text.length > LONGEST_URL) return `have at most ${LONGEST_URL} characters`;
  if (!URL.canParse(text)) return 'be a URL such as https://example.com/hook';
  const { href, protocol, username, password, port, hostname } = new URL(text);
  // `href` is the form that is stored and sent.
  if (href.length > LONGEST_URL) return `have at most ${LONGEST_URL} characters in its encoded form`;
  if (protocol !== 'http:' && protocol !== 'https:') return 'begin with http:// or https://';
  if (username || password) return 'not contain a user or a password';
  if (port === '0') return 'have a port other than 0';
  return rules.hostRefusal(hostname, by) ?? addressProblem(hostname, portOf({ protocol, port }), by, rules);
}

export const portOf = ({ protocol, port }: { protocol: string; port: string }): number =>
  Number(port) || (protocol === 'https:' ? 443 : 80);

// The URL parser has already turned decimal, octal, hexadecimal and shortened IPv4 addresses into the dotted form.
function addressProblem(hostname: string, port: number, by: UrlGiver, rules: AddressRules): string | null {
  if (isLocalhost(hostname)) {
    const refusals = ['127.0.0.1', '::1'].map((address) => rules.refusal(address, port, by));
    return refusals.includes(null) ? null : refusals[0]!.replace('127.0.0.1', 'localhost');
  }
  if (hostname.startsWith('[')) return rules.refusal(hostname.slice(1, -1), port, by);
  return /^[\d.]+$/.test(hostname) ? rules.refusal(hostname, port, by) : rules.namePortRefusal(port, by);
}

export const isLocalhost = (name: string): boolean => /(^|\.)localhost\.?$/i.test(name);
