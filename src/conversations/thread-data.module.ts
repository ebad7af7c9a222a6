import { Module } from '@nestjs/common';
import { ThreadDataHolders } from './application/thread-data-holders.js';

/** Apart from the conversations, which import those that take part in their turns and hold data of threads. */
@Module({ providers: [ThreadDataHolders], exports: [ThreadDataHolders] })
export class ThreadDataModule {}
