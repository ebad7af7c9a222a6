import type { ModuleMetadata } from '@nestjs/common';

/** What one part of the context brings to its module. The parts ask one another for what they provide. */
export type KnowledgePart = Readonly<Required<Pick<ModuleMetadata, 'imports' | 'controllers' | 'providers'>>>;
