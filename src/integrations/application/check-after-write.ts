import { Injectable, Logger } from '@nestjs/common';
import type { Integration } from '../domain/integration.js';
import type { IntegrationOverview } from '../domain/tool-list.js';
import { CheckIntegration } from './check-integration.js';

/** Asks the server of an integration that has just been stored. */
@Injectable()
export class CheckAfterWrite {
  private readonly logger = new Logger(CheckAfterWrite.name);

  constructor(private readonly checkIntegration: CheckIntegration) {}

  /** Never throws: what is stored is stored, and to refuse the request would say otherwise. @returns null when it failed */
  async execute(integration: Integration): Promise<IntegrationOverview | null> {
    try {
      return await this.checkIntegration.execute(integration);
    } catch (error) {
      this.logger.error(`The check of integration ${integration.id} failed`, error);
      return null;
    }
  }
}
