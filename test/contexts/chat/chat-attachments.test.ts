import { randomUUID } from 'node:crypto';
import { HttpAgent, type Message } from '@ag-ui/client';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { Canary } from '../../support/canary.js';
import { filePart, PDF, PNG, upload } from '../../support/files.js';
import { startService, type TestService } from '../../support/harness.js';
import { AGENT_WIRES, anthropicWire, type ProviderWire } from '../../support/provider-wire.js';
import { says } from '../../support/scripted-models.js';
import type { SentPart } from '../../support/sent-parts.js';
import { assistant, Chat, user } from './support.js';

let service: TestService;
let site: Canary;

beforeAll(async () => {
  site = await Canary.start();
  service = await startService({ environment: { EGRESS_ALLOW: `127.0.0.1:${site.port}` } });
});
afterAll(async () => {
  await service.close();
  await site.close();
});
beforeEach(() => {
  service.models.reset();
  service.models.always(says('Seen.'));
  site.requests.length = 0;
  site.respond((_request, response) => response.end(PNG));
});

const PNG_URL = `data:image/png;base64,${PNG.toString('base64')}`;
const PDF_URL = `data:application/pdf;base64,${PDF.toString('base64')}`;

const image: SentPart = { kind: 'image', mediaType: 'image/png', data: PNG.toString('base64') };
const text = (words: string): SentPart => ({ kind: 'text', text: words });

/** The kinds of the parts in the request to the model, for each message. */
function kinds(wire: ProviderWire = anthropicWire): string[][] {
  return sent(wire).map((parts) => parts.map(({ kind }) => kind));
}

function sent(wire: ProviderWire = anthropicWire): SentPart[][] {
  return wire.userParts(service.models.requests.at(-1)?.body ?? {});
}

describe.each(AGENT_WIRES)('the official OpenAI client, on an agent of $provider', (wire) => {
  it('sends images and files as content parts', async () => {
    const chat = await Chat.start(service, { provider: { type: wire.provider, model: wire.model } });
    const client = new OpenAI({ apiKey: chat.key, baseURL: `${service.baseUrl}/v1`, maxRetries: 0 });

    const completion = await client.chat.completions.create({
      model: chat.agentId,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look' },
            { type: 'image_url', image_url: { url: PNG_URL } },
            { type: 'image_url', image_url: { url: `${site.url}/photo.png`, detail: 'low' } },
            { type: 'file', file: { filename: 'paper.pdf', file_data: PDF_URL } },
            { type: 'file', file: { file_data: PDF.toString('base64') } },
          ],
        },
      ],
    });

    expect(completion.choices[0]?.message.content).toBe('Seen.');
    expect(kinds(wire)).toEqual([['image', 'image', 'pdf', 'pdf', 'text']]);
    expect(sent(wire)[0]?.slice(0, 2)).toEqual([image, image]);
    const { thread_id: threadId } = completion as unknown as { thread_id: string };
    const [asked] = await chat.messages(threadId);
    expect(asked).toMatchObject({ content: 'Look' });
    expect(asked?.attachments.map(({ name, contentType }) => [name, contentType])).toEqual([
      ['file-1.png', 'image/png'],
      ['photo.png', 'image/png'],
      ['paper.pdf', 'application/pdf'],
      ['file-4', 'application/pdf'],
    ]);
    expect(asked?.attachments[1]?.url).toBe(`${site.url}/photo.png`);
  });
});

describe.each(AGENT_WIRES)('the official AG-UI client, on an agent of $provider', (wire) => {
  it('sends images and documents as content parts', async () => {
    const chat = await Chat.start(service, { provider: { type: wire.provider, model: wire.model } });
    const client = new HttpAgent({
      url: `${service.baseUrl}/v1/agents/${chat.agentId}/ag-ui`,
      headers: { authorization: `Bearer ${chat.key}` },
      threadId: randomUUID(),
    });
    const said: Message = {
      id: randomUUID(),
      role: 'user',
      content: [
        { type: 'image', source: { type: 'data', value: PNG.toString('base64'), mimeType: 'image/png' } },
        { type: 'document', source: { type: 'url', value: `${site.url}/scan` }, metadata: { filename: 'scan.png' } },
        { type: 'text', text: 'Look' },
      ],
    };
    client.messages = [said];

    await client.runAgent();
    client.messages.push({ id: randomUUID(), role: 'user', content: 'Again' });
    await client.runAgent();

    expect(sent(wire)).toEqual([[image, image, text('Look')], [text('Again')]]);
    expect(site.requests).toHaveLength(1);
    const [thread] = await chat.threads();
    const [asked] = await chat.messages(thread?.id ?? '');
    expect(asked?.attachments.map(({ name }) => name)).toEqual(['file-1.png', 'scan.png']);
  });
});

