import { card } from './card.js';
import type { ComponentKind } from './component-kind.js';
import type { ComponentName } from './component-names.js';
import { confirm } from './confirm.js';
import { list } from './list.js';
import { select } from './select.js';

export const COMPONENTS: Readonly<Record<ComponentName, ComponentKind>> = { confirm, select, card, list };
