import { createHash } from 'node:crypto'
import * as l10n from '@vscode/l10n'
import type { ConversationSnapshot } from '../../bridge/conversation.ts'
import { messageText } from '../../conversation/entries/message.ts'
import type { Entry, EntryId } from '../../conversation/state.ts'
import { isPrompt } from '../../conversation/user-prompts.ts'
import type { ConversationController } from '../../sessions/conversation-controller.ts'
import type { DraftStore, EditedPrompt } from '../storage/draft-store.ts'

/** The prompt of this entry; `undefined` if the entry isn't a prompt. */
export function editedPrompt(entries: readonly Entry[], id: EntryId): EditedPrompt | undefined {
  return promptsOf(entries).get(id)
}

/** Finds the entry of an edited prompt. What an earlier version stored says only the entry. */
function entryFinder(
  entries: readonly Entry[],
): (id: EntryId, of: EditedPrompt | undefined) => EntryId | undefined {
  const prompts = promptsOf(entries)
  const ids = new Map([...prompts].map(([id, of]) => [name(of), id]))
  return (id, of) => (of ? ids.get(name(of)) : prompts.has(id) ? id : undefined)
}

const name = ({ hash, nth }: EditedPrompt) => `${nth} ${hash}`

function promptsOf(entries: readonly Entry[]): Map<EntryId, EditedPrompt> {
  const counts = new Map<string, number>()
  const prompts = new Map<EntryId, EditedPrompt>()
  for (const entry of entries) {
    if (!isPrompt(entry)) continue
    // agents replay prompts with other white space
    const hash = createHash('sha256').update(messageText(entry).replaceAll(/\s/g, '')).digest('base64url')
    const nth = counts.get(hash) ?? 0
    counts.set(hash, nth + 1)
    prompts.set(entry.id, { hash, nth })
  }
  return prompts
}

/** The prompts of the displayed conversation that the user edits where they are, for its page. */
export class EditedPrompts {
  readonly #drafts: DraftStore
  readonly #controller: ConversationController
  #isDue = false

  constructor(drafts: DraftStore, controller: ConversationController) {
    this.#drafts = drafts
    this.#controller = controller
  }

  /** Whether the page still has to get the edits: their entries weren't known, but are now. */
  get isDue(): boolean {
    return this.#isDue && this.#entries !== undefined
  }

  /**
   * The edits for a snapshot. None while the agent replays the conversation, or if a prompt has moved to another entry, so that the page
   * closes its editors before it gets the new entries. The text of an edit whose prompt is gone moves to the composer.
   */
  forSnapshot(key: string): ConversationSnapshot['edits'] {
    const edits = this.#drafts.edits(key)
    const entries = this.#entries
    this.#isDue = edits.length > 0 && !entries
    if (!entries || edits.length === 0) return entries && []
    const { hasMoved, gone } = this.#drafts.placeEdits(key, entryFinder(entries))
    const reason = l10n.t("The prompt that you edited isn't in the conversation anymore.")
    for (const prompt of gone) this.#controller.prompts.giveBack(key, prompt, reason)
    this.#isDue = hasMoved
    return hasMoved ? undefined : this.#drafts.edits(key)
  }

  get #entries(): readonly Entry[] | undefined {
    const session = this.#controller.current?.session
    return session && session.phase !== 'loading' ? session.state.entries : undefined
  }
}
