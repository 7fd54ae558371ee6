import type { ContentBlock } from '../acp/model.ts'

/** A block of our own, so that text can be appended to it without changing what an update holds. */
function ownBlock(block: ContentBlock): ContentBlock {
  return { ...block }
}

export function ownBlocks(blocks: readonly ContentBlock[] | null | undefined): ContentBlock[] {
  return blocks ? blocks.map(ownBlock) : []
}

/**
 * Appends a block; text continues the text before it. Returns the index of the text block that grew, or -1 when
 * the block is a new one.
 */
export function appendBlock(blocks: ContentBlock[], block: ContentBlock): number {
  const last = blocks.at(-1)
  if (block.type === 'text' && last?.type === 'text' && block.agentOnly === last.agentOnly) {
    last.text += block.text
    return blocks.length - 1
  }
  pushBlock(blocks, block)
  return -1
}

/** Appends a block unchanged, without joining it to text before it. */
export function pushBlock(blocks: ContentBlock[], block: ContentBlock): void {
  blocks.push(ownBlock(block))
}

/** Whether a block says nothing at all: some agents send such chunks after a turn. */
export function isBlank(block: ContentBlock): boolean {
  return block.type === 'text' && block.text === ''
}

/** Whether there is anything in a prompt: white space alone is nothing. */
export function isEmptyPrompt(blocks: readonly ContentBlock[]): boolean {
  return blocks.every(block => block.type === 'text' && block.text.trim() === '')
}

/** All text of the blocks, one after the other. */
export function textOf(blocks: readonly ContentBlock[]): string {
  let text = ''
  for (const block of blocks) if (block.type === 'text') text += block.text
  return text
}
