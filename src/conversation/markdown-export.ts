import * as l10n from '@vscode/l10n'
import { entryKind } from './entries/entry-kinds.ts'
import { escaped } from './markdown.ts'
import type { Entry, SessionState, TerminalState } from './state.ts'

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
  return entryKind(entry).markdown(entry, terminals)
}
