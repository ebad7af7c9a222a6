import { IntegerField, ObjectListField, StringField, TimestampField, UuidField } from '../../platform/http/index.js';
import { CONTENT_LENGTH, MAX_SECTIONS, NAME_LENGTH, type Section } from '../domain/section.js';

const NAME = 'Compared exactly as it was sent.';

export class SectionBody {
  @StringField({ ...NAME_LENGTH, description: NAME })
  readonly name!: string;
  @StringField({ ...CONTENT_LENGTH, description: 'What the model reads under the name.' })
  readonly content!: string;
}

export class ReplaceSectionsBody {
  @ObjectListField(() => SectionBody, {
    max: MAX_SECTIONS,
    description: 'The complete list in prompt order, each name once. An empty list deletes all sections.',
  })
  readonly sections!: SectionBody[];
}

export class ChangeSectionBody {
  @StringField({ ...NAME_LENGTH, optional: true, description: NAME })
  readonly name?: string;
  @StringField({
    ...CONTENT_LENGTH,
    optional: true,
    description: 'What the model reads under the name; unchanged when omitted.',
  })
  readonly content?: string;
}

export class SectionResponse {
  @UuidField({ description: 'Identifies the section in paths. `PATCH` does not change it.' })
  readonly id!: string;
  @StringField({ description: 'The heading under which the model reads the content.' })
  readonly name!: string;
  @StringField({ description: 'What the model reads under the name.' })
  readonly content!: string;
  @IntegerField({ min: 0, description: 'Index in prompt order, from 0.' })
  readonly position!: number;
  @TimestampField({ description: 'When the section was added.' })
  readonly createdAt!: string;
  @TimestampField({ description: 'When its name, content or position last changed.' })
  readonly updatedAt!: string;
}

export class SectionListResponse {
  @ObjectListField(() => SectionResponse, { description: 'In prompt order.' })
  readonly sections!: SectionResponse[];
}

export function sectionView({ id, name, content, position, createdAt, updatedAt }: Section): SectionResponse {
  return { id, name, content, position, createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() };
}
