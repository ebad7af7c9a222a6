import { validateSync } from 'class-validator';
import { type DtoClass, fieldsOf, ignoresUnknownFields, type Report } from './declared-field.js';

const MAX_NAME_LENGTH = 100;

export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Makes an instance of `type` from what was sent and reports everything that is wrong with it. Only what
 * the class declares is taken over, so that a field's name never reaches anything but a look-up.
 */
export function readDto(type: DtoClass, sent: Record<string, unknown>, path: string, report: Report): object {
  const fields = fieldsOf(type);
  const dto = new type() as Record<string, unknown>;
  const ignoresUnknown = ignoresUnknownFields(type);
  // The values of very many unknown fields are not looked at: that costs more than reading their names.
  for (const name of Object.keys(sent)) {
    const field = fields.get(name);
    if (field?.ignored) continue;
    if (field) dto[name] = field.read ? field.read(sent[name], `${path}/${name}`, report) : sent[name];
    else if (!ignoresUnknown) report(`${path}/${name.slice(0, MAX_NAME_LENGTH)}`, 'is not allowed');
  }
  checkFields(dto, path, report);
  return dto;
}

function checkFields(dto: object, path: string, report: Report): void {
  const errors = validateSync(dto, {
    stopAtFirstError: true,
    forbidUnknownValues: false,
    validationError: { target: false, value: false },
  });
  for (const { property, constraints } of errors) {
    const complaint = Object.values(constraints ?? {})[0] ?? 'is not valid';
    // The library's own decorators start their messages with the property.
    report(
      `${path}/${property}`,
      complaint.startsWith(`${property} `) ? complaint.slice(property.length + 1) : complaint,
    );
  }
}
