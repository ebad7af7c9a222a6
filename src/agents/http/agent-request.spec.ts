import { describe, expect, it } from '@jest/globals';
import { PROVIDER_BODIES, PROVIDERS } from '../../models/index.js';
import { validated } from '../../platform/http/index.js';
import { COMPONENT_SWITCHES } from '../domain/response-components.js';
import { ChangeAgentBody, CreateAgentBody } from './agent-request.dto.js';

describe.each(PROVIDERS)('the bodies of an agent of type $type', ({ type, responseComponents }) => {
  const bodies = PROVIDER_BODIES[type];
  it('are read as the classes of its provider', () => {
    const created = validated(CreateAgentBody, { name: 'Ada', provider: { type } }, 'body');
    const changed = validated(ChangeAgentBody, { provider: { type } }, 'body');
    expect(created.provider).toBeInstanceOf(bodies.create);
    expect(changed.provider).toBeInstanceOf(bodies.change);
  });

  it('may switch on every component that the type can emit', () => {
    for (const name of responseComponents === 'all' ? [] : responseComponents)
      expect(COMPONENT_SWITCHES).toContain(name);
  });
});
