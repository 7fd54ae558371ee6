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
  /** whether the completion continues with the content of the chosen folder */
  continues: boolean
}

/**
 * A row that the user accepted before it was found, or about which the user is asked a question. The row is inserted afterward, even if
 * the user has continued typing.
 */
export interface EarlyChoice extends Choice {
  /** runs the actions that were requested since */
  next: () => void
  /** the question whether the prompt gets the content of the row's file */
  question?: { row: MentionRow; answer?: OutsideAnswer }
}

interface AcceptedMentionOptions {
  draft: Draft
  input: RefObject<TextInputHandle | null>
  /** Receives rows that don't become chips in the text: context requested from the editor, and images. */
  onAttach: (row: MentionRow) => void
  /** The user canceled the question about a row. `from`: the offset of its `@`. */
  onCancel: (from: number) => void
}

interface AcceptedMention {
  /** the accepted row that isn't in the text yet */
  choice: EarlyChoice | undefined
  /** Accepts a row. `row`: absent if the search hasn't found it yet. */
  accept(choice: Choice, row?: MentionRow): void
  /** Puts the row in the text if it's found and the question about it is answered. */
  settle(found: FoundMentions): void
  cancel(): void
  /** Maps the choice's offsets after a change of the text. */
  moved(moves: Pick<Moves, 'mapPos'>): void
  /** Runs an action now, or once the accepted row is in the text; never if the user cancels the row. */
  after(what: () => void): void
}

/** Inserts the mentions that the user accepts into the text. */
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
  /** Puts the row in the text, after asking whether the prompt gets its content if the file is outside of the folders. */
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

/** Returns the choice with its new offsets; `undefined` if its text changed. */
export function movedChoice(choice: EarlyChoice, moves: Pick<Moves, 'mapPos'>): EarlyChoice | undefined {
  const from = moves.mapPos(choice.from, 1)
  const to = moves.mapPos(choice.to, -1)
  return to - from === choice.query.length + 1 ? { ...choice, from, to } : undefined
}

/** Returns the URI of a row's file if the user must be asked about it, because it's outside of the folders. */
function outsideUri({ attaches, isOutside }: MentionRow): string | undefined {
  const content = isOutside && 'content' in attaches ? attaches.content : undefined
  return content?.type === 'file' ? content.uri : undefined
}
