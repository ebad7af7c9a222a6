import { z } from 'zod';
import { isBlank, visibleText } from '../../platform/text/index.js';

/** The fields of components' props. The model reads their rules in the tool's schema and in errors. */

const MAX_URL = 2_048;
const MAX_LISTED_KEYS = 3;
const MAX_SHOWN_KEY = 40;

/** Plain text that is not blank. @param max in Unicode code points */
export function text(max: number, description: string) {
  const rule = `must be a text of 1 to ${max} characters`;
  return z
    .string({ error: ({ input }) => `${input === undefined ? 'is missing' : 'is not a text'}; it ${rule}` })
    .superRefine((value, context) => {
      const problem = problemOf(value, max);
      if (problem !== null) context.addIssue(`${problem}; it ${rule}`);
    })
    .meta({ description, minLength: 1, maxLength: max });
}

function problemOf(value: string, max: number): string | null {
  // A string has at least half as many code points as code units, so a very long one need not be split.
  if (value.length > 2 * max || [...value].length > max) return 'is too long';
  // Unprintable characters except line breaks and tabs, and those that change the direction, which can disguise a text.
  if (!value.isWellFormed() || /[^\P{Cc}\n\r\t]|[\u202a-\u202e\u2066-\u2069\u{e0001}]/u.test(value))
    return 'has characters that cannot be shown';
  if (isBlank(value)) return 'is blank';
  return null;
}

/** A URL that a browser may open, in the form of the URL standard. */
export function httpsUrl(description: string) {
  const rule = `must be an absolute https URL of at most ${MAX_URL} characters, without user name and password`;
  return z
    .string({ error: ({ input }) => `${input === undefined ? 'is missing' : 'is not a text'}; it ${rule}` })
    .meta({ description, format: 'uri', pattern: '^https://', maxLength: MAX_URL })
    .transform((value, context) => {
      const url = value.length <= MAX_URL ? URL.parse(value) : null;
      // The normalized URL may be longer than the given one.
      if (url?.protocol === 'https:' && url.username === '' && url.password === '' && url.href.length <= MAX_URL)
        return url.href;
      context.addIssue(`is not allowed; it ${rule}`);
      return z.NEVER;
    });
}

export function listOf<Entry extends z.ZodType>(
  entry: Entry,
  { min, max }: { readonly min: number; readonly max: number },
  description: string,
) {
  const rule = `must be a list of ${min === 0 ? 'at most' : `${min} to`} ${max} entries`;
  return z
    .array(entry, { error: ({ input }) => `${input === undefined ? 'is missing' : 'is not a list'}; it ${rule}` })
    .min(min, { error: `has too few entries; it ${rule}` })
    .max(max, { error: `has too many entries; it ${rule}` })
    .meta({ description });
}

/** An object without other fields. */
export function fields<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  const allowed = `allowed are ${Object.keys(shape).join(', ')}`;
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `has unknown fields (${shownKeys(issue.keys)}); ${allowed}`
        : `must be an object; ${allowed}`,
  });
}

function shownKeys(keys: readonly string[]): string {
  const shown = keys.slice(0, MAX_LISTED_KEYS).map((key) => JSON.stringify(key.slice(0, MAX_SHOWN_KEY)));
  return [...shown, ...(keys.length > MAX_LISTED_KEYS ? ['...'] : [])].join(', ');
}

export function image(description: string) {
  return fields({
    url: httpsUrl('The URL of the image.'),
    alt: text(300, 'A description for users who cannot see the image.'),
  }).meta({ description });
}

export function links(max: number) {
  const link = fields({ label: text(80, 'The text of the link.'), url: httpsUrl('The target of the link.') });
  return listOf(link, { min: 0, max }, 'Links that the user can open.');
}

/** The first label that occurs twice, compared by its visible characters. */
export function repeatedLabel(labels: readonly string[]): string | undefined {
  const seen = new Set<string>();
  return labels.find((label) => seen.size === seen.add(visibleText(label)).size);
}
