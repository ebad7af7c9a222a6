const MAX_NAME_LENGTH = 255;

/** What separates folders, and characters that a terminal, a header or a file system takes for something else. */
// eslint-disable-next-line no-control-regex -- a mistake elsewhere, the purpose here: these characters are taken out
const UNWANTED = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069"\\/:*?<>|]/gu;

/** The last part of the client's path, at most 255 code points; `file` where nothing is left. */
export function fileNameOf(given: string): string {
  const last = given.split(/[\\/]/).at(-1) ?? '';
  const name = [...last.replace(UNWANTED, '_')].slice(0, MAX_NAME_LENGTH).join('').trim();
  return /^[._]*$/.test(name) ? 'file' : name;
}

/** Offers the file for saving under its name: in ASCII for old clients, in full for all others (RFC 6266). */
export function contentDisposition(name: string): string {
  const ascii = name.replace(/[^\x20-\x7e]|[%"\\]/gu, '_');
  const encoded = encodeURIComponent(name).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}
