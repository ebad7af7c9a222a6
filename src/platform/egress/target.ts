import { EgressRefused } from './egress.errors.js';
import type { EgressPurpose } from './safe-http.js';

const MAX_URL_LENGTH = 10_000;

/** The operator's own services, as `host:port`. */
export type Exemptions = ReadonlySet<string>;

/**
 * The URL of a request. The URL standard normalizes its host: numbers, octal or full-width digits and other dots become an ordinary
 * address.
 * @throws EgressRefused
 */
export function targetOf(address: string | URL, purpose: EgressPurpose, exemptions: Exemptions): URL {
  const text = String(address);
  const url = text.length <= MAX_URL_LENGTH ? URL.parse(text) : null;
  if (!url) throw new EgressRefused('url', { message: 'The URL is not valid.' });
  checkScheme(url, purpose, exemptions);
  if (url.username !== '' || url.password !== '') {
    throw new EgressRefused('url', { message: 'The URL must not contain a user name or password.' });
  }
  url.hash = '';
  return url;
}

function checkScheme(url: URL, purpose: EgressPurpose, exemptions: Exemptions): void {
  const isHttp = url.protocol === 'http:' || url.protocol === 'https:';
  if (!isHttp || url.hostname === '') {
    throw new EgressRefused('url', { message: 'The URL must be an http or https URL.' });
  }
  if (purpose === 'hook' && url.protocol !== 'https:' && !isExempt(url, exemptions)) {
    throw new EgressRefused('url', { message: 'The URL must be an https URL.' });
  }
}

export function isExempt(target: Pick<URL, 'protocol' | 'hostname' | 'port'>, exemptions: Exemptions): boolean {
  return exemptions.has(exemptionOf(target));
}

/** The entry of `Exemptions` that `target` needs. */
export function exemptionOf(target: Pick<URL, 'protocol' | 'hostname' | 'port'>): string {
  return `${hostOf(target.hostname)}:${portOf(target)}`;
}

/** The host without the brackets of an IPv6 literal and the final dot of an absolute name. */
export function hostOf(hostname: string): string {
  return hostname
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
    .toLowerCase();
}

export function portOf({ protocol, port }: Pick<URL, 'protocol' | 'port'>): number {
  if (port !== '') return Number(port);
  return protocol === 'https:' ? 443 : 80;
}
