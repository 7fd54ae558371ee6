import type { ComponentChildren, RefObject } from 'preact'
import { useLayoutEffect, useState } from 'preact/hooks'
import type { MentionRow } from '../../../bridge/conversation.ts'
import { hasModifier } from '../../ui/control-key.ts'
import { lazy } from '../../ui/lazy.tsx'
import { type CommandRow, type Completion, commandQuery, completionAt } from './completion.ts'
import { commandListId, commandRowId, mentionListId, mentionRowId } from './completion-ids.ts'
import type { Draft } from './draft.ts'
import type { Moves, TextInputHandle } from './text-input.tsx'
import { useAcceptedMention } from './use-accepted-mention.ts'
import { useCommands } from './use-commands.ts'
import { useMentions } from './use-mentions.ts'

const CommandList = lazy(() => import('./completion-lists.tsx').then(module => module.CommandList))
const MentionList = lazy(() => import('./completion-lists.tsx').then(module => module.MentionList))

/** Number of rows that Page Up and Page Down move. */
const PAGE_ROWS = 8

interface CompletionOptions {
  draft: Draft
  input: RefObject<TextInputHandle | null>
  commands: readonly CommandRow[]
  /** Whether the text is an earlier prompt, in which nothing is completed and the arrow keys show other prompts. */
  isRecalled: () => boolean
  /** Receives rows that don't become chips in the text: context requested from the editor, and images. */
  onAttach: (row: MentionRow) => void
}

export interface Completing {
  /** the agent's commands and the prompt files that are known */
  commands: readonly CommandRow[]
  /** the list above the composer */
  list: ComponentChildren
  /** for the text field: ids of the list and its selected row */
  aria: { list: string; row: string } | undefined
  /** Returns true if the key was handled. */
  onKey(event: KeyboardEvent): boolean
  onCaret(caret: number): void
  /** The text changed: selects the first row again. `moves`: maps old offsets to new ones. */
  onInput(moves: Moves): void
  /** Runs an action now, or once the accepted row is in the text; never if the user cancels the row. */
  afterChoice(what: () => void): void
}

/** The completion lists for `/` and `@`, and their keys. */
export function useCompletion({
  draft,
  input,
  commands,
  isRecalled,
  onAttach,
}: CompletionOptions): Completing {
  const [caret, setCaret] = useState(0)
  const [active, setActive] = useState(0)
  /** offset of the `@` or `/` whose list the user closed */
  const [dismissed, setDismissed] = useState<number | undefined>(undefined)
  const { text, chips } = draft.content.value
  const accepted = useAcceptedMention({ draft, input, onAttach, onCancel: setDismissed })
  const early = accepted.choice
  const rows = useCommands(commands, commandQuery(text, caret) !== undefined)
  const at = isRecalled() ? undefined : completionAt(text, caret, chips, rows)
  // text after an early choice isn't part of its query, and isn't completed before the choice was inserted
  const isOver = early ? at?.kind !== 'mentions' || at.query.to !== early.to : at && startOf(at) === dismissed
  const completion = isOver || early?.question ? undefined : at
  const found = useMentions(
    early?.query ?? (completion?.kind === 'mentions' ? completion.query.text : undefined),
  )
  const count = completion?.kind === 'commands' ? completion.matches.length : found.rows.length
  const chosen = Math.min(active, Math.max(0, count - 1))

  const completeCommand = (command: CommandRow) => {
    const called = text.match(/^\/\S*/)?.[0].length ?? 0
    const space = /^\s/.test(text.slice(called)) ? '' : ' '
    input.current?.replace({ from: 0, to: called }, `/${command.name}${space}`)
    input.current?.focus()
  }
  const acceptMention = (continues: boolean, row?: MentionRow) => {
    if (completion?.kind !== 'mentions') return
    const { text: query, from, to } = completion.query
    accepted.accept({ query, from, to, row: chosen, continues }, row)
  }
  // insert the row before the next key, so that the range matches the text
  useLayoutEffect(() => accepted.settle(found))
  const complete = (continues: boolean): boolean => {
    if (completion?.kind === 'commands') completeCommand(completion.matches[chosen]!)
    else if (found.isStale) acceptMention(continues)
    else if (found.rows[chosen]) acceptMention(continues, found.rows[chosen])
    // accepting a row before anything was found must not send the prompt
    else return found.searching
    return true
  }

  const onKey = (event: KeyboardEvent): boolean => {
    if (event.key === ' ' && event.ctrlKey) {
      setDismissed(undefined)
      return true
    }
    if (hasModifier(event)) return false
    if (early) {
      if (event.key !== 'Escape') return event.key === 'Tab'
      accepted.cancel()
      event.stopPropagation()
      return true
    }
    if (!completion) return false
    if (event.key === 'Tab' || event.key === 'Enter') return complete(event.key === 'Tab')
    if (event.key === 'Escape') {
      setDismissed(startOf(completion))
      event.stopPropagation()
      return true
    }
    const to = count > 0 ? stepped(event.key, chosen, count) : undefined
    if (to !== undefined) setActive(to)
    return to !== undefined
  }

  const list =
    completion?.kind === 'commands' ? (
      <CommandList
        commands={completion.matches}
        active={chosen}
        onChoose={completeCommand}
        onPoint={setActive}
      />
    ) : completion?.kind === 'mentions' ? (
      <MentionList
        found={found}
        query={completion.query.text}
        active={chosen}
        onChoose={row => acceptMention(false, row)}
        onPoint={setActive}
      />
    ) : null
  const aria =
    !completion || count === 0
      ? undefined
      : completion.kind === 'commands'
        ? { list: commandListId, row: commandRowId(chosen) }
        : { list: mentionListId, row: mentionRowId(chosen) }
  return {
    commands: rows,
    list,
    aria,
    onKey,
    onCaret(at) {
      setCaret(at)
      if (dismissed !== undefined && at <= dismissed) setDismissed(undefined)
    },
    onInput(moves) {
      setActive(0)
      accepted.moved(moves)
    },
    afterChoice: accepted.after,
  }
}

function startOf(completion: Completion): number {
  return completion.kind === 'commands' ? 0 : completion.query.from
}

/** Returns the row that a key moves to; `undefined` for other keys. */
function stepped(key: string, from: number, count: number): number | undefined {
  switch (key) {
    case 'ArrowDown':
      return (from + 1) % count
    case 'ArrowUp':
      return (from + count - 1) % count
    case 'PageDown':
      return Math.min(count - 1, from + PAGE_ROWS)
    case 'PageUp':
      return Math.max(0, from - PAGE_ROWS)
    default:
      return undefined
  }
}
