/** The searchable text of content. The host, which searches, and the webview, which shows the matches, use the same text. */
import type { ContentBlock } from '../acp/model.ts'
import { nameOfUri } from '../common/block-chip.ts'
import { markdownText } from '../common/markdown-text.ts'

/** Returns the searchable text of a block. `markdown`: the text is rendered, so its markup isn't visible. */
export function blockText(block: ContentBlock, markdown: boolean): string {
  switch (block.type) {
    case 'text':
      return markdown ? markdownText(block.text) : block.text
    case 'resource_link':
      return block.title ?? block.name
    case 'resource':
      return lines([nameOfUri(block.uri), block.text])
    case 'image':
    case 'audio':
      return ''
    case 'unknown':
      return JSON.stringify(block.raw) ?? ''
  }
}

/** Returns the non-empty texts, each on its own line. */
export function lines(texts: ReadonlyArray<string | undefined>): string {
  return texts.filter(text => text).join('\n')
}
