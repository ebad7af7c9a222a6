import { Injectable, Logger } from '@nestjs/common';
import type { Integration } from '../domain/integration.js';
import type { IntegrationOverview } from '../domain/tool-list.js';
import { CheckIntegration } from './check-integration.js';

/** Checks the server of an integration that was just stored. */
@Injectable()
export class CheckAfterWrite {
  private readonly logger = new Logger(CheckAfterWrite.name);

  constructor(private readonly checkIntegration: CheckIntegration) {}

  /** Never throws: the integration is stored, and an error response would suggest that it is not. @returns null if the check failed */
  async execute(integration: Integration): Promise<IntegrationOverview | null> {
    try {
      return await this.checkIntegration.execute(integration);
    } catch (error) {
      this.logger.error(`The check of integration ${integration.id} failed`, error);
      return null;
    }
  }
}
