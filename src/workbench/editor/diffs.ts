import path from 'node:path'
import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import type { FileVersion } from '../../app/workbench.ts'
import { Owner } from '../../common/disposable.ts'
import { DiffContents, type DiffTexts } from '../../editor/diff-texts.ts'

/** A file with its two versions. */
interface Sides {
  path: string
  before?: FileVersion | undefined
  after?: FileVersion | undefined
}

/** Shows an agent's edits in diff editors, whose texts are in memory while a tab shows them. */
export class Diffs extends Owner {
  readonly #contents = new DiffContents()
  /** IDs of diffs whose tab is being opened */
  readonly #opening = new Set<string>()
  /** editors of several diffs, with the ids of their texts: VS Code doesn't tell which files such a tab shows */
  readonly #several = new Map<vscode.Tab, string[]>()
  readonly #scheme: string

  constructor(scheme = 'parley-diff') {
    super()
    this.#scheme = scheme
    this.register(
      vscode.workspace.registerTextDocumentContentProvider(scheme, {
        provideTextDocumentContent: uri => this.#provide(uri),
      }),
    )
    this.register(
      vscode.window.tabGroups.onDidChangeTabs(({ closed }) => {
        for (const tab of closed) this.#several.delete(tab)
        if (closed.length > 0) this.#release()
      }),
    )
    // Tabs restored after a reload have lost their texts.
    const stale = diffTabs(this.#scheme).filter(({ id }) => this.#contents.text(id, 'old') === undefined)
    if (stale.length > 0) void vscode.window.tabGroups.close(stale.map(({ tab }) => tab))
  }

  /**
   * Opens a diff editor titled `name (Agent's edit)`, unless another title is given. `file` is the changed file, used for
   * the name and language. Resolves to the URI of the right side and a function that closes the editor.
   */
  async open(
    file: string,
    texts: DiffTexts,
    { title, preview = true }: { title?: string; preview?: boolean } = {},
  ): Promise<{ uri: vscode.Uri; close: () => Promise<void> }> {
    const id = this.#contents.hold(texts)
    const uri = (side: 'old' | 'new') => this.#uri(file, side, id)
    this.#opening.add(id)
    try {
      const shown = title ?? l10n.t("{0} (Agent's edit)", path.basename(file))
      await vscode.commands.executeCommand('vscode.diff', uri('old'), uri('new'), shown, { preview })
    } finally {
      this.#opening.delete(id)
      this.#release()
    }
    const close = async () => {
      const tabs = diffTabs(this.#scheme).filter(one => one.id === id)
      await vscode.window.tabGroups.close(tabs.map(({ tab }) => tab))
    }
    return { uri: uri('new'), close }
  }

  /** Opens one editor with the diffs of several files. A missing side is a missing file. */
  async openAll(files: readonly Sides[], title: string): Promise<void> {
    const held = files.map(({ path: file, before, after }) => {
      const id = this.#contents.hold({ oldText: textOf(before), newText: textOf(after) })
      const uri = (side: 'old' | 'new', content: FileVersion | undefined) =>
        content && ('file' in content ? vscode.Uri.file(content.file) : this.#uri(file, side, id))
      return { id, resource: [vscode.Uri.file(file), uri('old', before), uri('new', after)] }
    })
    const ids = held.map(({ id }) => id)
    for (const id of ids) this.#opening.add(id)
    try {
      const resources = held.map(({ resource }) => resource)
      await vscode.commands.executeCommand('vscode.changes', title, resources)
      const tab = vscode.window.tabGroups.activeTabGroup.activeTab
      if (tab?.label.startsWith(title)) this.#several.set(tab, ids)
    } finally {
      for (const id of ids) this.#opening.delete(id)
      this.#release()
    }
  }

  #uri(file: string, side: 'old' | 'new', id: string): vscode.Uri {
    return vscode.Uri.from({ scheme: this.#scheme, path: vscode.Uri.file(file).path, query: `${side}.${id}` })
  }

  /** Number of diffs whose texts are in memory. */
  get held(): number {
    return this.#contents.size
  }

  #provide(uri: vscode.Uri): string {
    const { id, side } = parse(uri)
    return this.#contents.text(id, side) ?? l10n.t('This edit is no longer available.')
  }

  #release(): void {
    const single = diffTabs(this.#scheme).map(({ id }) => id)
    this.#contents.keepOnly(new Set([...this.#opening, ...single, ...[...this.#several.values()].flat()]))
  }
}

function textOf(content: FileVersion | undefined): string {
  return content && 'text' in content ? content.text : ''
}

function diffTabs(scheme: string): Array<{ id: string; tab: vscode.Tab }> {
  const found: Array<{ id: string; tab: vscode.Tab }> = []
  for (const group of vscode.window.tabGroups.all) {
    for (const tab of group.tabs) {
      const { input } = tab
      if (input instanceof vscode.TabInputTextDiff && input.modified.scheme === scheme) {
        found.push({ id: parse(input.modified).id, tab })
      }
    }
  }
  return found
}

function parse(uri: vscode.Uri): { id: string; side: string } {
  const [side = '', id = ''] = uri.query.split('.')
  return { id, side }
}

/** Shows a proposed file in a diff editor and asks the user, in a notification and with buttons above the diff. */
export class Proposals extends Owner {
  readonly #diffs = this.register(new Diffs('parley-proposal'))
  /** by the URI of the diff's right side */
  readonly #asked = new Map<string, (apply: boolean) => void>()

  /**
   * Passes on the user's answer to the proposal in the diff with this right side, or in the active diff. Returns whether there is such a
   * diff.
   */
  answer(apply: boolean, uri?: unknown): boolean {
    const shown = uri instanceof vscode.Uri ? uri : activeDiff()
    const answer = shown && this.#asked.get(shown.toString())
    answer?.(apply)
    return answer !== undefined
  }

  /** Resolves to the user's answer, after closing the diff. Stays pending until the user answers. */
  async ask(file: string, texts: DiffTexts, question: string): Promise<boolean> {
    const title = l10n.t('{0} (proposed)', path.basename(file))
    const { uri, close } = await this.#diffs.open(file, texts, { title, preview: false })
    const key = uri.toString()
    const accept = l10n.t('Accept')
    const agreed = await new Promise<boolean>(resolve => {
      this.#asked.set(key, resolve)
      void vscode.window.showInformationMessage(question, accept, l10n.t('Reject')).then(chosen => {
        if (chosen !== undefined) resolve(chosen === accept)
      })
    })
    this.#asked.delete(key)
    await close()
    return agreed
  }
}

function activeDiff(): vscode.Uri | undefined {
  const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input
  return input instanceof vscode.TabInputTextDiff ? input.modified : undefined
}
