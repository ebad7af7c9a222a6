import { EnumField, IntegerField, ObjectListField, StringField, UuidField } from '../../platform/http/index.js';

export class ModelResponse {
  @UuidField({ description: 'The id of the agent: the `model` of a chat completion.' })
  readonly id!: string;
  @EnumField(['model'], { description: 'The type of the object, as the OpenAI API has it.' })
  readonly object!: 'model';
  @IntegerField({ description: 'When the agent was created, in seconds since 1970.' })
  readonly created!: number;
  @StringField({ description: 'Always `organization`.' })
  readonly owned_by!: string;
}

export class ModelListResponse {
  @EnumField(['list'], { description: 'The type of the object, as the OpenAI API has it.' })
  readonly object!: 'list';
  @ObjectListField(() => ModelResponse, { description: 'The agents that the key can see.' })
  readonly data!: readonly ModelResponse[];
}
