import { Injectable } from '@nestjs/common';
import type { ApiKey } from '../domain/api-key.js';
import { ApiKeyRepository } from '../persistence/api-key.repository.js';

@Injectable()
export class ListApiKeys {
  constructor(private readonly keys: ApiKeyRepository) {}

  /** The organization's keys that are not revoked, oldest first. */
  execute(organizationId: string): Promise<ApiKey[]> {
    return this.keys.list(organizationId);
  }
}
