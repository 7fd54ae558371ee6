import { createHash } from 'node:crypto'
import * as l10n from '@vscode/l10n'
import type { ConversationSnapshot, EditedEntry } from '../../bridge/conversation.ts'
import { messageText } from '../../conversation/entries/message.ts'
import type { Entry, EntryId, MessageEntry } from '../../conversation/state.ts'
import { isPrompt } from '../../conversation/user-prompts.ts'
import type { ConversationController } from '../../sessions/conversation-controller.ts'
import { type DraftStore, type EditedPrompt, editKey } from '../storage/draft-store.ts'

type Prompts = ReadonlyMap<EntryId, EditedPrompt>

/** Returns the current entry of an edited prompt. Earlier versions stored only the entry (`of` is missing). */
function entryOf(prompts: Prompts, id: EntryId, of: EditedPrompt | undefined): EntryId | undefined {
  if (!of) return prompts.has(id) ? id : undefined
  const equal = [...prompts].filter(([, { hash }]) => hash === of.hash)
  return (of.nth === undefined ? equal.at(-1 - (of.after ?? 0)) : equal[of.nth])?.[0]
}

/** the hash of each prompt, with the text for which it was computed */
const hashes = new WeakMap<MessageEntry, { text: string; hash: string }>()

function hashOf(entry: MessageEntry): string {
  const text = messageText(entry)
  const known = hashes.get(entry)
  if (known?.text === text) return known.hash
  // agents may change white space when they replay prompts
  const hash = createHash('sha256').update(text.replaceAll(/\s/g, '')).digest('base64url')
  hashes.set(entry, { text, hash })
  return hash
}

/** Returns the prompts of a conversation. `isEnd` means that these are only the last entries. */
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

/** The number of earlier rounds for which edits that the page stores late are still recognized. */
const MAX_ROUNDS = 16

/**
 * The prompts of the displayed conversation that the user edits in place, for the conversation's page. A replay gives prompts other
 * entries. The page may not know them yet when it stores an edit, so each stored edit contains the round in which the page got the entries.
 */
export class EditedPrompts {
  /**
   * the number of the last round of any view; shared, since a conversation can be shown in another view later, and stored edits contain the
   * number
   */
  static #lastRound = 0
  readonly #drafts: DraftStore
  readonly #controller: ConversationController
  #isDue = false
  #round = 0
  /** the entries of this round, their conversation, and the first round in which they were the same */
  #shown: { key: string; entries: readonly Entry[]; isEnd: boolean; since: number } | undefined
  /** the prompts of earlier rounds, by the first round that had them */
  readonly #earlier = new Map<number, Prompts>()
  /** the entries of the edits that were sent to the page in this round */
  #sent: ReadonlySet<EntryId> = new Set()

  constructor(drafts: DraftStore, controller: ConversationController) {
    this.#drafts = drafts
    this.#controller = controller
  }

  /** Whether the edits must still be sent to the page, because their entries are known only now. */
  get isDue(): boolean {
    return this.#isDue && this.#entries !== undefined
  }

  /**
   * Returns the edits for a snapshot; none while the agent replays the conversation. When the round changes, the page closes its editors.
   * The text of an edit whose prompt is gone moves to the composer.
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

  /** Returns the entry under which a page's edit is stored. Calls `showAgain` if the page doesn't show the edit at this entry. */
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
    // another prompt of the conversation may have this entry now, so the key contains the round
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

  /**
   * Starts another round if prompts have other entries now, or if the entries belong to another conversation, which can have equal prompts.
   */
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
