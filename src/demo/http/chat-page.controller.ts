import { createHash } from 'node:crypto';
import { Controller, Get, Header } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { PublicRoute } from '../../platform/http/index.js';
import { CHAT_PAGE, CHAT_SCRIPT, CHAT_STYLE } from './chat-page.js';

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Only what the page brings itself may run, and it may talk to this service alone: a key is typed into it. */
const POLICY = [
  "default-src 'none'",
  `script-src ${hashOf(CHAT_SCRIPT)}`,
  `style-src ${hashOf(CHAT_STYLE)}`,
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

@ApiExcludeController()
@Controller('demo')
export class ChatPageController {
  @Get()
  @PublicRoute()
  @Header('content-type', 'text/html; charset=utf-8')
  @Header('content-security-policy', POLICY)
  @Header('referrer-policy', 'no-referrer')
  page(): string {
    return CHAT_PAGE;
  }
}
