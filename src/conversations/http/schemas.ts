/** Parts of OpenAPI schemas for bodies that are not read through classes. */
export function text(description: string, bounds: object = {}): object {
  return { type: 'string', ...bounds, description };
}

export function object(description: string, properties: object, required: readonly string[] = []): object {
  return { type: 'object', description, properties, ...(required.length > 0 && { required }) };
}

export function list(description: string, items: object, bounds: object): object {
  return { type: 'array', items, ...bounds, description };
}
