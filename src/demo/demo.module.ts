import { Module } from '@nestjs/common';
import { ChatPageController } from './http/chat-page.controller.js';

/** A page to chat on, part of the service in demo mode alone. It is a client like any other: all it does goes over `/v1`. */
@Module({ controllers: [ChatPageController] })
export class DemoModule {}
