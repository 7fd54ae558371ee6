import { randomUUID } from 'node:crypto'
import { draftItems } from '../../bridge/conversation-messages.ts'
import { parseJsonAs } from '../../common/parse-json.ts'
import type { Attachment } from '../../conversation/attachment.ts'
import type { UnsentTexts } from '../../history/unsent-texts.ts'

/** The items of drafts and unsent prompts, by names: they are large, and stored once, whichever text refers to them. */
export class DraftItems {
  readonly #texts: Pick<UnsentTexts, 'items'>
  /** those that aren't stored yet */
  readonly #new = new Map<string, Attachment[]>()

  constructor(texts: Pick<UnsentTexts, 'items'>) {
    this.#texts = texts
  }

  /** Returns the name. */
  add(items: Attachment[]): string {
    const name = `items-${randomUUID()}`
    this.#new.set(name, items)
    return name
  }

  get(name: string | undefined): Attachment[] {
    if (name === undefined) return []
    const added = this.#new.get(name)
    if (added) return added
    const json = this.#texts.items(name)
    return (json === undefined ? undefined : parseJsonAs(draftItems, json)) ?? []
  }

  /** The items to store with these texts, as JSON. */
  toStore(texts: ReadonlyArray<{ items?: string }>): Map<string, string> {
    return new Map(
      texts.flatMap(({ items }) => {
        const added = items === undefined ? undefined : this.#new.get(items)
        return items !== undefined && added ? [[items, JSON.stringify(added)] as const] : []
      }),
    )
  }

  /** The items of all texts are stored. */
  stored(): void {
    this.#new.clear()
  }
}
