import { z } from 'zod';
import { MAX_FORMATTED } from './limits.js';

const dateTime = z.iso.datetime({ offset: true });
const date = z.iso.date();
const email = z.email();
const ipv4 = z.ipv4();
const ipv6 = z.ipv6();
const uuid = z.guid();

/** The formats that are checked; as the standard has it, any other is a note. All take linear time. */
const FORMATS: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ['date-time', (text) => dateTime.safeParse(text).success],
  ['date', (text) => date.safeParse(text).success],
  ['time', (text) => /^([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?(z|[+-]\d\d:\d\d)$/i.test(text)],
  ['email', (text) => email.safeParse(text).success],
  ['ipv4', (text) => ipv4.safeParse(text).success],
  ['ipv6', (text) => ipv6.safeParse(text).success],
  ['uuid', (text) => uuid.safeParse(text).success],
  ['uri', (text) => URL.canParse(text)],
]);

/** Undefined for a format that is not checked. */
export function formatOf(name: string): ((text: string) => boolean) | undefined {
  const isValid = FORMATS.get(name);
  return isValid && ((text) => text.length <= MAX_FORMATTED && isValid(text));
}
