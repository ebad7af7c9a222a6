import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type FileHolder, FileHolders } from '../../files/index.js';
import { MessageRepository } from '../persistence/message.repository.js';

/** Keeps files from being cleaned up while messages refer to them. */
@Injectable()
export class HoldAttachedFiles implements FileHolder, OnModuleInit {
  constructor(
    private readonly holders: FileHolders,
    private readonly messages: MessageRepository,
  ) {}

  onModuleInit(): void {
    this.holders.register(this);
  }

  holds(fileIds: readonly string[]): Promise<readonly string[]> {
    return this.messages.referringTo(fileIds);
  }
}
