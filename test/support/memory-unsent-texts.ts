import { randomUUID } from 'node:crypto'
import type { UnsentText, UnsentTexts } from '../../src/history/unsent-texts.ts'

type Row = UnsentText & { owner: string; workspace: string }

/** The unsent texts of all windows, in memory. */
export class UnsentTable {
  rows: Row[] = []
  readonly items = new Map<string, string>()
  readonly takenOver = new Set<string>()
  isWritable = true

  /** What is there now, as a window finds it that opens after a crash. */
  copy(): UnsentTable {
    const copy = new UnsentTable()
    copy.rows = structuredClone(this.rows)
    for (const [name, json] of this.items) copy.items.set(name, json)
    return copy
  }

  /** The prompts, as they're stored. */
  get prompts(): Array<{ id: string; key: string; text: string }> {
    const prompts = this.rows.filter(({ kind }) => kind === 'prompt')
    return prompts.map(({ id, conversation, text }) => ({
      id,
      key: conversation,
      text: JSON.parse(text).text,
    }))
  }
}

interface WindowOptions {
  own?: string
  workspace?: string
  /** whether a window is there; by default, all others are gone */
  isListed?: (id: string) => boolean
}

/** Those of one window. It passes the tests in `contracts/unsent-texts.ts`, as the ones in the database do. */
export class MemoryUnsentTexts implements UnsentTexts {
  readonly #table: UnsentTable
  readonly #options: Required<WindowOptions>
  hasOthers = false

  constructor(
    table: UnsentTable,
    { own = randomUUID(), workspace = 'w', isListed = () => false }: WindowOptions = {},
  ) {
    this.#table = table
    this.#options = { own, workspace, isListed }
  }

  takeOver(): UnsentText[] {
    const { own, workspace, isListed } = this.#options
    const others = this.#table.rows.filter(row => row.workspace === workspace && row.owner !== own)
    const gone = others.filter(({ owner }) => owner === '' || !isListed(owner))
    this.hasOthers = gone.length < others.length
    for (const row of gone) {
      if (row.owner !== '') this.#table.takenOver.add(row.owner)
      row.owner = own
    }
    return gone.map(textOf)
  }

  takeLoss(): boolean {
    return this.#table.takenOver.delete(this.#options.own)
  }

  write(texts: readonly UnsentText[], items: ReadonlyMap<string, string>): boolean {
    if (!this.#table.isWritable || this.#isTaken) return false
    const { own, workspace } = this.#options
    const ids = new Set(texts.map(({ id }) => id))
    this.#table.rows = [
      ...this.#table.rows.filter(({ id, owner }) => owner !== own && !ids.has(id)),
      ...texts.map(text => ({ ...text, owner: own, workspace })),
    ]
    this.#store(items)
    return true
  }

  handOver(texts: readonly UnsentText[], items: ReadonlyMap<string, string>): boolean {
    if (!this.#table.isWritable || this.#isTaken) return false
    const ids = new Set(texts.map(({ id }) => id))
    this.#table.rows = [
      ...this.#table.rows.filter(({ id }) => !ids.has(id)),
      ...texts.map(text => ({ ...text, owner: '', workspace: '*' })),
    ]
    this.#store(items)
    return true
  }

  arrive(conversation: string): UnsentText[] {
    const { own, workspace } = this.#options
    const left = this.#table.rows.filter(row => row.workspace === '*' && row.conversation === conversation)
    if (!this.#table.isWritable) return []
    for (const row of left) Object.assign(row, { owner: own, workspace })
    return left.map(textOf)
  }

  forget(conversation: string): void {
    const { own, isListed } = this.#options
    const isGone = ({ conversation: of, owner }: Row) =>
      of === conversation && (owner === own || owner === '' || !isListed(owner))
    this.#table.rows = this.#table.rows.filter(row => !isGone(row))
    this.#store(new Map())
  }

  items(name: string): string | undefined {
    return this.#table.items.get(name)
  }

  dispose(): void {
    for (const row of this.#table.rows) if (row.owner === this.#options.own) row.owner = ''
  }

  get #isTaken(): boolean {
    return this.#table.takenOver.has(this.#options.own)
  }

  /** Without those that no text has. */
  #store(items: ReadonlyMap<string, string>): void {
    for (const [name, json] of items) this.#table.items.set(name, json)
    const used = new Set(this.#table.rows.map(row => row.items))
    for (const name of [...this.#table.items.keys()]) if (!used.has(name)) this.#table.items.delete(name)
  }
}

function textOf({ owner: _, workspace: __, ...text }: Row): UnsentText {
  return text
}
