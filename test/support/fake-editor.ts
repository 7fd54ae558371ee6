import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import type { ChangeTracker } from '../../src/editor/changes/change-tracker.ts'
import type { Documents, OpenDocument } from '../../src/editor/files/documents.ts'

/** An editor as VS Code is one: documents of one kind of line end, that reload from disk while they have no unsaved changes. */
export class FakeEditor implements Documents {
  readonly #open = new Map<string, { text: string; dirty: boolean; mark: string }>()
  tracker: ChangeTracker | undefined
  /** What the editor makes of a text that it saves. */
  format: ((text: string) => string) | undefined

  open(path: string): void {
    const { text, mark } = this.#load(path)
    this.#open.set(path, { text, dirty: false, mark })
  }

  isDirty(path: string): boolean {
    return this.#open.get(path)?.dirty ?? false
  }

  textOf(path: string): string | undefined {
    return this.#open.get(path)?.text
  }

  /** The user types. */
  type(path: string, text: string): void {
    const document = this.#open.get(path)!
    if (document.text === text) return
    document.text = text
    document.dirty = true
    this.tracker?.typed(path, () => document.text, true)
  }

  /** `meanwhile` happens when the text is on the disk, and the editor has not told of it. */
  async save(path: string, meanwhile?: () => Promise<void>): Promise<void> {
    const document = this.#open.get(path)!
    if (this.format) this.type(path, this.format(document.text))
    await writeFile(path, document.mark + document.text)
    await meanwhile?.()
    this.saved(path)
  }

  /** The text is on the disk, and the editor reports it. */
  saved(path: string): void {
    const document = this.#open.get(path)!
    document.dirty = false
    this.tracker?.saved(path, document.text, { likely: true })
    this.tracker?.typed(path, () => document.text, false)
  }

  revert(path: string): void {
    const document = this.#open.get(path)
    if (!document) return
    Object.assign(document, this.#load(path), { dirty: false })
    this.tracker?.typed(path, () => document.text, false)
  }

  close(path: string): void {
    this.#open.delete(path)
    this.tracker?.typed(path, () => '', false)
  }

  /** The editor hears of the disk: documents without unsaved changes reload. */
  reload(): void {
    for (const [path, document] of this.#open) {
      if (document.dirty) continue
      const loaded = this.#load(path)
      if (loaded.text === document.text) continue
      Object.assign(document, loaded)
      this.tracker?.typed(path, () => document.text, false)
    }
  }

  find(paths: readonly string[]): OpenDocument | undefined {
    const path = paths.find(one => this.#open.has(one))
    const document = path === undefined ? undefined : this.#open.get(path)
    if (path === undefined || !document) return undefined
    return {
      text: () => document.text,
      isDirty: () => document.dirty,
      isClosed: () => this.#open.get(path) !== document,
      lineEnd: '\n',
      encoding: document.mark ? 'utf8bom' : 'utf8',
      replace: async ({ start, end, text }, expected) => {
        if (document.text !== expected) return false
        this.type(path, document.text.slice(0, start) + text + document.text.slice(end))
        return true
      },
      save: async () => {
        await this.save(path)
        return true
      },
    }
  }

  #load(path: string): { text: string; mark: string } {
    let text = ''
    try {
      text = readFileSync(path, 'utf8')
    } catch {
      // closed by VS Code in time
    }
    const mark = text.startsWith('\ufeff') ? '\ufeff' : ''
    return { text: text.slice(mark.length).replaceAll('\r\n', '\n'), mark }
  }
}
