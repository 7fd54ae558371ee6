/** The searchable text of content, the same in the host, which searches, and in the webview, which shows the matches. */
import type { ContentBlock } from '../acp/model.ts'
import { nameOfUri } from '../common/block-chip.ts'
import { markdownText } from '../common/markdown-text.ts'

/** `markdown`: the text is rendered, so its markup isn't visible */
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

/** The texts that aren't empty, each on a line of its own. */
export function lines(texts: ReadonlyArray<string | undefined>): string {
  return texts.filter(text => text).join('\n')
}
