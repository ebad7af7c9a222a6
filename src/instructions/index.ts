export { InstructionsModule } from './instructions.module.js';
export { instructionsSchema } from './persistence/instructions.schema.js';
export { SectionsPromptSource } from './application/sections-prompt-source.js';
