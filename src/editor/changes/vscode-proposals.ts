import path from 'node:path'
import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import { Owner } from '../../common/disposable.ts'
import { UnavailableError } from '../../common/errors.ts'
import type { DiffTexts } from './diff-texts.ts'
import { Diffs } from './vscode-diffs.ts'

/** Shows in a diff editor what a file would become, and asks: in a notification, and by buttons over the diff. */
export class Proposals extends Owner {
  readonly #diffs = this.register(new Diffs('parley-proposal'))
  /** by the address of the diff's right side */
  readonly #asked = new Map<string, (apply: boolean) => void>()

  /** The user's answer to the proposal in the diff with this right side, or in the active one. */
  answer(apply: boolean, uri?: unknown): void {
    const shown = uri instanceof vscode.Uri ? uri : activeDiff()
    const answer = shown && this.#asked.get(shown.toString())
    if (!answer) throw new UnavailableError(l10n.t('No proposed change is open.'))
    answer(apply)
  }

  /** Resolves with the answer; the diff is closed then. Never, while the person gives none. */
  async ask(file: string, texts: DiffTexts, question: string): Promise<boolean> {
    const title = l10n.t('{0} (proposed)', path.basename(file))
    const { uri, close } = await this.#diffs.open(file, texts, { title, preview: false })
    const key = uri.toString()
    const apply = l10n.t('Apply')
    const agreed = await new Promise<boolean>(resolve => {
      this.#asked.set(key, resolve)
      void vscode.window.showInformationMessage(question, apply, l10n.t('Discard')).then(chosen => {
        if (chosen !== undefined) resolve(chosen === apply)
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
