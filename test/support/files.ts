import type { Answer, TestService } from './harness.js';

export interface UploadedAnswer {
  readonly id: string;
  readonly name: string;
  readonly url: string;
  readonly contentType: string;
  readonly size: number;
}

export interface Part {
  readonly name: string;
  readonly value: string | Buffer;
  /** Makes the part a file. */
  readonly fileName?: string;
  readonly contentType?: string;
}

/** The smallest files that carry their type's mark. */
export const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
export const PDF = Buffer.from('%PDF-1.7\n%%EOF\n');

export function filePart(value: string | Buffer, contentType = 'text/plain', fileName = 'file.txt'): Part {
  return { name: 'file', value, contentType, fileName };
}

/** A multipart body, byte for byte as the parts say. */
export function multipart(parts: readonly Part[], boundary = 'boundary'): { body: Buffer; contentType: string } {
  const chunks = parts.flatMap(({ name, value, fileName, contentType }) => [
    Buffer.from(
      `--${boundary}\r\ncontent-disposition: form-data; name="${name}"` +
        `${fileName === undefined ? '' : `; filename="${fileName}"`}\r\n` +
        `${contentType === undefined ? '' : `content-type: ${contentType}\r\n`}\r\n`,
    ),
    Buffer.from(value),
    Buffer.from('\r\n'),
  ]);
  return {
    body: Buffer.concat([...chunks, Buffer.from(`--${boundary}--\r\n`)]),
    contentType: `multipart/form-data; boundary=${boundary}`,
  };
}

export async function upload<Body = UploadedAnswer>(
  service: TestService,
  key: string | undefined,
  ...parts: readonly Part[]
): Promise<Answer<Body>> {
  const { body, contentType } = multipart(parts);
  const response = await fetch(`${service.baseUrl}/v1/files/upload`, {
    method: 'POST',
    headers: { 'content-type': contentType, ...(key === undefined ? {} : { authorization: `Bearer ${key}` }) },
    body,
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: JSON.parse(text) as Body };
}
