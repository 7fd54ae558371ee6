import * as l10n from '@vscode/l10n'
import { Owner, toDisposable } from '../common/disposable.ts'
import { messageOf } from '../common/errors.ts'
import type { OutgoingPrompt, SentPrompt, WaitingPrompt } from '../conversation/attachment.ts'
import type { Drafts, MakePrompt } from './ports.ts'

export interface OutboxParts {
  drafts: Drafts
  /** Names the conversation on the screen. */
  key: () => string
  /** How it was named before its session had begun. */
  keyBefore: () => string | undefined
  /** Hands a prompt over to the conversation on the screen. Rejects with a sentence when it was not taken. */
  prompt: (make: MakePrompt) => Promise<void>
}

interface Mail extends OutgoingPrompt {
  key: string
  /** Why it was not taken. */
  refused?: string
  /** Never rejects. */
  settled: Promise<void>
}

/**
 * The prompts that left a composer, until the conversation took them. They are on disk from the moment they come here:
 * who reloads or loses the window finds them in the composer again. One that was refused stays until its composer says
 * that it has it back.
 */
export class Outbox extends Owner {
  readonly #parts: OutboxParts
  readonly #mail = new Map<string, Mail>()

  constructor(parts: OutboxParts) {
    super()
    this.#parts = parts
    this.register(
      toDisposable(() => {
        for (const mail of [...this.#mail.values()]) this.#leave(mail)
      }),
    )
  }

  /**
   * Takes in a prompt and hands it over; after the one that was sent `after` which it is, and only if that was taken.
   * `make` is called once it is its turn. Rejects with a sentence when it was refused.
   */
  send(key: string, { id, after, draft }: SentPrompt, make: MakePrompt): Promise<void> {
    const { drafts } = this.#parts
    const mail: Mail = { id, draft, key: this.#keyNow(key), settled: Promise.resolve() }
    const before = after === undefined ? undefined : this.#mail.get(after)
    drafts.send(key, mail)
    if (mail.key !== key) drafts.moveSent(key, mail.key, id)
    this.#mail.set(id, mail)
    mail.settled = this.#deliver(mail, before, make).then(
      () => this.#forget(mail),
      error => {
        mail.refused = messageOf(error)
        // whoever shows its conversation next is to find it
        if (mail.key !== this.#parts.key()) this.#leave(mail)
      },
    )
    return outcomeOf(mail)
  }

  /** What becomes of a prompt: rejects with a sentence when it is refused. One that is not known was taken. */
  async outcome(id: string): Promise<void> {
    const mail = this.#mail.get(id)
    if (mail) await outcomeOf(mail)
  }

  /** What left the composer of this conversation and was not taken, or not yet, in its order. */
  waiting(key: string): WaitingPrompt[] {
    for (const prompt of this.#parts.drafts.claim(key)) {
      const refused = l10n.t('It was not sent before the window was closed.')
      this.#mail.set(prompt.id, { ...prompt, key, refused, settled: Promise.resolve() })
    }
    return [...this.#mail.values()].flatMap(({ id, draft, refused, key: own }) =>
      own === key ? [{ id, draft, ...(refused !== undefined && { refused }) }] : [],
    )
  }

  /** They stand in their composer again, and were saved there. */
  takenBack(key: string, ids: readonly string[]): void {
    for (const id of ids) {
      const mail = this.#mail.get(id)
      if (mail) this.#forget(mail)
      else this.#parts.drafts.drop(key, id)
    }
  }

  /** A session has begun: what was written before goes along to it. */
  goAlong(): void {
    for (const mail of this.#mail.values()) {
      const key = this.#keyNow(mail.key)
      if (key !== mail.key) this.#parts.drafts.moveSent(mail.key, key, mail.id)
      mail.key = key
    }
  }

  #keyNow(key: string): string {
    return key === this.#parts.keyBefore() ? this.#parts.key() : key
  }

  async #deliver(mail: Mail, before: Mail | undefined, make: MakePrompt): Promise<void> {
    await before?.settled
    if (before?.refused !== undefined) throw new Error(before.refused)
    if (mail.key !== this.#parts.key()) throw new Error(l10n.t('The conversation has changed meanwhile.'))
    await this.#parts.prompt(async target => {
      const content = await make(target)
      // its place was closed meanwhile: it is left to whoever shows the conversation next
      if (this.owned.isDisposed) throw new Error(l10n.t('The conversation has changed meanwhile.'))
      return content
    })
  }

  #forget(mail: Mail): void {
    this.#mail.delete(mail.id)
    this.#parts.drafts.drop(mail.key, mail.id)
  }

  #leave(mail: Mail): void {
    this.#mail.delete(mail.id)
    this.#parts.drafts.release(mail.id)
  }
}

async function outcomeOf(mail: Mail): Promise<void> {
  await mail.settled
  if (mail.refused !== undefined) throw new Error(mail.refused)
}
