import type { JsonObject } from '../../domain/model-runtime.js';

/** A message that asks for a component; the first group is its kind. */
export const SHOW_SAMPLE = /\bshow (?:me |us )?(?:an? |some )?(card|list|choices|question)\b/i;

const linksTo = (path: string): JsonObject[] => [{ label: 'See it', url: `https://example.com/${path}` }];

export const SAMPLES: Readonly<Record<string, { readonly name: string; readonly input: JsonObject }>> = {
  card: {
    name: 'present_card',
    input: {
      title: 'Climber 500',
      subtitle: 'Touring bicycle',
      text: 'A sample card, made up by the sandbox model.',
      fields: [
        { label: 'Price', value: '1,200 €' },
        { label: 'Weight', value: '11.4 kg' },
        { label: 'In stock', value: 'Yes' },
      ],
      links: linksTo('climber'),
    },
  },
  list: {
    name: 'present_list',
    input: {
      title: 'Bicycles for you',
      items: [
        { title: 'Climber 500', text: 'For long days uphill.', links: linksTo('climber') },
        { title: 'City 200', text: 'For short ways and heavy bags.', links: linksTo('city') },
        { title: 'Folding 16', text: 'For trains and small flats.' },
      ],
    },
  },
  choices: {
    name: 'present_select',
    input: {
      question: 'Where do you ride most?',
      options: [
        { label: 'In the city' },
        { label: 'In the mountains', description: 'Steep and rough' },
        { label: 'On long tours' },
      ],
    },
  },
  question: {
    name: 'present_confirm',
    input: { question: 'Shall I reserve a test ride?', confirmLabel: 'Yes, please', cancelLabel: 'Not now' },
  },
};

/** A text with every kind of formatting that a client may have to render. */
export const FORMATTED = `Here is **formatted** text, with *emphasis*, \`code\` and [a link](https://example.com).

1. First one thing
2. then another
   - with a detail

| Bicycle | Price |
| --- | --- |
| Climber 500 | 1,200 € |
| City 200 | 650 € |

\`\`\`js
const reply = await chat.send('Hello');
\`\`\`

> A quotation.
`;