describe('a chat completion that names its agent in assistant_id', () => {
  const photo = { name: 'photo.png', url: PNG_URL, contentType: 'image/png' };

  it('takes attachments of the new message and of the history, which the thread then has', async () => {
    const chat = await Chat.start(service);
    const { body: file } = await upload(service, chat.key, filePart('a,b', 'text/csv', 'table.csv'));
    const table = { name: 'my table', url: file.url, contentType: 'text/csv' };

    const { status, body } = await chat.ask([
      { ...user('First'), attachments: [table] },
      assistant('Fine'),
      { ...user('Second'), attachments: [photo] },
    ]);

    expect(status).toBe(200);
    const first = [{ kind: 'document', name: 'my table', text: 'a,b' }, text('First')];
    expect(sent()).toEqual([first, [image, text('Second')]]);
    const names = (await chat.messages(body.thread_id)).map(({ attachments }) => attachments.map(({ name }) => name));
    expect(names).toEqual([['my table'], [], ['photo.png'], []]);

    await chat.ask([{ ...user('Ignored'), attachments: [photo] }, user('Third')], { thread_id: body.thread_id });
    expect(sent()).toEqual([first, [image, text('Second')], [text('Third')]]);
  });

  it('with an attachment that cannot be used, in any message, is 422 and opens no thread', async () => {
    const chat = await Chat.start(service);
    const bad = { ...photo, name: 'bad', url: 'data:image/png,not-a-picture' };
    for (const messages of [
      [{ ...user('First'), attachments: [photo, bad] }, user('Second')],
      [user('First'), { ...user('Second'), attachments: [bad] }],
    ]) {
      const { status, body } = await chat.ask<object>(messages);
      expect(status).toBe(422);
      expect(body).toEqual({ error: 'unprocessable_entity', message: expect.stringContaining('The attachment "bad"') });
    }
    expect(await chat.threads()).toEqual([]);
    expect(
      await service.database.query('select 1 from files where organization_id = $1', [chat.organization.id]),
    ).toEqual([]);
  });

  it.each<[string, object[], string]>([
    ['of the assistant', [{ ...assistant('Hi'), attachments: [photo] }, user('Hi')], 'body/messages/0'],
    ['more than 20', [{ ...user('Hi'), attachments: Array(21).fill(photo) }], 'body/messages/0/attachments'],
    [
      'more than 50 altogether',
      [...Array<object>(3).fill({ ...user('Hi'), attachments: Array(17).fill(photo) }), user('Hi')],
      'at most 50',
    ],
  ])('with attachments %s is 400', async (_what, messages, named) => {
    const chat = await Chat.start(service);
    const answer = await chat.ask<object>(messages as never);
    expect(answer).toMatchObject({
      status: 400,
      body: { code: 'FST_ERR_VALIDATION', message: expect.stringContaining(named) },
    });
    expect(await chat.threads()).toEqual([]);
  });
});

describe('a content part that cannot be read', () => {
  it.each<[string, object, string]>([
    ['an image without URL', { type: 'image_url', image_url: {} }, 'content/0/image_url/url must be a string'],
    ['an image at a relative URL', { type: 'image_url', image_url: { url: '/x' } }, 'content/0/url must be'],
    [
      'a file by its id elsewhere',
      { type: 'file', file: { file_id: 'file-1' } },
      'content/0/file/file_data is required',
    ],
    ['a file without a file', { type: 'file' }, 'content/0/file must be an object'],
  ])('%s is 400 that names it', async (_what, part, named) => {
    const chat = await Chat.start(service);
    const answer = await chat.complete<object>({ model: chat.agentId, messages: [user([part])] });
    expect(answer).toMatchObject({
      status: 400,
      body: { code: 'FST_ERR_VALIDATION', message: expect.stringContaining(named) },
    });
  });

  it('an image in a system message is 400', async () => {
    const chat = await Chat.start(service);
    const system = { role: 'system', content: [{ type: 'image_url', image_url: { url: PNG_URL } }] };
    expect((await chat.complete({ model: chat.agentId, messages: [system, user('Hi')] })).status).toBe(400);
  });

  it('an image without text is a message', async () => {
    const chat = await Chat.start(service);
    const { status } = await chat.complete({
      model: chat.agentId,
      messages: [user([{ type: 'image_url', image_url: { url: PNG_URL } }])],
    });
    expect(status).toBe(200);
    expect(sent()).toEqual([[image]]);
  });
});
