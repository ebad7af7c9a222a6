import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { RemoveUnusedFiles } from '../../../src/files/jobs/remove-unused-files.job.js';
import { Canary } from '../../support/canary.js';
import { filePart, PDF, PNG, upload, type UploadedAnswer } from '../../support/files.js';
import { startService, type TestService } from '../../support/harness.js';
import { activeJob } from '../../support/job-site.js';
import { AGENT_WIRES, anthropicWire, openaiWire, type ProviderWire } from '../../support/provider-wire.js';
import { type ModelScript, refuses, says } from '../../support/scripted-models.js';
import type { SentPart } from '../../support/sent-parts.js';
import { ShiftedClock } from '../../support/shifted-clock.js';
import { Talk } from '../../support/talk.js';

const DAY_MS = 86_400_000;

let service: TestService;
let clock: ShiftedClock;
let site: Canary;

beforeAll(async () => {
  site = await Canary.start();
  clock = new ShiftedClock();
  service = await startService({ clock, environment: { EGRESS_ALLOW: `127.0.0.1:${site.port}` } });
});
afterAll(async () => {
  await service.close();
  await site.close();
});
beforeEach(() => {
  service.models.reset();
  service.models.always(says('Seen.'));
  site.requests.length = 0;
});

interface Attachment {
  readonly name: string;
  readonly url: string;
  readonly contentType: string;
}

async function uploaded(
  talk: Talk,
  name: string,
  content: string | Buffer,
  type: string,
): Promise<Attachment & UploadedAnswer> {
  const { body } = await upload(service, talk.key, filePart(content, type, name));
  return { ...body, name, contentType: type };
}

/** A message with these files, and its run. */
async function turn(
  talk: Talk,
  text: string,
  files: readonly Attachment[] = [],
): Promise<{ status: number; body: object }> {
  const attachments = files.map(({ name, url, contentType }) => ({ name, url, contentType }));
  return talk.run<object>(text, { message: { role: 'user', content: text, attachments } });
}

/** The parts of the user's messages in the newest request to the model. */
function sent(wire: ProviderWire = anthropicWire): SentPart[][] {
  return wire.userParts(service.models.requests.at(-1)?.body ?? {});
}

function serve(content: string | Buffer): void {
  site.respond((_request, response) => response.end(content));
}

const image = (data: Buffer): SentPart => ({ kind: 'image', mediaType: 'image/png', data: data.toString('base64') });
const text = (words: string): SentPart => ({ kind: 'text', text: words });

const tooLong: ModelScript = (exchange, wire) => {
  exchange.refuse(wire.contextTooLong.status, wire.contextTooLong.body);
};

const clean = (): Promise<void> => service.app.get(RemoveUnusedFiles, { strict: false }).process(activeJob({}));

