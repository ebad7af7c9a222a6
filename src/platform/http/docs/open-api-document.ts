import { type INestApplication, Injectable } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { Settings } from '../../config/index.js';
import { ReadinessResponse } from '../health.controller.js';
import { Health } from '../health.js';
import { PUBLIC_OPERATION } from '../public-route.js';
import { documentHeaders } from './answer-headers.js';
import { exemplifyRequest } from './api-example.js';
import { ERROR_SCHEMAS, errorAnswer, exemplifyErrors, takeCauses } from './api-errors.js';

const METHODS = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options'] as const;
const BEARER = 'bearer';

type Operation = NonNullable<OpenAPIObject['paths'][string]['get']> & { [PUBLIC_OPERATION]?: true };

/** The OpenAPI 3.1 document, generated from the declarations of the routes at the first request. */
@Injectable()
export class OpenApiDocument {
  private app: INestApplication | undefined;
  private text: string | undefined;
  private readonly enumerations: Parameters<OpenApiDocument['enumerate']>[] = [];

  constructor(
    private readonly settings: Settings,
    private readonly health: Health,
  ) {}

  describe(app: INestApplication): void {
    this.app = app;
  }

  /** Sets the values of a property that the DTO class cannot declare, such as the slugs of a catalogue. */
  enumerate(schema: string, property: string, values: readonly string[]): void {
    this.enumerations.push([schema, property, values]);
  }

  json(): string {
    this.text ??= JSON.stringify(this.build());
    return this.text;
  }

  private build(): OpenAPIObject {
    if (!this.app) throw new Error('There is no application to describe');
    const document = SwaggerModule.createDocument(this.app, this.frame(), { operationIdFactory: operationId });
    for (const item of Object.values(document.paths)) {
      for (const method of METHODS) {
        const operation = item[method];
        if (operation) finish(operation);
      }
    }
    for (const [schema, property, values] of this.enumerations) {
      const { properties = {} } = (document.components?.schemas?.[schema] ?? {}) as {
        readonly properties?: Readonly<Record<string, object>>;
      };
      const described = properties[property];
      if (!described) throw new Error(`The document has no property ${schema}.${property}, whose values were given`);
      Object.assign(described, { enum: values });
    }
    const schemas = { ...document.components?.schemas, ...this.withFacts(document), ...ERROR_SCHEMAS } as NonNullable<
      OpenAPIObject['components']
    >['schemas'];
    return { ...document, components: { ...document.components, schemas } };
  }

  /** The schema of `ReadinessResponse` with the fields that contexts add. */
  private withFacts({ components }: OpenAPIObject): object {
    const { name } = ReadinessResponse;
    const schema = components?.schemas?.[name] as { readonly properties: object; readonly required: readonly string[] };
    const facts = this.health.facts();
    const added = facts.map(
      ({ name, values, description }) => [name, { type: 'string', enum: values, description }] as const,
    );
    const properties = { ...schema.properties, ...Object.fromEntries(added) };
    return { [name]: { ...schema, properties, required: [...schema.required, ...facts.map((fact) => fact.name)] } };
  }

  private frame(): Omit<OpenAPIObject, 'paths'> {
    return new DocumentBuilder()
      .setOpenAPIVersion('3.1.0')
      .setTitle('Agent service')
      .setDescription(
        'Hosts conversational AI agents. Requests carry `Authorization: Bearer <API key>`; ' +
          '`x-scope` names the capability that an operation needs. Of the keys that one client address sends, 60 may ' +
          'fail within a minute; until that minute is over, further keys from there that are not valid are answered 429 ' +
          'with `Retry-After` in place of 401. A request with a session pass counts against the budget of its session, and ' +
          'its answer has the `RateLimit-` headers, also on routes that have none. A JSON body has at most 4 MiB (10 MiB ' +
          'where instructions, messages or runs are sent; 413 beyond that), 200,000 values, 64 levels and 10,000 different ' +
          'combinations of field names (400).',
      )
      .setVersion('1.0.0')
      .addServer(this.settings.publicUrl ?? '/')
      .addBearerAuth({ type: 'http', scheme: 'bearer', description: 'An API key of the organization.' }, BEARER)
      .addSecurityRequirements(BEARER)
      .build();
  }
}

/** `ThreadsController.list` is `listThreads` unless its route declares another id. */
function operationId(controller: string, method: string): string {
  return `${method}${controller.replace(/Controller$/, '')}`;
}

function finish(operation: Operation): void {
  const isPublic = operation[PUBLIC_OPERATION] === true;
  Reflect.deleteProperty(operation, PUBLIC_OPERATION);
  if (isPublic) operation.security = [];
  const hasBody = operation.requestBody !== undefined;
  const carriesAnything = hasBody || (operation.parameters ?? []).length > 0;
  const responses = {
    // Responses that are sent before the route runs: first of authentication, then of reading the body.
    ...(!isPublic && {
      401: errorAnswer(401, 'Error'),
      403: errorAnswer(403, 'Error'),
      429: errorAnswer(429, 'Error'),
      503: errorAnswer(503, 'Error'),
    }),
    ...(carriesAnything && { 400: errorAnswer(400, 'Error') }),
    ...(hasBody && { 413: errorAnswer(413, 'Error'), 415: errorAnswer(415, 'Error') }),
    ...operation.responses,
    500: errorAnswer(500, 'InternalError'),
  };
  operation.responses = responses;
  operation.responses = { ...responses, ...takeCauses(operation) };
  exemplifyRequest(operation);
  exemplifyErrors(operation);
  describeSuccesses(operation);
  documentHeaders(operation);
}

const SUCCESSES: Readonly<Record<string, string>> = {
  200: 'Done.',
  201: 'Created.',
  202: 'Accepted.',
  204: 'Done; there is no body.',
};

/** Describes successes that the route does not describe, because OpenAPI requires a description. */
function describeSuccesses({ responses }: Operation): void {
  for (const [status, answer] of Object.entries(responses as Record<string, { description?: string }>)) {
    if (answer.description === '') answer.description = SUCCESSES[status] ?? 'Done.';
  }
}
