import { describe, expect, it } from '@jest/globals';
import { message, useService } from '../../support/harness.js';
import { says } from '../../support/scripted-models.js';

interface Page {
  threads: { id: string; title: string | null; assistant_id: string }[];
  nextCursor: string | null;
}

const service = useService();

async function page(key: string, query = ''): Promise<Page> {
  const answer = await service.http<Page>('GET', `/v1/threads${query}`, { key });
  expect(answer.status).toBe(200);
  return answer.body;
}

describe('the list of threads', () => {
  it('shows the latest activity first, page by page, each thread once, even while threads are added', async () => {
    const { key } = await service.organization();
    const agentId = await service.agent(key);
    const made: string[] = [];
    for (let index = 0; index < 7; index += 1) made.push(await service.thread(key, agentId));
    service.models.next(says('reply'));
    await service.http('POST', `/v1/threads/${made[0] ?? ''}/runs`, { key, body: message('Hi') });

    const seen: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const { threads, nextCursor }: Page = await page(key, `?limit=3${cursor === '' ? '' : `&cursor=${cursor}`}`);
      seen.push(...threads.map(({ id }) => id));
      cursor = nextCursor;
      await service.thread(key, agentId);
    }

    expect(seen).toEqual([made[0], ...made.slice(1).reverse()]);
  });

  it('refuses a cursor that it has not issued, or has issued to another organization', async () => {
    const [one, two] = [await service.organization(), await service.organization()];
    const agentId = await service.agent(one.key);
    await service.thread(one.key, agentId);
    await service.thread(one.key, agentId);
    const { nextCursor } = await page(one.key, '?limit=1');

    for (const cursor of ['x', 'WyJhIl0.AAAA', `${nextCursor ?? ''}x`]) {
      const answer = await service.http('GET', `/v1/threads?cursor=${cursor}`, { key: one.key });
      expect([answer.status, answer.body['code']]).toEqual([400, 'FST_ERR_VALIDATION']);
    }
    expect((await service.http('GET', `/v1/threads?cursor=${nextCursor ?? ''}`, { key: two.key })).status).toBe(400);
  });

  it('shows a key with an allowlist only its agents, and filters by agent', async () => {
    const organization = await service.organization();
    const { key } = organization;
    const [one, two] = [await service.agent(key), await service.agent(key)];
    const [ofOne, ofTwo] = [await service.thread(key, one), await service.thread(key, two)];
    const scoped = await organization.keyWith(['chat'], [one]);

    expect((await page(scoped.key)).threads.map(({ id }) => id)).toEqual([ofOne]);
    expect((await page(scoped.key, `?assistant_id=${two}`)).threads).toEqual([]);
    expect((await page(key, `?assistant_id=${two}`)).threads.map(({ id }) => id)).toEqual([ofTwo]);
  });

  it.each(['limit=0', 'limit=101', 'limit=x', 'assistant_id=x', 'other=1'])('refuses ?%s', async (query) => {
    const { key } = await service.organization();

    expect((await service.http('GET', `/v1/threads?${query}`, { key })).status).toBe(400);
  });
});

describe('a thread', () => {
  it('gets its title from the first exchange and keeps it', async () => {
    const { key } = await service.organization();
    const threadId = await service.thread(key, await service.agent(key));
    service.models.always(says('reply'));
    for (const text of ['Which bicycle?', 'And now?']) {
      await service.http('POST', `/v1/threads/${threadId}/runs`, { key, body: message(text) });
    }

    expect((await service.http('GET', `/v1/threads/${threadId}`, { key })).body).toMatchObject({
      title: 'Which bicycle?',
    });
  });

  it('is deleted with its messages and then looks like an unknown thread', async () => {
    const { key } = await service.organization();
    const threadId = await service.thread(key, await service.agent(key));

    const deleted = await service.http('DELETE', `/v1/threads/${threadId}`, { key });

    expect([deleted.status, deleted.body]).toEqual([200, { id: threadId, deleted: true }]);
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '/messages'],
      ['DELETE', ''],
      ['POST', '/runs'],
    ] as const) {
      const answer = await service.http(method, `/v1/threads/${threadId}${path}`, {
        key,
        body: method === 'POST' ? message('Hi') : undefined,
      });
      expect(answer.status).toBe(404);
    }
  });

  it('of another organization is neither read nor deleted', async () => {
    const [one, two] = [await service.organization(), await service.organization()];
    const threadId = await service.thread(one.key, await service.agent(one.key));

    for (const method of ['GET', 'DELETE']) {
      expect((await service.http(method, `/v1/threads/${threadId}`, { key: two.key })).status).toBe(404);
    }
    expect((await service.http('GET', `/v1/threads/${threadId}`, { key: one.key })).status).toBe(200);
  });
});

describe('a reaction', () => {
  it('is stored with the reply, replaced by another, and removed with null', async () => {
    const { key } = await service.organization();
    const threadId = await service.thread(key, await service.agent(key));
    service.models.next(says('reply'));
    const run = await service.http<{ message: { id: string } }>('POST', `/v1/threads/${threadId}/runs`, {
      key,
      body: message('Hi'),
    });
    const path = `/v1/threads/${threadId}/messages/${run.body.message.id}/reaction`;

    const up = await service.http('PUT', path, { key, body: { reaction: 'thumbs_up', comment: 'Nice' } });
    expect(up.body).toMatchObject({ reactions: { thumbs_up: { comment: 'Nice' } } });
    await service.http('PUT', path, { key, body: { reaction: 'thumbs_down' } });
    const listed = await service.http<{ messages: { reactions: object }[] }>(
      'GET',
      `/v1/threads/${threadId}/messages`,
      { key },
    );
    expect(Object.keys(listed.body.messages[1]?.reactions ?? {})).toEqual(['thumbs_down']);
    expect((await service.http('PUT', path, { key, body: { reaction: null } })).body).toMatchObject({ reactions: {} });
  });

  it('is only for a reply of the thread, and one of two', async () => {
    const { key } = await service.organization();
    const threadId = await service.thread(key, await service.agent(key));
    service.models.next(says('reply'));
    await service.http('POST', `/v1/threads/${threadId}/runs`, { key, body: message('Hi') });
    const listed = await service.http<{ messages: { id: string }[] }>('GET', `/v1/threads/${threadId}/messages`, {
      key,
    });
    const own = `/v1/threads/${threadId}/messages/${listed.body.messages[0]?.id ?? ''}/reaction`;

    expect((await service.http('PUT', own, { key, body: { reaction: 'thumbs_up' } })).status).toBe(404);
    expect((await service.http('PUT', own, { key, body: { reaction: 'heart' } })).status).toBe(400);
    expect((await service.http('PUT', own, { key, body: {} })).status).toBe(400);
  });
});
