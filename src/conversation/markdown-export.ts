import * as l10n from '@vscode/l10n'
import { createTwoFilesPatch } from 'diff'
import type { ContentBlock, FileChange, ToolCallContent, ToolKind } from '../acp/model.ts'
import { CONTEXT_SCHEME, chipOf } from '../common/block-chip.ts'
import { draftOf, inText } from '../common/draft.ts'
import { escapeHtml } from '../common/escape-html.ts'
import { appendBlock } from './blocks.ts'
import type {
  Entry,
  MessageEntry,
  PermissionEntry,
  SessionState,
  TerminalState,
  ToolCallEntry,
} from './state.ts'
import { toolOutput, withoutEscapes } from './tool-output.ts'

/** Time limit for comparing two texts, in milliseconds; beyond it, only the new one is shown. */
const DIFF_MS = 200

export interface ExportedSession {
  title: string
  agentName: string
  /** the folder it works in */
  cwd?: string
}

type Exported = Pick<SessionState, 'entries'> & { terminals: ReadonlyMap<string, TerminalState> }

/**
 * A whole conversation as Markdown, for users and for other agents: messages as they were written, work collapsed into
 * `<details>` with its diffs and output.
 */
export function conversationMarkdown(state: Exported, about: ExportedSession): string {
  const parts = [`# ${escaped(about.title)}`]
  const origin = [escaped(about.agentName), ...(about.cwd ? [`\`${about.cwd.replace(/`/g, "'")}\``] : [])]
  parts.push(origin.join(' · '))
  let speaker: 'you' | 'agent' | undefined
  for (const entry of state.entries) {
    const text = entryMarkdown(entry, state.terminals)
    if (text === '') continue
    const speaks = entry.kind === 'message' && entry.role === 'user' ? 'you' : 'agent'
    if (speaks !== speaker) parts.push(`## ${speaks === 'you' ? l10n.t('You') : escaped(about.agentName)}`)
    speaker = speaks
    parts.push(text)
  }
  return `${parts.join('\n\n')}\n`
}

/** One entry; empty if there is nothing to show. */
export function entryMarkdown(entry: Entry, terminals: ReadonlyMap<string, TerminalState>): string {
  switch (entry.kind) {
    case 'message':
      return message(entry)
    case 'tool_call':
      return toolCall(entry, terminals)
    case 'permission':
      return permission(entry)
    case 'elicitation': {
      const outcome = entry.outcome ? answered(entry.outcome.action) : l10n.t('not answered')
      return `> ${escaped(entry.message)}: ${outcome}`
    }
    case 'notice':
      return [
        `> **${escaped(entry.title)}**`,
        ...(entry.description ? [quoted(contained(entry.description))] : []),
      ].join('\n>\n')
    case 'compaction': {
      const summary = blocks(entry.summary)
      const title = l10n.t('Conversation compacted')
      return summary === '' ? `*${title}*` : folded(title, [summary])
    }
    case 'subagent':
      return `*${escaped(entry.title ? l10n.t('Subagent: {0}', entry.title) : l10n.t('Subagent'))}*`
    case 'session_message': {
      const text = blocks(entry.blocks)
      return text === '' ? '' : folded(l10n.t('Message between sessions'), [text])
    }
    case 'turn_end': {
      const reason = entry.error?.message ?? entry.stopReason
      return `*${l10n.t('The turn ended: {0}', escaped(reason))}*`
    }
    case 'unknown':
      return folded(l10n.t('Unknown update: {0}', entry.updateKind), [json(entry.raw)])
  }
}

/** A message with all of its parts, including text that continues below other work. */
export function wholeMessage(entries: readonly Entry[], index: number): MessageEntry | undefined {
  const entry = entries[index]
  if (entry?.kind !== 'message') return undefined
  const isPart = (other: Entry | undefined): other is MessageEntry =>
    other?.kind === 'message' &&
    other.messageId === entry.messageId &&
    other.role === entry.role &&
    other.within === entry.within
  if (entry.messageId === undefined) return entry
  let first: MessageEntry = entry
  let at = index
  while (first.continues && at > 0) {
    const before = entries[--at]
    if (isPart(before)) first = before
  }
  const whole: MessageEntry = { ...first, blocks: [] }
  for (const block of first.blocks) appendBlock(whole.blocks, block)
  for (const other of entries.slice(at + 1)) {
    if (!isPart(other)) continue
    if (!other.continues) break
    for (const block of other.blocks) appendBlock(whole.blocks, block)
  }
  return whole
}

/** The plain text of a message; in a prompt, chips are replaced by their labels. */
export function messageText(entry: MessageEntry): string {
  if (entry.role === 'user') return draftOf(standing(entry.blocks), itemOf).text.trim()
  return entry.blocks.flatMap(block => (block.type === 'text' ? [block.text] : [])).join('\n\n')
}

function message(entry: MessageEntry): string {
  const text = entry.role === 'user' ? prompt(entry.blocks) : blocks(entry.blocks)
  if (text.trim() === '') return ''
  return entry.role === 'thought' ? folded(l10n.t('Thought'), [text]) : text
}

const itemOf = (block: ContentBlock) => ({ id: '', ...chipOf(block) })

/** The blocks that are part of a prompt's text. */
function standing(list: readonly ContentBlock[]): ContentBlock[] {
  const within = inText(list)
  return list.filter((_, i) => within[i])
}

