/** The searchable text of a conversation: the same for the host, which searches, and the webview, which shows the matches. */
import type { ContentBlock, FileChange, ToolCallContent, ToolKind } from '../acp/model.ts'
import { markdownText } from '../common/markdown-text.ts'
import type { Entry, TerminalState } from '../conversation/state.ts'
import { toolOutput, withoutEscapes } from '../conversation/tool-output.ts'

/** The text of an entry: what is visible while it's collapsed, and what is also visible when it's expanded. */
export interface EntryText {
  head: string
  body: string
}

export function entryText(entry: Entry, terminals: ReadonlyMap<string, TerminalState>): EntryText {
  switch (entry.kind) {
    case 'message': {
      const text = lines(entry.blocks.map(block => blockText(block, entry.role !== 'user')))
      return entry.role === 'thought' ? { head: '', body: text } : { head: text, body: '' }
    }
    case 'tool_call':
      return {
        head: entry.title || (entry.toolName ?? ''),
        body: lines([
          ...entry.content.map(content => contentText(content, entry.toolKind, terminals)),
          entry.content.length === 0 ? rawText(entry.rawOutput) : '',
        ]),
      }
    case 'permission':
      return { head: lines([entry.title, entry.description, entry.command?.command]), body: '' }
    case 'elicitation':
      return {
        head: lines([
          entry.message,
          ...(entry.ask.mode === 'form' ? [entry.ask.title, entry.ask.description] : []),
        ]),
        body: '',
      }
    case 'notice':
      return { head: lines([entry.title, entry.description && markdownText(entry.description)]), body: '' }
    case 'compaction':
      return { head: '', body: lines(entry.summary.map(block => blockText(block, true))) }
    case 'subagent':
      return { head: entry.title ?? '', body: '' }
    case 'session_message':
      return { head: '', body: lines(entry.blocks.map(block => blockText(block, true))) }
    case 'turn_end':
      return { head: entry.error?.message ?? '', body: entry.error?.detail ?? '' }
    case 'unknown':
      return { head: entry.updateKind, body: JSON.stringify(entry.raw) ?? '' }
  }
}

/** `markdown`: rendered as such, so its markup isn't visible */
export function blockText(block: ContentBlock, markdown: boolean): string {
  switch (block.type) {
    case 'text':
      return markdown ? markdownText(block.text) : block.text
    case 'resource_link':
      return block.title ?? block.name
    case 'resource':
      return lines([nameOf(block.uri), block.text])
    case 'image':
    case 'audio':
      return ''
    case 'unknown':
      return JSON.stringify(block.raw) ?? ''
  }
}

function contentText(
  content: ToolCallContent,
  kind: ToolKind,
  terminals: ReadonlyMap<string, TerminalState>,
): string {
  switch (content.type) {
    case 'content': {
      const output = content.content.type === 'text' ? toolOutput(content.content.text, kind) : undefined
      return output?.text ?? blockText(content.content, true)
    }
    case 'diff':
      return lines(
        content.changes.map(change => lines([change.path, changedLines(change, content.patch?.text)])),
      )
    case 'terminal':
      return withoutEscapes(terminals.get(content.terminalId)?.output ?? '')
    case 'unknown':
      return JSON.stringify(content.raw) ?? ''
  }
}

/**
 * Approximately what a diff shows: the part where the texts differ with three lines of context, then what only the old
 * one has.
 */
function changedLines({ oldText, newText }: FileChange, patch: string | undefined): string {
  if (newText === undefined && oldText === undefined) return patch ?? ''
  const before = oldText === undefined ? [] : oldText.split('\n')
  const after = newText === undefined ? [] : newText.split('\n')
  const least = Math.min(before.length, after.length)
  let start = 0
  while (start < least && before[start] === after[start]) start++
  let end = 0
  while (end < least - start && before[before.length - 1 - end] === after[after.length - 1 - end]) end++
  const from = Math.max(0, start - 3)
  const shown = after.slice(from, Math.min(after.length, after.length - end + 3))
  const still = new Set(shown)
  const gone = before.slice(start, before.length - end).filter(line => !still.has(line))
  return lines([...gone, ...shown])
}

function rawText(raw: unknown): string {
  if (raw === undefined || raw === null) return ''
  return typeof raw === 'string' ? withoutEscapes(raw) : (JSON.stringify(raw, undefined, 2) ?? '')
}

function nameOf(uri: string): string {
  const name = uri.slice(uri.lastIndexOf('/') + 1)
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

function lines(texts: ReadonlyArray<string | undefined>): string {
  return texts.filter(text => text).join('\n')
}
