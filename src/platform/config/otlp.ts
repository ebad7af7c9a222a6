import { z } from 'zod';

/** The backend to which finished traces are pushed. */
export interface OtlpBackend {
  /** Accepts traces over OTLP/HTTP. May contain a password, so it is never logged. */
  readonly tracesUrl: string;
  /** Sent with every request, names in lower case. Secrets. */
  readonly headers: Readonly<Record<string, string>>;
  /** The timeout of one request, including its retries. */
  readonly timeoutMs: number;
  readonly serviceName: string;
  /** Whether the text of users, models and tools is sent too. */
  readonly captureContent: boolean;
}

/** Headers that the exporter sets; other values would break its requests. */
const TAKEN_HEADERS = [
  'host',
  'connection',
  'content-type',
  'content-length',
  'content-encoding',
  'transfer-encoding',
  'user-agent',
];
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const MAX_TIMEOUT_MS = 600_000;

const endpoint = z.string().superRefine((text, context) => {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol)) context.addIssue('must be an http or https URL');
  else if (url.search !== '' || url.hash !== '')
    context.addIssue('must hold no query and no fragment; /v1/traces comes after it');
});

const headers = z.string().transform((list, context) => {
  const entries = list
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
    .map(headerOf);
  const read = entries.filter((entry) => entry !== undefined);
  if (read.length < entries.length) {
    context.addIssue('must be headers as name=value, separated by commas, values percent-encoded');
  } else if (read.some(([name]) => TAKEN_HEADERS.includes(name))) {
    context.addIssue(`must not hold one of ${TAKEN_HEADERS.join(', ')}`);
  }
  return Object.fromEntries(read);
});

/** Undefined when the entry is no header. */
function headerOf(entry: string): [string, string] | undefined {
  const at = entry.indexOf('=');
  const name = entry.slice(0, at).trim().toLowerCase();
  if (at < 1 || !HEADER_NAME.test(name)) return undefined;
  try {
    const value = decodeURIComponent(entry.slice(at + 1).trim());
    return HEADER_VALUE.test(value) ? [name, value] : undefined;
  } catch {
    return undefined;
  }
}

export const OTLP_VARIABLES = {
  OTEL_EXPORTER_OTLP_ENDPOINT: endpoint.optional(),
  OTEL_EXPORTER_OTLP_HEADERS: headers.optional(),
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: z.string().optional(),
  OTEL_EXPORTER_OTLP_TIMEOUT: z.coerce
    .number({ message: 'must be a whole number of milliseconds' })
    .int()
    .positive()
    .max(MAX_TIMEOUT_MS)
    .default(10_000),
  OTEL_SERVICE_NAME: z.string().max(255).default('agent-service'),
  OTEL_CAPTURE_CONTENT: z.enum(['true', 'false'], { message: 'must be true or false' }).default('false'),
};

type OtlpVariables = z.output<z.ZodObject<typeof OTLP_VARIABLES>>;

export function otlpOf(env: OtlpVariables): OtlpBackend | undefined {
  const base = env.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (base === undefined) return undefined;
  return {
    tracesUrl: `${base.replace(/\/+$/, '')}/v1/traces`,
    headers: env.OTEL_EXPORTER_OTLP_HEADERS ?? {},
    timeoutMs: env.OTEL_EXPORTER_OTLP_TIMEOUT,
    serviceName: env.OTEL_SERVICE_NAME,
    captureContent: env.OTEL_CAPTURE_CONTENT === 'true',
  };
}
