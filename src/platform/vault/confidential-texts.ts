/** Shorter values occur in ordinary texts, which their removal would damage. */
const MIN_LENGTH = 8;
const SCHEME = /^[\w-]+ +/;

/** Secrets that were sent to a server, which may return them, for example if it echoes the headers of a request. */
export class ConfidentialTexts {
  protected readonly values: readonly string[];

  constructor(secrets: readonly string[]) {
    const open = secrets
      .filter((secret) => !isAddress(secret))
      .flatMap((secret) => [secret, secret.replace(SCHEME, '')]);
    const values = open
      .flatMap((value) => [value, JSON.stringify(value).slice(1, -1)])
      .filter(({ length }) => length >= MIN_LENGTH);
    // The longest first, because one may begin with another.
    this.values = [...new Set(values)].sort((one, other) => other.length - one.length);
  }

  occurIn(text: string): boolean {
    return this.values.some((value) => text.includes(value));
  }

  redact(text: string): string {
    return this.values.reduce((left, value) => left.replaceAll(value, '[redacted]'), text);
  }
}

/** A URL without secrets: results contain many links that begin with it. */
function isAddress(value: string): boolean {
  const { protocol, username, password, search } = URL.parse(value) ?? {};
  return (protocol === 'https:' || protocol === 'http:') && username === '' && password === '' && search === '';
}
