import { describe, expect, it } from '@jest/globals';
import { ValidationFailed } from '../errors/index.js';
import {
  BooleanField,
  EnumField,
  EnumListField,
  IgnoredField,
  IntegerField,
  JsonField,
  LiteralField,
  NumberField,
  ObjectField,
  ObjectListField,
  QueryBooleanField,
  QueryEnumListField,
  QueryUuidListField,
  ScalarMapField,
  StringField,
  StringListField,
  StringMapField,
  TimestampField,
  UnionField,
  UnionListField,
  UrlField,
  UuidField,
  UuidListField,
} from './fields.js';
import { type DtoClass, IgnoreUnknownFields } from './plain-to-instance.js';
import { validated } from './validation.js';

class EnabledThinking {
  @LiteralField('enabled')
  type!: 'enabled';
  @EnumField(['low', 'high'], { optional: true })
  effort?: string;
}

class DisabledThinking {
  @LiteralField('disabled')
  type!: 'disabled';
}

const thinking = { enabled: () => EnabledThinking, disabled: () => DisabledThinking };

class Provider {
  @StringField({ min: 1, max: 5 })
  model!: string;
  @UnionField('type', thinking, { optional: true })
  thinking?: EnabledThinking | DisabledThinking;
}

class Everything {
  @ObjectField(() => Provider, { optional: true })
  provider?: Provider;
  @ObjectListField(() => Provider, { optional: true, min: 1, max: 2 })
  providers?: Provider[];
  @UnionListField('type', thinking, { optional: true })
  thinkings?: object[];
  @StringField({ optional: true, min: 2, max: 3 })
  text?: string;
  @StringField({ optional: true, pattern: /^[a-z]+$/ })
  slug?: string;
  @StringListField({ optional: true, max: 2, each: { min: 1 } })
  texts?: string[];
  @UuidField({ optional: true, nullable: true })
  id?: string | null;
  @UuidListField({ optional: true, min: 1, unique: true })
  ids?: string[];
  @BooleanField({ optional: true })
  flag?: boolean;
  @IntegerField({ optional: true, min: 1, max: 20 })
  count?: number;
  @NumberField({ optional: true, min: 0, max: 1, nullable: true })
  share?: number | null;
  @NumberField({ optional: true, above: 0 })
  price?: number;
  @EnumListField(['chat', 'manage'], { optional: true })
  capabilities?: string[];
  @StringMapField({ optional: true, maxEntries: 2, maxValueLength: 3 })
  metadata?: Record<string, string>;
  @ScalarMapField({ optional: true })
  context?: Record<string, unknown>;
  @TimestampField({ optional: true })
  at?: string;
  @UrlField({ optional: true, protocols: ['https'] })
  url?: string;
  @JsonField({ optional: true, array: true })
  items?: unknown[];
  @IgnoredField()
  ignored?: unknown;
}

const complaint = (sent: unknown, type: DtoClass = Everything): string => {
  try {
    validated(type, sent, 'body');
    return 'none';
  } catch (error) {
    if (!(error instanceof ValidationFailed)) throw error;
    return error.message;
  }
};

const UUID = '0198c5a2-7b1e-7000-8000-00000000000a';

