import type { MarkdownBlock } from './blocks.ts'

/** Longer fences have only the lines near what is seen in the page. Characters. */
const LONG_FENCE = 16_384

/** The beginning of a fence, up to its code. */
export const FENCE_OPENING = /^(?:[ \t]*\n)* {0,3}(?:`{3,64}|~{3,64})([^\n]*)\n/

/** Whether a block is a fence of which only a part should be in the page. */
export function isLongFence(block: MarkdownBlock | undefined): boolean {
  return block?.type === 'fence' && block.source.length > LONG_FENCE && FENCE_OPENING.test(block.source)
}
