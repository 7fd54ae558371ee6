import type { ComponentChildren, RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Command } from '../../../acp/model.ts'
import type { MentionRow } from '../../../views/bridge/conversation.ts'
import { t } from '../../l10n.ts'
import { announce } from '../../ui/live-region.tsx'
import { isPicture } from './attach.ts'
import { type Completion, completionAt } from './completion.ts'
import {
  CommandList,
  commandListId,
  commandRowId,
  MentionList,
  mentionListId,
  mentionRowId,
} from './completion-lists.tsx'
import type { Draft } from './draft.ts'
import type { TextInputHandle } from './text-input.tsx'
import { useMentions } from './use-mentions.ts'

/** So many rows a page key goes on. */
const page = 8

interface CompletionOptions {
  draft: Draft
  input: RefObject<TextInputHandle | null>
  commands: readonly Command[]
  /** Takes what is no chip in the text: what the editor is asked for, and pictures. */
  onAttach: (row: MentionRow) => void
}

interface Completing {
  /** what is offered, above the composer */
  list: ComponentChildren
  /** for the text: ids of the list and of its chosen row */
  aria: { list: string; row: string } | undefined
  /** Return true when the key was used. */
  onKey(event: KeyboardEvent): boolean
  onCaret(caret: number): void
  /** The text was changed: the first row is chosen again. */
  onInput(): void
}

/** What is offered behind `/` and `@` while they are typed, and the keys that choose from it. */
export function useCompletion({ draft, input, commands, onAttach }: CompletionOptions): Completing {
  const [caret, setCaret] = useState(0)
  const [active, setActive] = useState(0)
  /** where the `@` or `/` is whose list the person closed */
  const [dismissed, setDismissed] = useState<number | undefined>(undefined)
  const { text, marks } = draft.content.value
  const offered = completionAt(text, caret, marks, commands)
  const completion = offered && startOf(offered) === dismissed ? undefined : offered
  const found = useMentions(completion?.kind === 'mentions' ? completion.query.text : undefined)
  const count = completion?.kind === 'commands' ? completion.matches.length : found.rows.length
  const chosen = Math.min(active, Math.max(0, count - 1))

  const completeCommand = (command: Command) => {
    const called = text.match(/^\/\S*/)?.[0].length ?? 0
    const space = /^\s/.test(text.slice(called)) ? '' : ' '
    input.current?.replace({ from: 0, to: called }, `/${command.name}${space}`)
    input.current?.focus()
  }
  const completeMention = (row: MentionRow, goOn: boolean) => {
    if (completion?.kind !== 'mentions') return
    const range = { from: completion.query.from, to: completion.query.to }
    input.current?.focus()
    if (goOn && row.goOn !== undefined) input.current?.replace(range, `@${row.goOn}`)
    else if ('capture' in row.attaches || isPicture(row.attaches)) {
      input.current?.replace(range, '')
      onAttach(row)
    } else {
      // each chip is a thing of its own, also of one row taken twice
      input.current?.insertChip({ ...row.attaches, id: crypto.randomUUID() }, range)
      announce(t('{0} attached', row.name))
    }
  }
  /** What the person chose before it was found: it is taken once it is there, unless they go on typing. */
  const early = useRef<{ query: string; goOn: boolean } | undefined>(undefined)
  useEffect(() => {
    if (!early.current || (completion?.kind === 'mentions' && found.isStale)) return
    const { query, goOn } = early.current
    early.current = undefined
    const row = found.rows[chosen]
    if (row && completion?.kind === 'mentions' && completion.query.text === query) completeMention(row, goOn)
  })
  const complete = (goOn: boolean): boolean => {
    if (completion?.kind === 'commands') completeCommand(completion.matches[chosen]!)
    else if (completion && found.isStale) early.current = { query: completion.query.text, goOn }
    else if (found.rows[chosen]) completeMention(found.rows[chosen], goOn)
    // who chooses before anything was found does not mean to send
    else return found.searching
    return true
  }

  const onKey = (event: KeyboardEvent): boolean => {
    early.current = undefined
    if (event.key === ' ' && event.ctrlKey) {
      setDismissed(undefined)
      return true
    }
    if (!completion || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return false
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
        onChoose={row => completeMention(row, false)}
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
    list,
    aria,
    onKey,
    onCaret(at) {
      setCaret(at)
      if (dismissed !== undefined && at <= dismissed) setDismissed(undefined)
    },
    onInput: () => setActive(0),
  }
}

function startOf(completion: Completion): number {
  return completion.kind === 'commands' ? 0 : completion.query.from
}

/** The row that a key leads to. */
function stepped(key: string, from: number, count: number): number | undefined {
  switch (key) {
    case 'ArrowDown':
      return (from + 1) % count
    case 'ArrowUp':
      return (from + count - 1) % count
    case 'PageDown':
      return Math.min(count - 1, from + page)
    case 'PageUp':
      return Math.max(0, from - page)
    default:
      return undefined
  }
}
