import { ObjectListField, StringField, UuidField } from '../../../../../src/platform/http/index.js';
import { DEFINITION_LENGTH, NAME_LENGTH } from '../domain/term.js';

export class DefineTermBody {
  @StringField(NAME_LENGTH)
  readonly name!: string;
  @StringField(DEFINITION_LENGTH)
  readonly definition!: string;
}

export class DefinedTermResponse {
  @UuidField()
  readonly id!: string;
}

export class TermResponse {
  @UuidField()
  readonly id!: string;
  @StringField()
  readonly name!: string;
  @StringField()
  readonly definition!: string;
  @StringField({ nullable: true, description: 'Null until it has been made.' })
  readonly summary!: string | null;
}

export class TermListResponse {
  @ObjectListField(() => TermResponse, { description: 'By name.' })
  readonly terms!: readonly TermResponse[];
}