describe.each(AGENT_WIRES)('an attachment, on $provider', (wire) => {
  const start = (): Promise<Talk> => Talk.start(service, { provider: { type: wire.provider, model: wire.model } });

  it('comes before the text for the model: an image and a PDF as such, a text file as text', async () => {
    const talk = await start();
    const files = [
      await uploaded(talk, 'dot.png', PNG, 'image/png'),
      await uploaded(talk, 'paper.pdf', PDF, 'application/pdf'),
      await uploaded(talk, 'notes.md', 'some *notes*', 'text/markdown'),
    ];

    expect((await turn(talk, 'Look', files)).status).toBe(200);

    const pdf = { kind: 'pdf', mediaType: 'application/pdf', data: PDF.toString('base64') };
    expect(sent(wire)).toEqual([
      [
        image(PNG),
        // Google's parts have no names.
        wire.api === 'gemini' ? pdf : { ...pdf, name: 'paper.pdf' },
        { kind: 'document', name: 'notes.md', text: 'some *notes*' },
        text('Look'),
      ],
    ]);
  });

  it('is sent again in the next run, from a copy: its URL is fetched once', async () => {
    const talk = await start();
    serve(PNG);
    await turn(talk, 'Look', [{ name: 'dot.png', url: `${site.url}/dot`, contentType: 'image/png' }]);
    serve('something else by now');

    await turn(talk, 'Again');

    expect(sent(wire)).toEqual([[image(PNG), text('Look')], [text('Again')]]);
    expect(site.requests).toHaveLength(1);
  });

  it('that is missing from the store is replaced by a note, and the run continues', async () => {
    const talk = await start();
    const file = await uploaded(talk, 'dot.png', PNG, 'image/png');
    await turn(talk, 'Look', [file]);
    await service.database.query('delete from files where id = $1', [file.id]);

    expect((await turn(talk, 'Again')).status).toBe(200);

    const note = '[The file "dot.png" (image/png) was attached to this message. It can no longer be read.]';
    expect(sent(wire)).toEqual([[text(`Look\n\n${note}`)], [text('Again')]]);
  });

  it('that the provider refuses fails only that run: later runs continue without it', async () => {
    const talk = await start();
    service.models.next(refuses(400));
    const refused = await turn(talk, 'Look', [await uploaded(talk, 'dot.png', PNG, 'image/png')]);
    expect(refused).toMatchObject({
      status: 502,
      body: { code: 'provider_error', message: expect.stringContaining('attachments') },
    });
    service.models.next(refuses(400), says('Without it, then.'));

    const { status, body } = await turn(talk, 'Again');

    expect({ status, body }).toMatchObject({ status: 200, body: { message: { content: 'Without it, then.' } } });
    expect(sent(wire)[0]).toEqual([
      text(expect.stringMatching(/^Look\n\n\[The file "dot.png".*not shown again/) as unknown as string),
    ]);
  });

  it('is in the trace with name, type and size, without its bytes and signature', async () => {
    const talk = await start();
    const file = await uploaded(talk, 'notes.txt', 'canary-in-the-bytes', 'text/plain');
    for (const [words, files] of [
      ['Look', [file]],
      ['Again', []],
    ] as const) {
      await turn(talk, words, files);
      const trace = await talk.trace();
      const named = { name: 'notes.txt', contentType: 'text/plain', size: 19 };
      expect(trace.steps).toMatchObject([{ type: 'model', input: { attachments: [named] } }]);
      expect(JSON.stringify(trace)).not.toContain('canary-in-the-bytes');
      expect(JSON.stringify(trace)).not.toContain(new URL(file.url).searchParams.get('signature'));
      expect(JSON.stringify(trace)).not.toContain(file.id);
    }
  });
});

describe('a picture that OpenAI refuses inside its answer', () => {
  it('is left out of later runs too', async () => {
    const talk = await Talk.start(service, { provider: { type: 'openai-responses' } });
    await turn(talk, 'Look', [await uploaded(talk, 'dot.png', PNG, 'image/png')]);
    const error = { code: 'invalid_image', message: 'The image data you provided does not represent a valid image.' };
    const failed = { type: 'response.failed', sequence_number: 0, response: { id: 'r', status: 'failed', error } };
    service.models.next((exchange) =>
      exchange.sendAll([`event: response.failed\ndata: ${JSON.stringify(failed)}\n\n`]),
    );

    expect((await turn(talk, 'Again')).status).toBe(200);

    expect(sent(openaiWire)[0]?.map(({ kind }) => kind)).toEqual(['text']);
  });
});

describe('the messages of a thread', () => {
  it('show the attachments: an upload with a fresh URL, other files with their own', async () => {
    const talk = await Talk.start(service);
    serve('a,b');
    const own = await uploaded(talk, 'dot.png', PNG, 'image/png');
    const elsewhere = { name: 'table.csv', url: `${site.url}/table?token=1`, contentType: 'text/csv; charset=utf-8' };
    clock.moveOn(2 * 3_600_000);
    expect((await fetch(own.url)).status).toBe(410);

    await turn(talk, 'Look', [own, elsewhere]);
    const [asked, answered] = await talk.messages();

    expect(asked?.attachments).toEqual([
      { name: 'dot.png', url: expect.stringContaining(`/v1/files/${own.id}/content?`), contentType: 'image/png' },
      { name: 'table.csv', url: elsewhere.url, contentType: 'text/csv' },
    ]);
    expect(answered?.attachments).toEqual([]);
    expect(Buffer.from(await (await fetch(asked?.attachments[0]?.url ?? '')).arrayBuffer())).toEqual(PNG);
  });

  it('show a data URL as the signed URL of its copy', async () => {
    const talk = await Talk.start(service);
    const url = `data:image/png;base64,${PNG.toString('base64')}`;
    await turn(talk, 'Look', [{ name: 'dot.png', url, contentType: 'image/png' }]);
    expect(sent()).toEqual([[image(PNG), text('Look')]]);
    const [asked] = await talk.messages();
    expect(Buffer.from(await (await fetch(asked?.attachments[0]?.url ?? '')).arrayBuffer())).toEqual(PNG);
    await turn(talk, 'Again');
    expect(sent()[0]).toEqual([image(PNG), text('Look')]);
  });

  it('have a note for the model instead of an empty text file, which providers refuse', async () => {
    const talk = await Talk.start(service);
    await turn(talk, 'Look', [{ name: 'empty.txt', url: 'data:text/plain,', contentType: 'text/plain' }]);
    expect(sent()).toEqual([
      [text('Look\n\n[The file "empty.txt" (text/plain) was attached to this message. It is empty.]')],
    ]);
  });
});

describe('a long conversation', () => {
  it('gives the model the newest 20 files, and notes instead of the others', async () => {
    const talk = await Talk.start(service);
    const files = (from: number): Attachment[] =>
      Array.from({ length: 8 }, (_, index) => ({
        name: `${from + index}.txt`,
        url: `data:text/plain,text ${from + index}`,
        contentType: 'text/plain',
      }));
    await turn(talk, 'one', files(0));
    await turn(talk, 'two', files(10));
    await turn(talk, 'three', files(20));

    const parts = sent();
    expect(parts.map((message) => message.filter(({ kind }) => kind === 'document').length)).toEqual([4, 8, 8]);
    expect(parts[0]?.at(-1)).toEqual(text(expect.stringContaining('The file "7.txt"') as unknown as string));
  });

  it('that is too long for a provider loses old files before old messages', async () => {
    const talk = await Talk.start(service);
    await turn(talk, 'Look', [await uploaded(talk, 'dot.png', PNG, 'image/png')]);
    service.models.next(tooLong, says('It fits.'));
    expect((await turn(talk, 'Again')).status).toBe(200);
    expect(sent()).toEqual([
      [text(expect.stringMatching(/^Look\n\n\[The file/) as unknown as string)],
      [text('Again')],
    ]);
  });

  it('fails only when the newest message with its files does not fit', async () => {
    const talk = await Talk.start(service);
    await turn(talk, 'Look', [await uploaded(talk, 'dot.png', PNG, 'image/png')]);
    service.models.always(tooLong);
    const { status, body } = await turn(talk, 'Read', [
      await uploaded(talk, 'book.txt', 'x'.repeat(900_000), 'text/plain'),
    ]);
    expect({ status, body }).toMatchObject({ status: 422, body: { error: 'unprocessable_entity' } });
    expect(sent()).toEqual([[{ kind: 'document', name: 'book.txt', text: expect.any(String) }, text('Read')]]);
    expect(await talk.lines()).toEqual(['user: Look', 'assistant: Seen.', 'user: Read']);
  });

  it('leaves out an old file whose text would fill the context, but not its message', async () => {
    const talk = await Talk.start(service);
    const huge = await uploaded(talk, 'huge.txt', 'x'.repeat(400_000), 'text/plain');
    await turn(talk, 'Look', [huge]);
    expect(sent()[0]?.[0]).toMatchObject({ kind: 'document', name: 'huge.txt' });
    await turn(talk, 'Again');
    expect(sent()).toEqual([
      [text(expect.stringMatching(/^Look\n\n\[The file "huge.txt"/) as unknown as string)],
      [text('Again')],
    ]);
  });
});

describe('the job that removes unused files', () => {
  it('keeps files while messages refer to them', async () => {
    const talk = await Talk.start(service);
    serve('a,b');
    const own = await uploaded(talk, 'dot.png', PNG, 'image/png');
    await turn(talk, 'Look', [own, { name: 'table.csv', url: site.url, contentType: 'text/csv' }]);
    const left = async (): Promise<number> =>
      (await service.database.query('select id from files where organization_id = $1', [talk.organization.id])).length;

    clock.moveOn(400 * DAY_MS);
    await clean();
    expect(await left()).toBe(2);
    expect((await service.http('DELETE', talk.path, { key: talk.key })).status).toBe(200);
    await clean();
    expect(await left()).toBe(0);
  });
});
