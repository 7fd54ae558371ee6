import { createHash } from 'node:crypto'
import * as l10n from '@vscode/l10n'
import type { ConversationSnapshot, EditedEntry } from '../../bridge/conversation.ts'
import { messageText } from '../../conversation/entries/message.ts'
import type { Entry, EntryId, MessageEntry } from '../../conversation/state.ts'
import { isPrompt } from '../../conversation/user-prompts.ts'
import type { ConversationController } from '../../sessions/conversation-controller.ts'
import { type DraftStore, type EditedPrompt, editKey } from '../storage/draft-store.ts'

type Prompts = ReadonlyMap<EntryId, EditedPrompt>

/** The entry of an edited prompt. What an earlier version stored says only the entry. */
function entryOf(prompts: Prompts, id: EntryId, of: EditedPrompt | undefined): EntryId | undefined {
  if (!of) return prompts.has(id) ? id : undefined
  const equal = [...prompts].filter(([, { hash }]) => hash === of.hash)
  return (of.nth === undefined ? equal.at(-1 - (of.after ?? 0)) : equal[of.nth])?.[0]
}

/** the hashes of prompts, and their texts then */
const hashes = new WeakMap<MessageEntry, { text: string; hash: string }>()

function hashOf(entry: MessageEntry): string {
  const text = messageText(entry)
  const known = hashes.get(entry)
  if (known?.text === text) return known.hash
  // agents replay prompts with other white space
  const hash = createHash('sha256').update(text.replaceAll(/\s/g, '')).digest('base64url')
  hashes.set(entry, { text, hash })
  return hash
}

/** `isEnd`: these are only the last entries of the conversation. */
function promptsOf(entries: readonly Entry[], isEnd = false): Prompts {
  const equal = new Map<string, EntryId[]>()
  for (const entry of entries) {
    if (!isPrompt(entry)) continue
    const hash = hashOf(entry)
    const ids = equal.get(hash)
    if (ids) ids.push(entry.id)
    else equal.set(hash, [entry.id])
  }
  return new Map(
    [...equal].flatMap(([hash, ids]) =>
      ids.map((id, nth) => [id, isEnd ? { hash, after: ids.length - 1 - nth } : { hash, nth }] as const),
    ),
  )
}

function isSame(a: EditedPrompt, b: EditedPrompt | undefined): boolean {
  return a.hash === b?.hash && a.nth === b.nth && a.after === b.after
}

/** Number of earlier rounds in which the page may still have stored an edit. */
const MAX_ROUNDS = 16

/**
 * The prompts of the displayed conversation that the user edits where they are, for its page. A replay gives prompts other entries, and the
 * page may not know that yet when it stores an edit: what it stores says in which round it got the entries.
 */
export class EditedPrompts {
  /** the last round of any view: stored edits say in which round they were, and conversations can be shown in another view later */
  static #lastRound = 0
  readonly #drafts: DraftStore
  readonly #controller: ConversationController
  #isDue = false
  #round = 0
  /** the entries of this round, their conversation, and the first round that had them */
  #shown: { key: string; entries: readonly Entry[]; isEnd: boolean; since: number } | undefined
  /** the prompts of earlier rounds, by the first round with them */
  readonly #earlier = new Map<number, Prompts>()
  /** the entries of the edits that the page has got in this round */
  #sent: ReadonlySet<EntryId> = new Set()

  constructor(drafts: DraftStore, controller: ConversationController) {
    this.#drafts = drafts
    this.#controller = controller
  }

  /** Whether the page still has to get the edits: their entries weren't known, but are now. */
  get isDue(): boolean {
    return this.#isDue && this.#entries !== undefined
  }

  /**
   * The edits for a snapshot. None while the agent replays the conversation. In another round, the page closes its editors. The text of an
   * edit whose prompt is gone moves to the composer.
   */
  forSnapshot(key: string): ConversationSnapshot['edits'] {
    this.#follow()
    const entries = this.#entries
    this.#isDue = !entries && this.#drafts.edits(key).length > 0
    if (!entries) return { round: this.#round }
    if (this.#drafts.edits(key).length > 0) {
      const prompts = promptsOf(entries)
      const { gone } = this.#drafts.placeEdits(key, (id, of) => entryOf(prompts, id, of))
      const reason = l10n.t("The prompt that you edited isn't in the conversation anymore.")
      for (const prompt of gone) this.#controller.prompts.giveBack(key, prompt, reason)
    }
    const prompts = this.#drafts.edits(key)
    this.#sent = new Set(prompts.map(({ entryId }) => entryId))
    return { round: this.#round, prompts }
  }

  /** Where a page's edit is stored. Calls `showAgain` if the page doesn't show the edit there. */
  place(
    key: string,
    { round, entryId }: EditedEntry,
    showAgain: () => void,
  ): { draftKey: string; entryId: EntryId | undefined; of: () => EditedPrompt | undefined } {
    this.#follow()
    const isShown = key === this.#controller.key
    const shown = this.#shown
    const isNow = isShown && shown !== undefined && round >= shown.since
    const earlier = isNow ? undefined : this.#promptsIn(round)?.get(entryId)
    const found = isNow ? entryId : earlier && this.#entryNow(key, earlier, isShown)
    // in a conversation, another prompt can have this entry now
    const at = found ?? (isShown ? `${round}/${entryId}` : entryId)
    if (isShown && !this.#entries) this.#isDue = true
    else if (isShown && round < this.#round && !this.#sent.has(at)) {
      this.#round = ++EditedPrompts.#lastRound
      showAgain()
    }
    const of = () => (isNow ? promptsOf(shown.entries, shown.isEnd).get(entryId) : earlier)
    return { draftKey: editKey(key, at), entryId: found, of }
  }

  #entryNow(key: string, of: EditedPrompt, isShown: boolean): EntryId | undefined {
    const stored = this.#drafts.editOf(key, of)
    if (stored !== undefined || !isShown || !this.#entries) return stored
    return entryOf(promptsOf(this.#entries), '', of)
  }

  /** Begins another round if prompts have other entries now, or those of another conversation, which can have equal prompts. */
  #follow(): void {
    const { key, current, opener } = this.#controller
    const end = current ? undefined : opener.end?.conversation.entries
    const entries = current?.session.state.entries ?? end
    const before = this.#shown
    const isOther = before !== undefined && before.key !== key
    if (entries === before?.entries && !isOther) return
    const isEnd = end !== undefined
    if (before) {
      const earlier = promptsOf(before.entries, before.isEnd)
      const prompts = entries && promptsOf(entries, before.isEnd)
      if (!isOther && prompts && [...earlier].every(([id, of]) => isSame(of, prompts.get(id)))) {
        this.#shown = { key, entries, isEnd, since: before.since }
        return
      }
      this.#earlier.set(before.since, earlier)
      const [oldest] = this.#earlier.keys()
      if (this.#earlier.size > MAX_ROUNDS && oldest !== undefined) this.#earlier.delete(oldest)
    }
    this.#round = ++EditedPrompts.#lastRound
    this.#shown = entries && { key, entries, isEnd, since: this.#round }
    this.#sent = new Set()
  }

  #promptsIn(round: number): Prompts | undefined {
    return [...this.#earlier].findLast(([since]) => since <= round)?.[1]
  }

  /** all entries of the conversation; `undefined` while it's being read or replayed */
  get #entries(): readonly Entry[] | undefined {
    const session = this.#controller.current?.session
    return session && session.phase !== 'loading' ? session.state.entries : undefined
  }
}
