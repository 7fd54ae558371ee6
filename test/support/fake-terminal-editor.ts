import { deferred } from '../../src/common/async.ts'
import { Emitter } from '../../src/common/event.ts'
import { PathGuard } from '../../src/editor/path-guard.ts'
import { Roots } from '../../src/mcp/server/roots.ts'
import type {
  ProposedFile,
  TerminalDocument,
  TerminalEditor,
} from '../../src/mcp/terminal/terminal-editor.ts'
import { FakeEditorFeatures } from './fake-editor-features.ts'

export interface ShownDiff extends ProposedFile {
  isOpen: boolean
  /** As if the user accepted this text, or rejected. */
  answer(text: string | undefined): void
}

/** An editor whose user is the test. */
export class FakeTerminalEditor extends FakeEditorFeatures implements TerminalEditor {
  readonly #folders = new Emitter<void>()
  readonly #selection = new Emitter<void>()
  readonly onDidChangeFolders = this.#folders.event
  readonly onDidChangeSelection = this.#selection.event
  readonly documents = new Map<string, TerminalDocument>()
  readonly proposed: ShownDiff[] = []
  /** how often it was asked for its open editors */
  asked = 0
  /** Diffs open once this resolves. */
  ready: Promise<void> | undefined
  /** to which links among its folders lead */
  realPaths: string[] = []
  #paths: string[]

  constructor(...folders: [string, ...string[]]) {
    super(folders[0])
    this.#paths = folders
  }

  changeFolders(...paths: string[]): void {
    this.#paths = paths
    this.#folders.fire()
  }

  selectionChanged(): void {
    this.#selection.fire()
  }

  override editors() {
    this.asked += 1
    return super.editors()
  }

  folders() {
    return this.#paths.map(path => ({ name: path, path }))
  }

  paths() {
    return [...this.#paths, ...this.realPaths]
  }

  get #roots(): Roots {
    const [cwd = '', ...additionalDirectories] = this.#paths
    return new Roots(new PathGuard({ cwd, additionalDirectories }))
  }

  file(path: string): Promise<string> {
    return this.#roots.file(path)
  }

  has(path: string): Promise<boolean> {
    return this.#roots.has(path)
  }

  within<T extends { path: string }>(items: readonly T[]): Promise<T[]> {
    return this.#roots.within(items, ({ path }) => path)
  }

  document(path: string): TerminalDocument | undefined {
    return this.documents.get(path)
  }

  /** The diffs that are open. */
  get openDiffs(): ShownDiff[] {
    return this.proposed.filter(({ isOpen }) => isOpen)
  }

  async openDiff(file: ProposedFile) {
    if (this.ready) await this.ready
    const outcome = deferred<string | undefined>()
    const shown: ShownDiff = {
      ...file,
      isOpen: true,
      answer(text) {
        shown.isOpen = false
        outcome.resolve(text)
      },
    }
    this.proposed.push(shown)
    return {
      outcome: outcome.promise,
      close: async () => {
        shown.answer(undefined)
        return file.text
      },
    }
  }
}
