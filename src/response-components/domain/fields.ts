import { z } from 'zod';
import { isBlank, visibleText } from '../../platform/text/index.js';

/** The fields of components' props, each with its rule as the model reads it: in the tool's schema, and in errors. */

const MAX_URL = 2_048;
const MAX_LISTED_KEYS = 3;
const MAX_SHOWN_KEY = 40;

/** Plain text, as it is shown: not blank, at most so many Unicode code points, nothing unprintable but line breaks and tabs. */
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
  // A string has at most as many code points as code units, and at least half as many.
  if (value.length > 2 * max || [...value].length > max) return 'is too long';
  // Of the formatting ones: those that turn the direction, so that a text reads as what it is not, and tags.
  if (!value.isWellFormed() || /[^\P{Cc}\n\r\t]|[\u202a-\u202e\u2066-\u2069\u{e0001}]/u.test(value))
    return 'holds characters that cannot be shown';
  if (isBlank(value)) return 'is blank';
  return null;
}

/** An address that a browser may be sent to, as the URL standard writes it. */
export function httpsUrl(description: string) {
  const rule = `must be an absolute https URL of at most ${MAX_URL} characters, without user name and password`;
  return z
    .string({ error: ({ input }) => `${input === undefined ? 'is missing' : 'is not a text'}; it ${rule}` })
    .meta({ description, format: 'uri', pattern: '^https://', maxLength: MAX_URL })
    .transform((value, context) => {
      const url = value.length <= MAX_URL ? URL.parse(value) : null;
      // What is written out in full may be longer than what was sent.
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

/** An object that has these fields and no others. */
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
    url: httpsUrl('Where the image is.'),
    alt: text(300, 'What the image shows, for those who do not see it.'),
  }).meta({ description });
}

export function links(max: number) {
  const link = fields({ label: text(80, 'What the link says.'), url: httpsUrl('Where it leads.') });
  return listOf(link, { min: 0, max }, 'Links that the user can open.');
}

/** The first label that is there twice, compared as the user sees it; undefined where all differ. */
export function repeatedLabel(labels: readonly string[]): string | undefined {
  const seen = new Set<string>();
  return labels.find((label) => seen.size === seen.add(visibleText(label)).size);
}
