import type { ContentBlock, ResourceBlock, TextBlock } from '../acp/model.ts'

/** A copy of the block, so that text can be appended without changing the update. */
function ownBlock(block: ContentBlock): ContentBlock {
  return { ...block }
}

export function copyBlocks(blocks: readonly ContentBlock[] | null | undefined): ContentBlock[] {
  return blocks ? blocks.map(ownBlock) : []
}

/**
 * Appends a block; text continues the text before it. Returns the index of the text block that grew, or -1 if the block
 * is new.
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

/** Whether a block is empty: some agents send such chunks after a turn. */
export function isBlank(block: ContentBlock): boolean {
  return block.type === 'text' && block.text === ''
}

/** Whether a prompt has content other than white space. */
export function isEmptyPrompt(blocks: readonly ContentBlock[]): boolean {
  return blocks.every(block => block.type === 'text' && block.text.trim() === '')
}

/** Whether an agent gets the block as text. */
export function isText(block: ContentBlock): block is TextBlock | (ResourceBlock & { asText: true }) {
  return block.type === 'text' || (block.type === 'resource' && block.asText === true)
}

/** The text of all blocks, as an agent gets it, concatenated. */
export function textOf(blocks: readonly ContentBlock[]): string {
  let text = ''
  for (const block of blocks) if (isText(block)) text += block.text ?? ''
  return text
}
