import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { AttachmentFetcher, AttachmentMemory, type FetchedAttachment } from '../../../src/files/index.js';
import { Canary } from '../../support/canary.js';
import { filePart, PDF, PNG, upload } from '../../support/files.js';
import { startService, type TestOrganization, type TestService } from '../../support/harness.js';
import { S3Server } from '../../support/s3-server.js';

const MIB = 1024 * 1024;

let service: TestService;
let site: Canary;
let bucket: S3Server;
let owner: TestOrganization;

beforeAll(async () => {
  site = await Canary.start();
  bucket = await S3Server.start();
  const environment = { EGRESS_ALLOW: `127.0.0.1:${site.port}`, ...bucket.environment };
  service = await startService({ environment });
});
beforeEach(async () => {
  owner = await service.organization();
});
afterAll(async () => {
  await service.close();
  await bucket.close();
  await site.close();
});

function fetched(url: string, contentType = 'text/plain', organizationId = owner.id): Promise<FetchedAttachment> {
  const fetcher = service.app.get(AttachmentFetcher, { strict: false });
  const memory = service.app.get(AttachmentMemory, { strict: false }).reserve();
  return fetcher.fetch({ url, contentType, name: 'attachment' }, organizationId, memory).finally(() => {
    memory.release();
  });
}

async function uploadedUrl(...parts: Parameters<typeof filePart>): Promise<string> {
  return (await upload(service, owner.key, filePart(...parts))).body.url;
}

/** Sets the content that the site returns. */
function serve(content: string | Buffer, status = 200): string {
  site.respond((_request, response) =>
    response.writeHead(status, { 'content-type': 'application/x-ignored' }).end(content),
  );
  return `${site.url}/some/file`;
}

describe('an attachment that is an upload', () => {
  it.each([
    ['image/png', PNG, { kind: 'image', mediaType: 'image/png', data: PNG }],
    ['application/pdf', PDF, { kind: 'pdf', mediaType: 'application/pdf', data: PDF }],
    ['text/csv', Buffer.from('a,b'), { kind: 'text', mediaType: 'text/csv', data: Buffer.from('a,b') }],
  ])('has the content type of the upload (%s), whatever the message declares', async (type, content, expected) => {
    const before = site.connections;
    expect(await fetched(await uploadedUrl(content, type), 'video/mp4')).toEqual(expected);
    expect(site.connections).toBe(before);
  });

  it('of another organization, with a forged URL or removed is refused with the same message, and never fetched', async () => {
    const url = await uploadedUrl('x');
    const stranger = await service.organization();
    const foreign = await fetched(url, 'text/plain', stranger.id);
    expect(foreign).toMatchObject({ kind: 'refused', reason: 'unreachable' });
    await service.database.query('delete from files where organization_id = $1', [owner.id]);
    expect(await fetched(url)).toEqual(foreign);
  });

  it('over 20 MiB is refused', async () => {
    const url = await uploadedUrl(Buffer.alloc(20 * MIB + 1, 'x'), 'text/plain');
    expect(await fetched(url)).toMatchObject({ kind: 'refused', reason: 'too_large' });
  });
});

describe('an attachment at an external URL', () => {
  it.each([
    ['image/png', PNG, { kind: 'image', mediaType: 'image/png' }],
    ['application/octet-stream', PNG, { kind: 'image', mediaType: 'image/png' }],
    ['application/pdf', PDF, { kind: 'pdf', mediaType: 'application/pdf' }],
    ['application/octet-stream', Buffer.from('hello'), { kind: 'text', mediaType: 'text/plain' }],
    ['application/json', Buffer.from('{}'), { kind: 'text', mediaType: 'application/json' }],
    ['image/svg+xml', Buffer.from('<svg/>'), { kind: 'text', mediaType: 'image/svg+xml' }],
    ['TEXT/HTML; charset=utf-8', Buffer.from('<p>'), { kind: 'text', mediaType: 'text/html' }],
  ])('is fetched and classified by its bytes and its declared type (%s)', async (type, content, expected) => {
    expect(await fetched(serve(content), type)).toEqual({ ...expected, data: content });
  });

  it('in UTF-16 or with a byte-order mark becomes plain UTF-8', async () => {
    const utf16 = Buffer.from('\ufeffgrüße', 'utf16le');
    for (const content of [utf16, Buffer.from('\ufeffgrüße'), Buffer.from(utf16).swap16()]) {
      expect(await fetched(serve(content))).toEqual({
        kind: 'text',
        mediaType: 'text/plain',
        data: Buffer.from('grüße'),
      });
    }
  });

  it.each([
    ['image/png', Buffer.from('<html>'), 'unsupported'],
    ['application/pdf', PNG, 'unsupported'],
    ['text/plain', Buffer.from([0x66, 0x00, 0x67]), 'unsupported'],
    ['text/plain', Buffer.from([0xff, 0x00, 0x80]), 'unsupported'],
    ['application/zip', Buffer.from('PK\u0003\u0004'), 'unsupported'],
    ['video/mp4', Buffer.from('x'), 'unsupported'],
    ['text/plain', Buffer.alloc(MIB + 1, 'x'), 'too_large'],
    ['image/png', Buffer.concat([PNG, Buffer.alloc(20 * MIB)]), 'too_large'],
  ])('that is not %s is refused with a reason', async (type, content, reason) => {
    expect(await fetched(serve(content), type)).toMatchObject({ kind: 'refused', reason });
  });

  it('whose server fails is refused as unreachable', async () => {
    expect(await fetched(serve('', 404))).toMatchObject({ kind: 'refused', reason: 'unreachable' });
    site.respond((_request, response) => response.destroy());
    expect(await fetched(`${site.url}/`)).toMatchObject({ kind: 'refused', reason: 'unreachable' });
  });

  it.each(['http://localhost:1/', 'http://169.254.169.254/latest/meta-data', 'http://[::1]/', 'ftp://a.example/', 'x'])(
    'at %s is refused, and the refusal tells nothing about the network',
    async (url) => {
      const answer = await fetched(url);
      expect(answer).toMatchObject({ kind: 'refused', reason: 'unreachable' });
      expect(JSON.stringify(answer)).not.toMatch(/\d+\.\d+|localhost|ECONN/);
    },
  );

  it('behind a redirect to an address that is not public is refused', async () => {
    const before = site.requests.length;
    site.respond((_request, response) =>
      response.writeHead(302, { location: `http://127.1:${service.baseUrl.split(':')[2] ?? ''}/health/live` }).end(),
    );
    expect(await fetched(`${site.url}/`)).toMatchObject({ kind: 'refused', reason: 'unreachable' });
    expect(site.requests.length).toBe(before + 1);
  });
});
