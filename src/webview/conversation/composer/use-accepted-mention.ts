import type { RefObject } from 'preact'
import { useState } from 'preact/hooks'
import type { MentionRow, OutsideAnswer } from '../../../bridge/conversation.ts'
import { t } from '../../l10n.ts'
import { announce } from '../../ui/live-region.tsx'
import { useApp } from '../context.ts'
import { isPicture } from './attach.ts'
import type { Draft } from './draft.ts'
import type { Moves, TextInputHandle } from './text-input.tsx'
import type { FoundMentions } from './use-mentions.ts'

/** The row of the list of mentions that the user accepted. */
interface Choice {
  query: string
  /** current offsets of `@` and the query */
  from: number
  to: number
  row: number
  /** continues in a folder */
  continues: boolean
}

/**
 * A row that the user accepted before it was found, or about which a question is open. It's inserted afterward, even if the user has
 * continued typing.
 */
export interface EarlyChoice extends Choice {
  /** actions requested since */
  next: () => void
  /** whether a prompt gets the content of this row's file */
  question?: { row: MentionRow; answer?: OutsideAnswer }
}

interface AcceptedMentionOptions {
  draft: Draft
  input: RefObject<TextInputHandle | null>
  /** Receives what isn't a chip in the text: context requested from the editor, and images. */
  onAttach: (row: MentionRow) => void
  /** The user canceled the question about a row. `from`: the offset of its `@`. */
  onCancel: (from: number) => void
}

interface AcceptedMention {
  /** what isn't in the text yet */
  choice: EarlyChoice | undefined
  /** `row`: absent until it's found */
  accept(choice: Choice, row?: MentionRow): void
  /** Puts the row in the text if it's found and the question about it is answered. */
  settle(found: FoundMentions): void
  cancel(): void
  /** The text changed. */
  moved(moves: Pick<Moves, 'mapPos'>): void
  /** Runs an action immediately, or after the accepted row is in the text. Never if the user cancels that. */
  after(what: () => void): void
}

/** Puts accepted mentions in the text. */
export function useAcceptedMention({
  draft,
  input,
  onAttach,
  onCancel,
}: AcceptedMentionOptions): AcceptedMention {
  const { host } = useApp()
  const [early, setEarly] = useState<EarlyChoice | undefined>(undefined)

  const insert = (row: MentionRow, { continues, ...range }: Choice) => {
    if (continues && row.continuation !== undefined) input.current?.replace(range, `@${row.continuation}`)
    else if (!('content' in row.attaches) || (isPicture(row.attaches) && !row.isOutside)) {
      input.current?.replace(range, '')
      onAttach(row)
    } else {
      // each chip has its own id, even if the same row is accepted twice
      input.current?.insertChip({ ...row.attaches, id: crypto.randomUUID() }, range)
      announce(t('{0} attached', row.name))
    }
  }
  const askOutside = async (choice: EarlyChoice, row: MentionRow, uri: string) => {
    const question = { row }
    setEarly({ ...choice, question })
    const answer = await host.request('composer/askOutside', { uri }).catch(() => 'cancel' as const)
    setEarly(now => (now?.question === question ? { ...now, question: { row, answer } } : now))
    input.current?.focus()
  }
  /** Puts the row in the text, after the question about it. */
  const take = (choice: EarlyChoice, row: MentionRow) => {
    const uri = choice.continues ? undefined : outsideUri(row)
    if (uri !== undefined && !choice.question) return void askOutside(choice, row, uri)
    setEarly(undefined)
    if (choice.question?.answer === 'cancel') return onCancel(choice.from)
    insert(row, choice)
    choice.next()
  }
  return {
    choice: early,
    accept(choice, row) {
      const accepted = { ...choice, next: early?.next ?? (() => {}) }
      if (!row) return setEarly(accepted)
      input.current?.focus()
      take(accepted, row)
    },
    settle(found) {
      if (!early || (early.question ? !early.question.answer : found.isStale)) return
      const row = early.question?.row ?? found.rows[Math.min(early.row, found.rows.length - 1)]
      // the composer may contain another conversation's draft
      const isHere = draft.text.peek().slice(early.from, early.to) === `@${early.query}`
      if (isHere && row) return take(early, row)
      setEarly(undefined)
      if (isHere) early.next()
    },
    cancel: () => setEarly(undefined),
    moved: moves => setEarly(choice => choice && movedChoice(choice, moves)),
    after(what) {
      if (early) setEarly({ ...early, next: what })
      else what()
    },
  }
}

/** The choice at its new offsets; `undefined` if its text changed. */
export function movedChoice(choice: EarlyChoice, moves: Pick<Moves, 'mapPos'>): EarlyChoice | undefined {
  const from = moves.mapPos(choice.from, 1)
  const to = moves.mapPos(choice.to, -1)
  return to - from === choice.query.length + 1 ? { ...choice, from, to } : undefined
}

/** The file of a row that the user is asked about. */
function outsideUri({ attaches, isOutside }: MentionRow): string | undefined {
  const content = isOutside && 'content' in attaches ? attaches.content : undefined
  return content?.type === 'file' ? content.uri : undefined
}
