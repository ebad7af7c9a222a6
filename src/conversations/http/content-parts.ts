import { type AttachmentReference, isDataUrl, readDataUrl } from '../../files/index.js';
import { ValidationFailed } from '../../platform/errors/index.js';
import { validated } from '../../platform/http/index.js';
import { AttachmentBody, MAX_ATTACHMENTS } from './attachments.dto.js';
import { MAX_PARTS } from './content-limits.js';

export interface Content {
  readonly text: string;
  readonly attachments: readonly AttachmentReference[];
}

export type Part = { readonly text: string } | { readonly file: PartFile };

export interface PartFile {
  readonly url: string;
  /** Absent when the part has none; a data URL then has the type. */
  readonly contentType?: string | undefined;
  readonly name?: string | undefined;
}

const UNKNOWN_TYPE = 'application/octet-stream';
/** So many characters of a data URL include its type. */
const HEAD_LENGTH = 300;
/** The extensions of generated names. */
const EXTENSIONS: Readonly<Record<string, string>> = {
  'image/png': '.png',
  'image/jpeg': '.jpg',
  'image/gif': '.gif',
  'image/webp': '.webp',
  'application/pdf': '.pdf',
  'text/plain': '.txt',
};

/** Combines the parts of a message. @throws ValidationFailed naming the part */
export function combineParts<Item>(
  parts: readonly Item[],
  path: string,
  read: (part: Item, path: string) => Part,
): Content {
  if (parts.length > MAX_PARTS) throw new ValidationFailed(`${path} must have at most ${MAX_PARTS} parts`);
  const texts: string[] = [];
  const attachments: AttachmentReference[] = [];
  for (const [index, item] of parts.entries()) {
    const at = `${path}/${index}`;
    const part = read(item, at);
    if ('text' in part) {
      texts.push(part.text);
    } else if (attachments.length === MAX_ATTACHMENTS) {
      throw new ValidationFailed(`${path} must have at most ${MAX_ATTACHMENTS} parts that are not text`);
    } else {
      attachments.push(referenceOf(part.file, attachments.length + 1, at));
    }
  }
  return { text: texts.join('\n'), attachments };
}

function referenceOf({ url, contentType, name }: PartFile, number: number, path: string): AttachmentReference {
  const type = contentType ?? (isDataUrl(url) ? readDataUrl(url.slice(0, HEAD_LENGTH))?.mediaType : undefined);
  const declared = type === undefined || type === '' ? UNKNOWN_TYPE : type;
  const fallback = `file-${number}${EXTENSIONS[declared] ?? ''}`;
  return validated(AttachmentBody, { url, contentType: declared, name: name ?? nameIn(url) ?? fallback }, path);
}

/** The last segment of the path, if it looks like the name of a file. */
function nameIn(url: string): string | undefined {
  const last = isDataUrl(url) ? undefined : URL.parse(url)?.pathname.split('/').at(-1);
  if (last === undefined || !/^[\w.-]{1,200}\.\w{1,10}$/.test(last)) return undefined;
  return last;
}
