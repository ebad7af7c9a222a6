import { Injectable } from '@nestjs/common';
import { AppCatalogue } from '../catalogue/app-catalogue.js';
import type { Integration, TransportType } from '../domain/integration.js';

/** The tool server of an integration that authenticates with OAuth. */
export interface ProtectedServer {
  readonly organizationId: string;
  readonly integrationId: string;
  /** A grant is valid for this address only. */
  readonly url: string;
  readonly transport: TransportType;
}

/** The servers that need an OAuth sign-in: custom ones with `auth` of the type oauth, and remote apps of the catalogue. */
@Injectable()
export class ProtectedServers {
  constructor(private readonly catalogue: AppCatalogue) {}

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
