import type { OpenApi, Operation } from '../../support/documented-schemas.js';

type Json = Readonly<Record<string, unknown>>;

/** An operation, named by its method and path in the document. */
export interface NamedOperation extends Operation {
  readonly name: string;
}

export function operationsOf({ paths }: OpenApi): NamedOperation[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ ...operation, name: `${method.toUpperCase()} ${path}` })),
  );
}

/** The places of properties without a description in the schemas of a document. */
export function undescribedProperties(document: OpenApi): string[] {
  const schemas = Object.entries((document as unknown as { components: { schemas: Json } }).components.schemas);
  const inline = operationsOf(document).flatMap(({ name, requestBody, responses }) => [
    ...Object.values(requestBody?.content ?? {}).map(({ schema }) => [`${name} body`, schema] as const),
    ...Object.entries(responses).flatMap(([status, { content = {} }]) =>
      Object.values(content).map(({ schema }) => [`${name} ${status}`, schema] as const),
    ),
  ]);
  return [...schemas, ...inline].flatMap(([where, schema]) => undescribed(schema, where));
}

function undescribed(node: unknown, where: string): string[] {
  if (Array.isArray(node)) return node.flatMap((item, index) => undescribed(item, `${where}[${index}]`));
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([key, value]) => {
    if (key === 'example' || key === 'examples') return [];
    if (key !== 'properties') return undescribed(value, `${where}.${key}`);
    return Object.entries(value as Readonly<Record<string, Json>>).flatMap(([name, schema]) => [
      ...(isSaid(schema['description']) ? [] : [`${where}.${name}`]),
      ...undescribed(schema, `${where}.${name}`),
    ]);
  });
}

export function isSaid(text: unknown): boolean {
  return typeof text === 'string' && text.trim() !== '';
}