/** A prompt's text with links in place of its files; other attachments follow it. */
function prompt(list: readonly ContentBlock[]): string {
  const within = inText(list)
  const isFile = (one: ContentBlock) => 'uri' in one && !one.uri?.startsWith(CONTEXT_SCHEME)
  const text = list
    .map((one, i) => {
      if (!within[i]) return ''
      if (one.type === 'text') return list[i - 1]?.type === 'text' ? `\n\n${one.text}` : one.text
      const { label } = chipOf(one)
      return isFile(one) && 'uri' in one
        ? `[${escaped(label)}](${destination(one.uri ?? '')})`
        : `*${escaped(label)}*`
    })
    .join('')
  const after = list.filter((one, i) => !within[i] || (one.type !== 'text' && !isFile(one)))
  return [contained(text.trim()), blocks(after)].filter(part => part !== '').join('\n\n')
}

function blocks(list: readonly ContentBlock[]): string {
  return list
    .map(block)
    .filter(text => text.trim() !== '')
    .join('\n\n')
}

function block(content: ContentBlock): string {
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
      const link = `[${escaped(nameOf(content.uri))}](${destination(content.uri)})`
      return content.text === undefined ? link : folded(nameOf(content.uri), [fenced(content.text)])
    }
    case 'unknown':
      return json(content.raw)
  }
}

function toolCall(entry: ToolCallEntry, terminals: ReadonlyMap<string, TerminalState>): string {
  const title = entry.title || entry.toolName || entry.toolKind
  const status = entry.status === 'completed' ? '' : ` (${entry.status})`
  const parts = entry.content.flatMap(content => toolContent(content, entry.toolKind, terminals))
  if (parts.length === 0 && entry.rawOutput !== undefined && entry.rawOutput !== null) {
    parts.push(typeof entry.rawOutput === 'string' ? fenced(plain(entry.rawOutput)) : json(entry.rawOutput))
  }
  if (entry.title.includes('\n')) parts.unshift(fenced(entry.title))
  return folded(title.split('\n', 1)[0] + status, parts)
}

function toolContent(
  content: ToolCallContent,
  kind: ToolKind,
  terminals: ReadonlyMap<string, TerminalState>,
): string[] {
  switch (content.type) {
    case 'content': {
      const output = content.content.type === 'text' ? toolOutput(content.content.text, kind) : undefined
      return [output ? fenced(plain(output.text), output.language) : block(content.content)]
    }
    case 'diff': {
      const texts = content.changes.flatMap(change => diff(change) ?? [])
      if (texts.length < content.changes.length && content.patch)
        texts.push(fenced(content.patch.text, 'diff'))
      return texts
    }
    case 'terminal': {
      const terminal = terminals.get(content.terminalId)
      if (!terminal) return []
      const command = terminal.command ? `$ ${terminal.command}\n` : ''
      const exit = terminal.exit?.exitCode ? `\n[${l10n.t('exit code {0}', terminal.exit.exitCode)}]` : ''
      return [fenced(command + plain(terminal.output).replace(/\n$/, '') + exit, 'console')]
    }
    case 'unknown':
      return [json(content.raw)]
  }
}

function diff({ path, oldPath, oldText, newText }: FileChange): string | undefined {
  if (oldText === undefined && newText === undefined) return undefined
  const before = oldText ?? ''
  const after = newText ?? ''
  const patch = createTwoFilesPatch(oldPath ?? path, path, before, after, undefined, undefined, {
    context: 3,
    timeout: DIFF_MS,
    headerOptions: { includeIndex: false, includeUnderline: false, includeFileHeaders: true },
  })
  return patch === undefined ? fenced(after) : fenced(patch, 'diff')
}

function permission(entry: PermissionEntry): string {
  const { outcome } = entry
  const option =
    outcome?.type === 'selected'
      ? entry.options.find(({ optionId }) => optionId === outcome.optionId)?.name
      : undefined
  const answer = option ?? (outcome ? answered('cancel') : l10n.t('not answered'))
  const title = `> ${escaped(entry.title || l10n.t('Permission'))}: ${escaped(answer)}`
  return entry.command ? `${title}\n>\n${quoted(fenced(entry.command.command, 'sh'))}` : title
}

function answered(action: 'accept' | 'decline' | 'cancel'): string {
  if (action === 'accept') return l10n.t('answered')
  return action === 'decline' ? l10n.t('declined') : l10n.t('canceled')
}

function quoted(text: string): string {
  return text.replace(/^/gm, '> ')
}

function json(value: unknown): string {
  return fenced(JSON.stringify(value, undefined, 2) ?? '', 'json')
}

/** A URL as the destination of a link. */
function destination(uri: string): string {
  return `<${uri.replace(/[<>\s\\]/g, character => encodeURIComponent(character))}>`
}

function nameOf(uri: string): string {
  const name = uri.slice(uri.lastIndexOf('/') + 1) || uri
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

function plain(output: string): string {
  return withoutEscapes(output).replace(/\r\n?/g, '\n')
}

/** A text as a block of code: its fence is longer than any in the text. */
export function fenced(text: string, language = ''): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language.replace(/[^\w+#.-]/g, '')}\n${text.replace(/\n$/, '')}\n${fence}`
}

/** A text on one line, with markup escaped. */
export function escaped(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/[\\`*_[\]<>#|~!]/g, '\\$&')
}

/**
 * Markdown of unknown origin, as a part of a longer text: a code block that it leaves open is closed, and outside of
 * code, it neither opens nor closes a `<details>` section.
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

/** A collapsed section. */
export function folded(summary: string, parts: readonly string[]): string {
  return [
    `<details>\n<summary>${escapeHtml(summary.replace(/\s+/g, ' ').trim())}</summary>`,
    ...parts,
    '</details>',
  ].join('\n\n')
}
