import { describe, expect, it } from '@jest/globals';
import { useService, type TestService } from '../../support/harness.js';

interface Models {
  readonly object: string;
  readonly data: readonly { readonly id: string; readonly created: number }[];
}

const service = useService();

describe('GET /v1/models', () => {
  it('lists the organization’s agents as models of the OpenAI API, by name, and no others', async () => {
    const { key } = await service.organization();
    const other = await service.organization();
    await service.agent(other.key, { name: 'Foreign' });
    const [b, a] = [await service.agent(key, { name: 'B' }), await service.agent(key, { name: 'A' })];

    const { status, body } = await service.http<Models>('GET', '/v1/models', { key });

    expect(status).toBe(200);
    expect(body).toEqual({
      object: 'list',
      data: [a, b].map((id) => ({ id, object: 'model', created: expect.any(Number), owned_by: 'organization' })),
    });
    for (const { created } of body.data) expect(Math.abs(Date.now() / 1_000 - created)).toBeLessThan(60);
  });

  it('shows a key with an allowlist only its agents', async () => {
    const organization = await service.organization();
    const [mine, hidden] = [await service.agent(organization.key), await service.agent(organization.key)];
    const { key } = await organization.keyWith(['chat'], [mine]);

    const { body } = await service.http<Models>('GET', '/v1/models', { key });

    expect(body.data.map(({ id }) => id)).toEqual([mine]);
    expect(await service.http('GET', `/v1/models/${hidden}`, { key })).toMatchObject({
      status: 403,
      body: { code: 'forbidden_by_agent_allowlist' },
    });
  });

  it('reads one; another organization’s looks like an unknown one', async () => {
    const { key } = await service.organization();
    const other = await service.organization();
    const [mine, foreign] = [await service.agent(key), await service.agent(other.key)];
    const read = (id: string): ReturnType<TestService['http']> => service.http('GET', `/v1/models/${id}`, { key });

    expect((await read(mine)).body).toEqual({
      id: mine,
      object: 'model',
      created: expect.any(Number),
      owned_by: 'organization',
    });
    expect((await read(foreign)).status).toBe(404);
    expect((await read(foreign)).body).toEqual((await read('01890000-0000-7000-8000-000000000000')).body);
    expect((await read('gpt-4o')).body).toMatchObject({ statusCode: 400, code: 'FST_ERR_VALIDATION' });
  });
});
