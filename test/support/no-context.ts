import type { ContextSources } from '../../src/editor/mentions/prompt-content.ts'

/** An editor without files, problems and changes, for prompts that refer to nothing. */
export const noContext: ContextSources = {
  mayRead: async () => false,
  size: async () => undefined,
  readText: async () => undefined,
  readBytes: async () => new Uint8Array(),
  problems: async () => '',
  changes: async () => '',
  revision: async () => undefined,
}
