import { Injectable } from '@nestjs/common';
import { ValidationFailed } from '../../platform/errors/index.js';
import { AppCatalogue } from '../catalogue/app-catalogue.js';
import type { IntegrationRequest } from '../domain/integration-request.js';

/** Validates a request for a managed app against the catalogue. */
@Injectable()
export class ValidateApp {
  constructor(private readonly catalogue: AppCatalogue) {}

  /** @throws ValidationFailed */
  execute({ settings, keepsEnvironment }: IntegrationRequest): void {
    if (settings.type !== 'managed-mcp') return;
    const app = this.catalogue.find(settings.app);
    if (!app) {
      throw new ValidationFailed(
        'body/app must be the slug of an app of the catalogue; GET /v1/integrations/apps lists them',
      );
    }
    if (app.oauth && !keepsEnvironment) {
      throw new ValidationFailed(`body/secrets is not allowed: ${app.name} is signed in to with OAuth`);
    }
    const unknown = settings.envNames.find((name) => !app.envNames.includes(name));
    if (unknown !== undefined) {
      const known = app.envNames.length === 0 ? 'it has none' : `it has ${app.envNames.join(', ')}`;
      throw new ValidationFailed(`body/secrets/envMap/${unknown} is no environment variable of ${app.name}; ${known}`);
    }
  }
}
