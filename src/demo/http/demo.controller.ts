import { createHash } from 'node:crypto';
import { Body, Controller, Get, Header, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DomainError } from '../../platform/errors/index.js';
import { PublicRoute } from '../../platform/http/index.js';
import { newId } from '../../platform/ids/index.js';
import { DemoVisitors, type FlatCredentials } from '../application/demo-visitors.js';
import { DemoReactionBody, DemoSessionBody } from './demo.dto.js';
import { DEMO_PAGE, DEMO_SCRIPT, DEMO_STYLE } from './demo-page.js';

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** The strictest policy that a customer's page can have: the widget needs only its script and its connections. */
const POLICY = [
  "default-src 'none'",
  `script-src 'self' ${hashOf(DEMO_SCRIPT)}`,
  `style-src ${hashOf(DEMO_STYLE)}`,
  "connect-src 'self'",
  'img-src https:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const VISITOR = /(?:^|; )demo_visitor=([0-9a-f-]{36})(?:;|$)/;

/** The page with the widget, and the endpoints that a customer's server provides for the widget. */
@ApiExcludeController()
@Controller('demo')
export class DemoController {
  constructor(private readonly visitors: DemoVisitors) {}

  @Get()
  @PublicRoute()
  @Header('content-type', 'text/html; charset=utf-8')
  @Header('content-security-policy', POLICY)
  @Header('referrer-policy', 'no-referrer')
  page(): string {
    return DEMO_PAGE;
  }

  @Post('session')
  @HttpCode(200)
  @PublicRoute()
  @Header('cache-control', 'no-store')
  session(
    @Body() body: DemoSessionBody,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<FlatCredentials> {
    let visitor = visitorOf(request);
    if (visitor === undefined) {
      visitor = newId();
      void reply.header('set-cookie', `demo_visitor=${visitor}; Path=/demo; HttpOnly; SameSite=Strict`);
    }
    return this.visitors.session(visitor, body);
  }

  @Post('reaction')
  @HttpCode(204)
  @PublicRoute()
  async react(
    @Body() { threadId, messageId, reaction, comment }: DemoReactionBody,
    @Req() request: FastifyRequest,
  ): Promise<void> {
    const visitor = visitorOf(request);
    if (visitor === undefined || !this.visitors.owns(visitor, threadId))
      throw new DomainError('not_found', 'You have no such conversation.');
    await this.visitors.react(threadId, messageId, { reaction, comment });
  }
}

function visitorOf({ headers }: FastifyRequest): string | undefined {
  return VISITOR.exec(headers.cookie ?? '')?.[1];
}
