import {
  IntegerField,
  ObjectListField,
  StringField,
  TimestampField,
  UuidField,
} from '../../platform/http/index.js';
import { CONTENT_LENGTH, MAX_SECTIONS, NAME_LENGTH, type Section } from '../domain/section.js';

const NAME = 'Matched exactly, as it was sent.';

export class SectionBody {
  @StringField({ ...NAME_LENGTH, description: NAME })
  readonly name!: string;
  @StringField(CONTENT_LENGTH)
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
  @StringField({ ...CONTENT_LENGTH, optional: true })
  readonly content?: string;
}

export class SectionResponse {
  @UuidField()
  readonly id!: string;
  @StringField()
  readonly name!: string;
  @StringField()
  readonly content!: string;
  @IntegerField({ min: 0, description: 'Index in prompt order, from 0.' })
  readonly position!: number;
  @TimestampField()
  readonly createdAt!: string;
  @TimestampField()
  readonly updatedAt!: string;
}

export class SectionListResponse {
  @ObjectListField(() => SectionResponse, { description: 'In prompt order.' })
  readonly sections!: SectionResponse[];
}

export function sectionView({ id, name, content, position, createdAt, updatedAt }: Section): SectionResponse {
  return { id, name, content, position, createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() };
}