describe('a field', () => {
  it.each<[unknown, string]>([
    [{ text: 5 }, 'body/text must be a string of 2 to 3 characters'],
    [{ text: 'a' }, 'body/text must be a string of 2 to 3 characters'],
    [{ text: null }, 'body/text must be a string of 2 to 3 characters'],
    [{ text: '😀😀😀😀' }, 'body/text must be a string of 2 to 3 characters'],
    [{ text: '😀' }, 'body/text must be a string of 2 to 3 characters'],
    [{ slug: 'A' }, 'body/slug must match /^[a-z]+$/'],
    [{ texts: ['a', ''] }, 'body/texts/1 must be a string of at least 1 character'],
    [{ texts: ['a', 'b', 'c'] }, 'body/texts must be an array of at most 2 items'],
    [{ texts: { 0: 'a' } }, 'body/texts must be an array of at most 2 items'],
    [{ id: 'nope' }, 'body/id must be a UUID'],
    [{ ids: [] }, 'body/ids must be an array of at least 1 item'],
    [{ ids: [UUID, 7] }, 'body/ids/1 must be a UUID'],
    [{ ids: [UUID, UUID.toUpperCase()] }, 'body/ids must not contain a value twice'],
    [{ flag: 'true' }, 'body/flag must be a boolean'],
    [{ flag: 1 }, 'body/flag must be a boolean'],
    [{ count: '5' }, 'body/count must be an integer from 1 to 20'],
    [{ count: 1.5 }, 'body/count must be an integer from 1 to 20'],
    [{ count: 21 }, 'body/count must be an integer from 1 to 20'],
    [{ share: Infinity }, 'body/share must be a number from 0 to 1'],
    [{ price: 0 }, 'body/price must be a number above 0'],
    [{ price: -1 }, 'body/price must be a number above 0'],
    [{ price: '1' }, 'body/price must be a number above 0'],
    [{ capabilities: [] }, 'body/capabilities must be an array of at least 1 item'],
    [{ capabilities: ['chat', 'chat'] }, 'body/capabilities must not contain a value twice'],
    [{ capabilities: ['fly'] }, 'body/capabilities/0 must be one of chat, manage'],
    [{ metadata: { a: 'b', c: 5 } }, 'body/metadata/c must be a string of at most 3 characters'],
    [{ metadata: { a: '1', b: '2', c: '3' } }, 'body/metadata must have at most 2 entries'],
    [{ metadata: ['a'] }, 'body/metadata must be an object of strings'],
    [
      { context: { a: { b: 1 } } },
      'body/context/a must be a string of at most 10000 characters, a number or a boolean',
    ],
    [{ at: '2025-02-30T00:00:00Z' }, expect.stringMatching(/^body\/at must be an ISO 8601/) as unknown as string],
    [{ at: '2025-02-03' }, expect.stringMatching(/^body\/at must be an ISO 8601/) as unknown as string],
    [{ url: 'http://a.example' }, 'body/url must be an absolute https URL of at most 2048 characters'],
    [{ url: '/relative' }, 'body/url must be an absolute https URL of at most 2048 characters'],
    [{ items: {} }, 'body/items must be an array'],
  ])('refuses %j', (sent, message) => {
    expect(complaint(sent)).toEqual(message);
  });

  it.each<[unknown]>([
    [
      {
        text: '😀😀😀',
        slug: 'a',
        texts: ['a'],
        id: null,
        flag: false,
        count: 20,
        share: null,
        price: Number.MIN_VALUE,
        url: 'https://a.example/b',
      },
    ],
    [{ metadata: { constructor: 'abc', toString: '' }, context: { a: 1, b: true, c: 'd' }, items: [1, null, {}] }],
    [{ at: '2024-02-29T23:59:59.123456+02:00' }],
    [{}],
  ])('takes %j as it is', (sent) => {
    expect(validated(Everything, sent, 'body')).toEqual(sent);
  });

  it('reads ids in lower case', () => {
    expect(validated(Everything, { id: UUID.toUpperCase(), ids: [UUID.toUpperCase()] }, 'body')).toEqual({
      id: UUID,
      ids: [UUID],
    });
  });

  it('drops an ignored field with any value', () => {
    expect(validated(Everything, { ignored: { any: [1] } }, 'body')).toEqual({});
  });
});

