import type { ChangeTracker } from '../../src/changes/change-tracker.ts'
import type { Documents } from '../../src/editor/files/documents.ts'
import { FakeDocument } from './fake-document.ts'

/**
 * An editor that reports to the tracker like VS Code. Its documents reload from disk unless they have unsaved changes.
 */
export class FakeEditor implements Documents {
  readonly #open = new Map<string, FakeDocument>()
  tracker: ChangeTracker | undefined
  /** How the editor changes a text when saving. */
  format: ((text: string) => string) | undefined

  open(path: string): void {
    const document = new FakeDocument(path)
    document.onDidChange = () => this.#tell(document)
    document.save = async () => {
      if (this.format) this.type(path, this.format(document.text()))
      if (!(await FakeDocument.prototype.save.call(document))) return false
      this.#tellSaved(document)
      return true
    }
    this.#open.set(path, document)
  }

  isDirty(path: string): boolean {
    return this.#open.get(path)?.isDirty() ?? false
  }

  textOf(path: string): string | undefined {
    return this.#open.get(path)?.text()
  }

  /** Types as the user. */
  type(path: string, text: string): void {
    const document = this.#open.get(path)!
    if (document.text() !== text) document.type(text)
  }

  undo(path: string): void {
    this.#open.get(path)?.undo()
  }

  /**
   * Saves as the user, who overwrites a newer file if there is one. `meanwhile` runs when the text is on disk and the
   * editor hasn't reported it yet.
   */
  async save(path: string, meanwhile?: () => Promise<void>): Promise<void> {
    const document = this.#open.get(path)!
    if (this.format) this.type(path, this.format(document.text()))
    document.write()
    await meanwhile?.()
    this.saved(path)
  }

  /** Reports that the text was saved. */
  saved(path: string): void {
    const document = this.#open.get(path)!
    document.markSaved()
    this.#tellSaved(document)
  }

  revert(path: string): void {
    const document = this.#open.get(path)
    if (!document) return
    document.reload()
    this.#tellSaved(document)
  }

  close(path: string): void {
    const document = this.#open.get(path)
    if (document) document.closed = true
    this.#open.delete(path)
    this.tracker?.edits.typed(path, () => '', false)
  }

  /** Notices changes on disk: documents without unsaved changes reload. */
  reload(): void {
    for (const document of this.#open.values())
      if (!document.isDirty() && document.reload()) this.#tell(document)
  }

  find(paths: readonly string[]): FakeDocument | undefined {
    const path = paths.find(one => this.#open.has(one))
    return path === undefined ? undefined : this.#open.get(path)
  }

  /** files with unsaved changes in notebooks and custom editors */
  readonly elsewhere = new Set<string>()

  isUnsavedElsewhere(paths: readonly string[]): boolean {
    return paths.some(path => this.elsewhere.has(path))
  }

  unsaved(): string[] {
    const open = [...this.#open].filter(([, document]) => document.isDirty()).map(([path]) => path)
    return [...open, ...this.elsewhere]
  }

  #tell(document: FakeDocument): void {
    this.tracker?.edits.typed(document.path, document.text, document.isDirty())
  }

  #tellSaved(document: FakeDocument): void {
    this.tracker?.edits.saved(document.path, document.text(), { likely: true })
    this.#tell(document)
  }
}
