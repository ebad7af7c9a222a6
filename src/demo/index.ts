import type { Context } from '../platform/context/index.js';
import { DemoModule } from './demo.module.js';

export { DemoExamples } from './application/demo-examples.js';

export const demoContext = { name: 'demo', modules: [DemoModule], enabled: ({ demo }) => demo } satisfies Context;
