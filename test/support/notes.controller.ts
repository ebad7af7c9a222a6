import { Body, Controller, Delete, Get, HttpCode, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { DatabaseUnavailable } from '../../src/platform/database/index.js';
import { DomainError } from '../../src/platform/errors/index.js';
import {
  JsonObjectField,
  LargeBody,
  PublicRoute,
  QueryIntegerField,
  StringField,
  UuidParam,
} from '../../src/platform/http/index.js';

class NoteBody {
  @StringField({ min: 1, max: 20 })
  text!: string;
  @JsonObjectField({ optional: true })
  extra?: Record<string, unknown>;
}

class PageQuery {
  @QueryIntegerField({ optional: true, min: 1, max: 100 })
  limit = 50;
}

const FAILURES: Readonly<Record<string, () => unknown>> = {
  bare: () => new DomainError('invalid', 'The limit is reached.', { error: 'agent_limit_reached', bare: true }),
  cause: () => new DomainError('conflict', 'Taken.', { error: 'section_name_taken', extra: { names: ['a'] } }),
  coded: () => new DomainError('forbidden', 'No.', { code: 'forbidden_by_key_role' }),
  wait: () => new DomainError('rate_limited', 'Slow down.', { code: 'rate_limited', retryAfterSeconds: 7_200 }),
  database: () => new DatabaseUnavailable(new Error('connect ECONNREFUSED canary-host')),
  upstream: () => Object.assign(new Error('canary upstream said no'), { statusCode: 404, status: 404 }),
  crash: () => new TypeError('canary internals'),
  nothing: () => undefined,
};

/** Routes of every kind of answer, for the application around them. */
@Controller('v1')
export class NotesController {
  @Post('notes')
  create(@Body() body: NoteBody): NoteBody {
    return body;
  }

  @Post('books')
  @LargeBody()
  write(@Body() body: NoteBody): NoteBody {
    return body;
  }

  @Get('notes')
  list(@Query() query: PageQuery): PageQuery {
    return query;
  }

  @Get('notes/:noteId')
  read(@UuidParam('noteId') noteId: string): { noteId: string } {
    return { noteId };
  }

  @Delete('notes/:noteId')
  @HttpCode(204)
  remove(): null {
    return null;
  }

  @Post('fail/:failure')
  @PublicRoute()
  fail(@Query('name') name: string): void {
    throw FAILURES[name]?.() as Error;
  }

  @Get('hijacked')
  hijacked(@Res() reply: FastifyReply): void {
    reply.hijack();
    throw new TypeError('canary internals');
  }

  @Get('half')
  half(@Res() reply: FastifyReply): void {
    reply.hijack();
    reply.raw.writeHead(200, { 'content-length': '100' });
    reply.raw.write('half');
    throw new TypeError('canary internals');
  }
}
