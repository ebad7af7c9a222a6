import { BooleanField, EnumField, ObjectListField, StringField, StringListField } from '../../platform/http/index.js';

export class AppResponse {
  @StringField({ description: 'The `app` of an integration of type `managed-mcp`.', example: 'linear' })
  readonly slug!: string;
  @StringField({ example: 'Linear', description: 'For people.' })
  readonly name!: string;
  @EnumField(['remote', 'local'], {
    description: '`local`: a process that the service runs for this integration alone.',
  })
  readonly transport!: 'remote' | 'local';
  @BooleanField({ description: 'A person has to authorize the connection. Such an app takes no `secrets.envMap`.' })
  readonly oauth!: boolean;
  @StringListField({ description: 'The names that `secrets.envMap` has to have values for, and may have.' })
  readonly envNames!: readonly string[];
}

export class AppListResponse {
  @ObjectListField(() => AppResponse, { description: 'By slug.' })
  readonly apps!: readonly AppResponse[];
}
