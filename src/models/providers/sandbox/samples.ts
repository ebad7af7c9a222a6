import type { JsonObject } from '../../domain/model-runtime.js';

/** What asks for a component: its kind is the first group. */
export const SHOW_SAMPLE = /\bshow (?:me |us )?(?:an? |some )?(card|list|choices|question)\b/i;

/** The components that the sandbox model shows, by what asks for them. */
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
      links: [{ label: 'See it', url: 'https://example.com/climber' }],
    },
  },
  list: {
    name: 'present_list',
    input: {
      title: 'Bicycles for you',
      items: [
        {
          title: 'Climber 500',
          text: 'For long days uphill.',
          links: [{ label: 'See it', url: 'https://example.com/climber' }],
        },
        {
          title: 'City 200',
          text: 'For short ways and heavy bags.',
          links: [{ label: 'See it', url: 'https://example.com/city' }],
        },
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

/** A text with everything that a reader may have to draw. */
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

> Said by nobody in particular.
`;
