import * as l10n from '@vscode/l10n'
import { entryKind } from './entries/entry-kinds.ts'
import { continuedIn } from './entries/notice.ts'
import { escaped } from './markdown.ts'
import type { Entry, SessionState, TerminalState } from './state.ts'

export interface ExportedSession {
  title: string
  agentName: string
  /** the session's folder */
  cwd?: string
  /** a sentence about the document */
  note?: string
  /** a summary of the turns that aren't included */
  summary?: string
}

type Exported = Pick<SessionState, 'entries'> & { terminals: ReadonlyMap<string, TerminalState> }

/**
 * Returns a whole conversation as Markdown, for users and for other agents: messages are unchanged, and work is collapsed into `<details>`
 * with its diffs and output.
 */
export function conversationMarkdown(state: Exported, about: ExportedSession): string {
  const parts = [`# ${escaped(about.title)}`]
  const origin = [escaped(about.agentName), ...(about.cwd ? [`\`${about.cwd.replace(/`/g, "'")}\``] : [])]
  parts.push(origin.join(' · '))
  if (about.note !== undefined) parts.push(`*${escaped(about.note)}*`)
  if (about.summary !== undefined) parts.push(`## ${l10n.t('Summary of the Earlier Turns')}`, about.summary)
  let speaker: string | undefined
  const agents = agentNames(state.entries, about.agentName)
  for (const [at, entry] of state.entries.entries()) {
    const text = entryMarkdown(entry, state.terminals)
    if (text === '') continue
    // this entry is the notice that the conversation continues with another agent
    if (agents[at] === undefined) {
      parts.push(text)
      speaker = undefined
      continue
    }
    const isUserPrompt = entry.kind === 'message' && entry.role === 'user'
    const speaks = isUserPrompt ? l10n.t('You') : escaped(agents[at])
    if (speaks !== speaker) parts.push(`## ${speaks}`)
    speaker = speaks
    parts.push(text)
  }
  return `${parts.join('\n\n')}\n`
}

/**
 * Returns for each entry the name of the agent at that point of the conversation; `undefined` for the notice that another agent continues.
 */
function agentNames(entries: readonly Entry[], last: string): Array<string | undefined> {
  const names: Array<string | undefined> = []
  let name = last
  for (let at = entries.length - 1; at >= 0; at--) {
    const continued = continuedIn(entries[at]!)
    names[at] = continued ? undefined : name
    if (continued) name = continued.agentName
  }
  return names
}

export interface LatestTurns {
  text: string
  /** number of turns in the text */
  turns: number
  /** number of turns in the whole conversation */
  of: number
  /** index of the first entry of the turns in the text */
  from: number
  /** the text contains only one turn, without the start of that turn */
  isPart?: true
}

/**
 * Returns a document with as many of the latest turns as fit into `max` characters, at least a part of the last turn, and with a note about
 * the omitted turns.
 */
export function latestTurns(state: Exported, about: ExportedSession, max: number): LatestTurns {
  const { entries, terminals } = state
  const of = new Set(entries.map(({ turn }) => turn)).size
  let from = entries.length
  let turns = 0
  for (let length = 0, at = entries.length; at > 0; ) {
    const { turn } = entries[at - 1]!
    while (at > 0 && entries[at - 1]!.turn === turn && length <= max)
      length += entryMarkdown(entries[--at]!, terminals).length
    if (length > max) break
    from = at
    turns++
  }
  if (turns === of) return { text: conversationMarkdown(state, about), turns, of, from: 0 }
  const note = l10n.t('The conversation is longer than this: only its last turns are here.')
  if (turns > 0)
    return {
      text: conversationMarkdown({ ...state, entries: entries.slice(from) }, { ...about, note }),
      turns,
      of,
      from,
    }
  const partNote = l10n.t("This is only the end of the conversation's last turn.")
  const parts: string[] = []
  for (let at = entries.length, length = 0; at > 0 && length < max; ) {
    const text = entryMarkdown(entries[--at]!, terminals).slice(-(max - length))
    parts.unshift(text)
    length += text.length
  }
  return {
    text: `${conversationMarkdown({ ...state, entries: [] }, { ...about, note: partNote })}\n${parts.join('\n\n')}\n`,
    turns: 1,
    of,
    from: entries.findIndex(({ turn }) => turn === entries.at(-1)?.turn),
    isPart: true,
  }
}

/** Returns the Markdown of one entry; empty if the entry shows nothing. */
export function entryMarkdown(entry: Entry, terminals: ReadonlyMap<string, TerminalState>): string {
  return entryKind(entry).markdown(entry, terminals)
}
