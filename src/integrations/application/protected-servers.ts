import { Injectable } from '@nestjs/common';
import { ConfiguredAppCatalogue } from '../catalogue/configured-app-catalogue.js';
import type { Integration } from '../domain/integration.js';
import type { ProtectedServer } from '../oauth/protected-server.js';

/** Which servers people sign in to: custom ones that say so, and remote apps of the catalogue. */
@Injectable()
export class ProtectedServers {
  constructor(private readonly catalogue: ConfiguredAppCatalogue) {}

  /** @returns null where nobody signs in */
  of({ id: integrationId, organizationId, settings }: Integration): ProtectedServer | null {
    if (settings.type === 'custom-mcp' && settings.auth.type === 'oauth') {
      return { organizationId, integrationId, url: settings.url, transport: settings.transportType };
    }
    if (settings.type !== 'managed-mcp') return null;
    const app = this.catalogue.find(settings.app);
    if (app?.transport !== 'remote' || !app.oauth) return null;
    return { organizationId, integrationId, url: app.url, transport: app.transportType };
  }
}
