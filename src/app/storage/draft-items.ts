import { randomUUID } from 'node:crypto'
import { draftItems } from '../../bridge/conversation-messages.ts'
import { parseJsonAs } from '../../common/parse-json.ts'
import type { Attachment } from '../../conversation/attachment.ts'
import type { UnsentTexts } from '../../history/unsent-texts.ts'

/** The items of drafts and unsent prompts, by name. Items are large, so they are stored only once even if several texts refer to them. */
export class DraftItems {
  readonly #texts: Pick<UnsentTexts, 'items'>
  /** the items that aren't stored yet */
  readonly #new = new Map<string, Attachment[]>()

  constructor(texts: Pick<UnsentTexts, 'items'>) {
    this.#texts = texts
  }

  /** Adds items. Returns their name. */
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

  /** Returns the items that must be stored with these texts, as JSON by name. */
  toStore(texts: ReadonlyArray<{ items?: string }>): Map<string, string> {
    return new Map(
      texts.flatMap(({ items }) => {
        const added = items === undefined ? undefined : this.#new.get(items)
        return items !== undefined && added ? [[items, JSON.stringify(added)] as const] : []
      }),
    )
  }

  /** Notes that the items of all texts are stored. */
  stored(): void {
    this.#new.clear()
  }
}
