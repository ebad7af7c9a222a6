import { describe, expect, it } from '@jest/globals';
import { newId } from '../../../src/platform/ids/index.js';
import { useService } from '../../support/harness.js';

const service = useService();

interface App {
  readonly slug: string;
  readonly transport: string;
}

describe('the apps for managed integrations', () => {
  it('are listed for any key, by slug, without internal fields', async () => {
    const organization = await service.organization();
    const { key } = await organization.keyWith(['chat'], [newId()]);
    const { status, body } = await service.http<{ apps: readonly App[] }>('GET', '/v1/integrations/apps', { key });
    expect(status).toBe(200);
    const slugs = body.apps.map(({ slug }) => slug);
    expect(slugs).toEqual([...slugs].sort());
    expect(body.apps.find(({ slug }) => slug === 'linear')).toEqual({
      ...{ slug: 'linear', name: 'Linear', transport: 'remote', oauth: true, envNames: [] },
    });
    expect(body.apps.find(({ slug }) => slug === 'github')).toEqual({
      ...{
        slug: 'github',
        name: 'GitHub',
        transport: 'remote',
        oauth: false,
        envNames: ['GITHUB_PERSONAL_ACCESS_TOKEN'],
      },
    });
    expect(body.apps.filter(({ transport }) => transport === 'local').map(({ slug }) => slug)).toEqual([
      'everything',
      'memory',
    ]);
  });

  it('are not listed without a key', async () => {
    expect((await service.http('GET', '/v1/integrations/apps')).status).toBe(401);
  });
});
