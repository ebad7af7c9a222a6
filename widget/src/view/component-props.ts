/** Checks the properties of components, which a model has written. A component with invalid properties is drawn as text. */
export interface LinkProps {
  readonly label: string;
  readonly url: string;
}
export interface ImageProps {
  readonly url: string;
  readonly alt: string;
}
export interface Choice {
  readonly label: string;
  readonly description?: string;
}
export type ComponentProps =
  | {
      readonly kind: 'choices';
      readonly question: string;
      readonly choices: readonly Choice[];
      /** Drawn below each other. */
      readonly isList: boolean;
    }
  | {
      readonly kind: 'card';
      readonly title: string;
      readonly subtitle: string | undefined;
      readonly text: string | undefined;
      readonly fields: readonly { readonly label: string; readonly value: string }[];
      readonly image: ImageProps | undefined;
      readonly links: readonly LinkProps[];
    }
  | { readonly kind: 'list'; readonly title: string | undefined; readonly items: readonly ListItem[] };

export interface ListItem {
  readonly title: string;
  readonly text: string | undefined;
  readonly image: ImageProps | undefined;
  readonly links: readonly LinkProps[];
}

type Given = Readonly<Record<string, unknown>>;

/** @returns null for an unknown component and for invalid properties */
export function readProps(component: string, props: Given): ComponentProps | null {
  try {
    switch (component) {
      case 'confirm': {
        const choices = [{ label: text(props, 'confirmLabel') }, { label: text(props, 'cancelLabel') }];
        return { kind: 'choices', question: text(props, 'question'), choices, isList: false };
      }
      case 'select':
        return {
          kind: 'choices',
          question: text(props, 'question'),
          choices: list(props, 'options', choice),
          isList: true,
        };
      case 'card': {
        const { title, text: said, image, links } = item(props);
        const fields = list(props, 'fields', (field) => ({ label: text(field, 'label'), value: text(field, 'value') }));
        return { kind: 'card', title, subtitle: optional(props, 'subtitle'), text: said, fields, image, links };
      }
      case 'list':
        return { kind: 'list', title: optional(props, 'title'), items: list(props, 'items', item) };
      default:
        return null;
    }
  } catch {
    return null;
  }
}

function item(given: Given): ListItem {
  const image = given['image'] === undefined ? undefined : object(given['image']);
  return {
    title: text(given, 'title'),
    text: optional(given, 'text'),
    image: image && { url: text(image, 'url'), alt: text(image, 'alt') },
    links: list(given, 'links', (link) => ({ label: text(link, 'label'), url: text(link, 'url') })),
  };
}

function choice(given: Given): Choice {
  const description = optional(given, 'description');
  return { label: text(given, 'label'), ...(description === undefined ? {} : { description }) };
}

function object(value: unknown): Given {
  if (typeof value !== 'object' || value === null) throw new TypeError('not an object');
  return value as Given;
}

function text(given: Given, name: string): string {
  const value = given[name];
  if (typeof value !== 'string' || value === '') throw new TypeError(`${name} is not a text`);
  return value;
}

function optional(given: Given, name: string): string | undefined {
  return given[name] === undefined ? undefined : text(given, name);
}

function list<Item>(given: Given, name: string, read: (entry: Given) => Item): Item[] {
  const value = given[name] ?? [];
  if (!Array.isArray(value)) throw new TypeError(`${name} is not a list`);
  return value.map((entry) => read(object(entry)));
}
