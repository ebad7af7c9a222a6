import { Injectable } from '@nestjs/common';
import { ConfiguredAppCatalogue } from '../catalogue/configured-app-catalogue.js';
import type { Integration } from '../domain/integration.js';
import type { ProtectedServer } from '../oauth/protected-server.js';

/** The servers that need an OAuth sign-in: custom ones with `auth` of the type oauth, and remote apps of the catalogue. */
@Injectable()
export class ProtectedServers {
  constructor(private readonly catalogue: ConfiguredAppCatalogue) {}

  /** @returns null if the server needs no sign-in */
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
