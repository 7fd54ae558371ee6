import type { ContentBlock, ResourceBlock, TextBlock } from '../acp/model.ts'

/** Returns a copy of the block, so that text can be appended without changing the update. */
function ownBlock(block: ContentBlock): ContentBlock {
  return { ...block }
}

export function copyBlocks(blocks: readonly ContentBlock[] | null | undefined): ContentBlock[] {
  return blocks ? blocks.map(ownBlock) : []
}

/**
 * Appends a block; a text block is appended to the text block before it. Returns the index of the text block that grew, or -1 if a block
 * was added.
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

/** Appends a copy of a block, without joining it to the text before it. */
export function pushBlock(blocks: ContentBlock[], block: ContentBlock): void {
  blocks.push(ownBlock(block))
}

/** Whether a block is empty: some agents send empty text chunks after a turn. */
export function isBlank(block: ContentBlock): boolean {
  return block.type === 'text' && block.text === ''
}

/** Whether a prompt is empty: it contains nothing but white space. */
export function isEmptyPrompt(blocks: readonly ContentBlock[]): boolean {
  return blocks.every(block => block.type === 'text' && block.text.trim() === '')
}

/** Whether an agent gets the block as plain text. */
export function isText(block: ContentBlock): block is TextBlock | (ResourceBlock & { asText: true }) {
  return block.type === 'text' || (block.type === 'resource' && block.asText === true)
}

/** Returns the concatenated text of all blocks, as the agent gets it. */
export function textOf(blocks: readonly ContentBlock[]): string {
  let text = ''
  for (const block of blocks) if (isText(block)) text += block.text ?? ''
  return text
}
