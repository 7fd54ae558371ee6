/** Converts content to Markdown, for exported conversations and messages to agents. */
import * as l10n from '@vscode/l10n'
import type { ContentBlock } from '../acp/model.ts'
import { nameOfUri } from '../common/block-chip.ts'
import { codeFence } from '../common/code-fence.ts'
import { escapeHtml } from '../common/escape-html.ts'
import { withoutEscapes } from './tool-output.ts'

export function blocksMarkdown(list: readonly ContentBlock[]): string {
  return list
    .map(blockMarkdown)
    .filter(text => text.trim() !== '')
    .join('\n\n')
}

export function blockMarkdown(content: ContentBlock): string {
  switch (content.type) {
    case 'text':
      return contained(content.text)
    case 'image':
      return `*${l10n.t('Image')} (${escaped(content.mimeType)})*`
    case 'audio':
      return `*${l10n.t('Audio')} (${escaped(content.mimeType)})*`
    case 'resource_link':
      return `[${escaped(content.title ?? content.name)}](${destination(content.uri)})`
    case 'resource': {
      const link = `[${escaped(nameOfUri(content.uri))}](${destination(content.uri)})`
      return content.text === undefined ? link : folded(nameOfUri(content.uri), [fenced(content.text)])
    }
    case 'unknown':
      return jsonMarkdown(content.raw)
  }
}

export function quoted(text: string): string {
  return text.replace(/^/gm, '> ')
}

export function jsonMarkdown(value: unknown): string {
  return fenced(JSON.stringify(value, undefined, 2) ?? '', 'json')
}

/** Returns a URL as the destination of a Markdown link. */
export function destination(uri: string): string {
  return `<${uri.replace(/[<>\s\\]/g, character => encodeURIComponent(character))}>`
}

/** Returns a program's output as plain text, without escape sequences. */
export function plain(output: string): string {
  return withoutEscapes(output).replace(/\r\n?/g, '\n')
}

/** Returns a text as a code block, with a fence that is longer than any fence in the text. */
export function fenced(text: string, language = ''): string {
  const fence = codeFence(text)
  return `${fence}${language.replace(/[^\w+#.-]/g, '')}\n${text.replace(/\n$/, '')}\n${fence}`
}

/** Returns a text on one line, with markup escaped. */
export function escaped(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/[\\`*_[\]<>#|~!]/g, '\\$&')
}

/**
 * Returns Markdown of unknown origin as a part of a longer text: an unclosed code block is closed, and outside of code, the text neither
 * opens nor closes a `<details>` section.
 */
export function contained(markdown: string): string {
  let open: string | undefined
  const lines = markdown.split('\n').map(line => {
    const [, mark, rest = ''] = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line) ?? []
    if (open !== undefined) {
      if (mark && mark[0] === open[0] && mark.length >= open.length && rest.trim() === '') open = undefined
      return line
    }
    if (mark && !(mark[0] === '`' && rest.includes('`'))) {
      open = mark
      return line
    }
    return line.replace(/<(?=\/?(?:details|summary)\b)/gi, '&lt;').replace(/<!--/g, '&lt;!--')
  })
  if (open !== undefined) lines.push(open)
  return lines.join('\n')
}

/** Returns a collapsed `<details>` section. */
export function folded(summary: string, parts: readonly string[]): string {
  return [
    `<details>\n<summary>${escapeHtml(summary.replace(/\s+/g, ' ').trim())}</summary>`,
    ...parts,
    '</details>',
  ].join('\n\n')
}
