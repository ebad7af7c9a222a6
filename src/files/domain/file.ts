export interface StoredUpload {
  readonly id: string;
  readonly organizationId: string;
  readonly name: string;
  readonly contentType: string;
  /** In bytes. */
  readonly size: number;
}

export function storageKey({ organizationId, id }: Pick<StoredUpload, 'organizationId' | 'id'>): string {
  return `uploads/${organizationId}/${id}`;
}

const MAX_NAME_LENGTH = 255;

/** Separators of folders, and characters with a special meaning in a terminal, a header or a file system. */
// eslint-disable-next-line no-control-regex -- control characters are what this expression removes
const UNWANTED = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069"\\/:*?<>|]/gu;

/** The last part of the client's path, at most 255 code points; `file` when nothing usable remains. */
export function fileNameOf(given: string): string {
  const last = given.split(/[\\/]/).at(-1) ?? '';
  const name = [...last.replace(UNWANTED, '_')].slice(0, MAX_NAME_LENGTH).join('').trim();
  return /^[._]*$/.test(name) ? 'file' : name;
}

/** The header that offers the file for saving under its name, in ASCII for old clients and in full (RFC 6266). */
export function contentDisposition(name: string): string {
  const ascii = name.replace(/[^\x20-\x7e]|[%"\\]/gu, '_');
  const encoded = encodeURIComponent(name).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}