describe('an object within an object', () => {
  it.each<[unknown, string]>([
    [{ provider: {} }, 'body/provider/model is required'],
    [{ provider: 'x' }, 'body/provider must be an object'],
    [{ provider: [] }, 'body/provider must be an object'],
    [{ provider: { model: 'too long' } }, 'body/provider/model must be a string of 1 to 5 characters'],
    [{ provider: { model: 'm', nope: 1 } }, 'body/provider/nope is not allowed'],
    [{ provider: { model: 'm', constructor: 1 } }, 'body/provider/constructor is not allowed'],
    [{ providers: [{ model: 'm' }, { model: 5 }] }, 'body/providers/1/model must be a string of 1 to 5 characters'],
    [{ providers: [{ model: 'm' }, null] }, 'body/providers/1 must be an object'],
    [{ providers: [] }, 'body/providers must be an array of 1 to 2 items'],
    [{ provider: { model: 'm', thinking: {} } }, 'body/provider/thinking/type must be one of enabled, disabled'],
    [
      { provider: { model: 'm', thinking: { type: 'x' } } },
      'body/provider/thinking/type must be one of enabled, disabled',
    ],
    [
      { provider: { model: 'm', thinking: { type: 'toString' } } },
      'body/provider/thinking/type must be one of enabled, disabled',
    ],
    [{ provider: { model: 'm', thinking: true } }, 'body/provider/thinking must be an object'],
    [
      { provider: { model: 'm', thinking: { type: 'disabled', effort: 'low' } } },
      'body/provider/thinking/effort is not allowed',
    ],
    [
      { provider: { model: 'm', thinking: { type: 'enabled', effort: 'x' } } },
      'body/provider/thinking/effort must be one of low, high',
    ],
    [{ thinkings: [{ type: 'enabled' }, { type: 'x' }] }, 'body/thinkings/1/type must be one of enabled, disabled'],
  ])('refuses %j', (sent, message) => {
    expect(complaint(sent)).toBe(message);
  });

  it('becomes an instance of its class, a union one of the variant', () => {
    const dto = validated(Everything, { provider: { model: 'm', thinking: { type: 'enabled' } } }, 'body');
    expect(dto.provider).toBeInstanceOf(Provider);
    expect(dto.provider?.thinking).toBeInstanceOf(EnabledThinking);
  });
});

describe('several errors', () => {
  it('are all named in one message', () => {
    expect(complaint({ count: 0, nope: 1, provider: {} })).toBe(
      'body/nope is not allowed, body/provider/model is required, body/count must be an integer from 1 to 20',
    );
  });

  it('are not all named when there are thousands', () => {
    const sent = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`field${index}`, 1]));
    expect(complaint(sent)).toMatch(/^body\/field0 is not allowed, .*, and more$/);
    expect(complaint(sent).length).toBeLessThan(1_000);
  });
});

describe('a class', () => {
  it('that extends another has both their fields, and does not change the other', () => {
    class Longer extends Provider {
      @IntegerField()
      size!: number;
    }
    expect(complaint({ model: 'm', size: 1 }, Longer)).toBe('none');
    expect(complaint({ size: 1 }, Longer)).toBe('body/model is required');
    expect(complaint({ model: 'm', size: 1 }, Provider)).toBe('body/size is not allowed');
  });

  it('can ignore unknown fields', () => {
    @IgnoreUnknownFields()
    class Lenient {
      @StringField()
      text!: string;
    }
    expect(validated(Lenient, { text: 'x', other: 1, toString: 2 }, 'body')).toEqual({ text: 'x' });
  });

  it('of a query converts text, and nothing else', () => {
    class Query {
      @QueryUuidListField({ max: 2 })
      ids!: string[];
      @QueryBooleanField({ optional: true })
      deep = false;
      @QueryEnumListField(['one', 'two'], { optional: true })
      names?: string[];
    }
    expect(validated(Query, { ids: `${UUID},${UUID.toUpperCase()}`, deep: 'true' }, 'querystring')).toEqual({
      ids: [UUID, UUID],
      deep: true,
    });
    const wanted = 'must be a comma-separated list of 1 to 2 items';
    expect(complaint({}, Query)).toBe('body/ids is required');
    expect(complaint({ ids: '' }, Query)).toBe(`body/ids ${wanted}`);
    expect(complaint({ ids: [UUID, UUID] }, Query)).toBe('body/ids must be given once');
    expect(complaint({ ids: `${UUID},x` }, Query)).toBe('body/ids/1 must be a UUID');
    expect(validated(Query, { ids: UUID, names: 'two,one' }, 'querystring').names).toEqual(['two', 'one']);
    expect(complaint({ ids: UUID, names: '' }, Query)).toBe(
      'body/names must be a comma-separated list of at least 1 item',
    );
    expect(complaint({ ids: UUID, names: 'one,' }, Query)).toBe('body/names/1 must be one of one, two');
    expect(complaint({ ids: UUID, deep: '1' }, Query)).toBe('body/deep must be true or false');
  });
});
