/** What the text of a variable may be, and what it becomes. */
import { z } from 'zod';
import { isRedisUrl, REDIS_URL_KINDS } from './redis-url.js';

export const httpUrl = z
  .url({ protocol: /^https?$/, message: 'must be an http or https URL' })
  .transform((url) => url.replace(/\/+$/, ''));

/** Headers that requests to a provider already use. */
const TAKEN_HEADERS = ['authorization', 'x-api-key', 'host', 'content-type', 'content-length', 'connection'];

export const headerName = z
  .string()
  .regex(/^[\w!#$%&'*+.^`|~-]+$/, { message: 'must be the name of an HTTP header' })
  .toLowerCase()
  .refine((name) => !TAKEN_HEADERS.includes(name), { message: `must not be one of ${TAKEN_HEADERS.join(', ')}` });

/** Decimal digits only: JavaScript would also read blanks, `0x10` and `1e3`. */
export function wholeNumber(what: string, min: number, max: number) {
  const message = `must be ${what}, ${min} to ${max}`;
  return z
    .string()
    .trim()
    .regex(/^\d+$/, { message, abort: true })
    .transform(Number)
    .refine((value) => value >= min && value <= max, { message });
}

export const portNumber = wholeNumber('a port number', 0, 65_535);
export const seconds = (min: number, max: number) => wholeNumber('a whole number of seconds', min, max);

/** `Buffer` would ignore whatever follows the padding. */
export const masterKey = z
  .string()
  .trim()
  .regex(/^[\w+/-]{43}=?$/, { message: 'must be 32 bytes in base64' });

/** `host:port`, with the host as the URL standard writes it. */
const hostAndPort = /^(\[[^\]]+\]|[^[\]:/@?#\\\s]+):(\d{1,5})$/;

function exemption(entry: string): string | undefined {
  const [, host, port] = hostAndPort.exec(entry) ?? [];
  const parsed = host === undefined ? null : URL.parse(`http://${host}/`);
  if (!parsed || Number(port) < 1 || Number(port) > 65_535) return undefined;
  return `${parsed.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')}:${Number(port)}`;
}

/** The placeholder in `WORKFLOW_PLATFORM_URL` for the slug of an integration. */
const SLUG_PLACEHOLDER = '{nameSlug}';

export const workflowPlatformUrl = z.string().superRefine((template, context) => {
  const [url, other] = ['a', 'b'].map((slug) => URL.parse(template.replaceAll(SLUG_PLACEHOLDER, slug)));
  if (!url || !other || !/^https?:$/.test(url.protocol)) {
    context.addIssue('must be an http or https URL, which may contain {nameSlug}');
  } else if (url.username !== '' || url.password !== '') {
    context.addIssue('must not contain a user name or password; WORKFLOW_PLATFORM_TOKEN is sent');
  } else if (url.origin !== other.origin) {
    context.addIssue(
      'may contain {nameSlug} only in its path and query: customers choose it, and the token is sent to the host',
    );
  }
});

export const exemptions = z
  .string()
  .transform((list) => list.split(',').map((entry) => exemption(entry.trim())))
  .refine((list): list is string[] => !list.includes(undefined), {
    message: 'must be a comma-separated list of host:port, such as tools.internal:8080,[fd00::1]:443',
  });

function isDecodable(url: string): boolean {
  try {
    decodeURIComponent(url);
    return true;
  } catch {
    return false;
  }
}

const PERCENT = { message: 'must have a % in a password written as %25', abort: true };

export const postgresUrl = z
  .url({ protocol: /^postgres(ql)?$/, message: 'must be a postgresql:// URL', abort: true })
  .refine(isDecodable, PERCENT);

export const redisUrl = z.string().refine(isDecodable, PERCENT).refine(isRedisUrl, { message: REDIS_URL_KINDS });
