import * as vscode from 'vscode'
import { Owner } from '../../common/disposable.ts'
import type { ConversationController } from '../../sessions/conversation-controller.ts'
import { LAST_SESSION } from '../../sessions/opening.ts'
import type { Keep } from '../../sessions/ports.ts'
import type { OpenSession, SessionReference } from '../../sessions/session-manager.ts'
import type { SessionMarks } from '../../sessions/session-marks.ts'
import { conversationKey } from '../../sessions/session-reference.ts'
import type { ConversationBridgeParts } from './conversation-bridge.ts'
import type { ConversationSurfaces } from './conversation-surface.ts'
import { ConversationTab } from './conversation-tab.ts'

const VIEW_TYPE = 'parley.conversationTab'
/** The sessions that tabs showed, by their key: a tab remembers its key through a reload. */
const TABS = 'parley.tabs'
const TABS_KEPT = 100

export interface ConversationTabsParts extends Omit<ConversationBridgeParts, 'controller'> {
  extensionUri: vscode.Uri
  surfaces: ConversationSurfaces
  marks: SessionMarks
  keep: Keep
  createController: (keep: Keep) => ConversationController
}

/** Opens conversations in editor tabs, and brings them back after a reload. */
export class ConversationTabs extends Owner {
  readonly #parts: ConversationTabsParts

  constructor(parts: ConversationTabsParts) {
    super()
    this.#parts = parts
    this.register(
      vscode.window.registerWebviewPanelSerializer(VIEW_TYPE, {
        deserializeWebviewPanel: async (panel, state) => this.#restore(panel, state),
      }),
    )
  }

  /** Opens a tab with the session, or one to begin a session in. */
  open(open: OpenSession | undefined, where: 'here' | 'beside' = 'here'): void {
    const column = where === 'here' ? vscode.ViewColumn.Active : vscode.ViewColumn.Beside
    const panel = vscode.window.createWebviewPanel(VIEW_TYPE, 'Parley', column, {
      retainContextWhenHidden: true,
    })
    const { controller } = this.#tab(panel)
    if (open) controller.take(open)
  }

  #restore(panel: vscode.WebviewPanel, state: unknown): void {
    const key = keyIn(state)
    const reference = key === undefined ? undefined : this.#kept()[key]
    const { controller } = this.#tab(panel)
    if (!reference) return
    // it was brought back in another place before: this one would be empty
    if (this.#parts.surfaces.elsewhere(reference, controller)) panel.dispose()
    else void controller.restore(reference)
  }

  #tab(panel: vscode.WebviewPanel): ConversationTab {
    const { extensionUri, surfaces, marks, createController, ...parts } = this.#parts
    const controller = createController({ get: () => undefined, set: (key, value) => this.#keep(key, value) })
    const tab: ConversationTab = new ConversationTab(
      panel,
      extensionUri,
      { ...parts, controller },
      marks,
      () => surfaces.activate(tab),
      () => surfaces.looked(),
    )
    surfaces.add(tab)
    this.register(tab)
    panel.onDidDispose(() => {
      surfaces.remove(tab)
      this.owned.release(tab)
    })
    return tab
  }

  #kept(): Record<string, SessionReference> {
    return this.#parts.keep.get<Record<string, SessionReference>>(TABS) ?? {}
  }

  /** What a tab's controller remembers of the session it shows. */
  #keep(name: string, value: unknown): void {
    if (name !== LAST_SESSION || value === undefined) return
    const reference = value as SessionReference
    const key = conversationKey(reference)
    const { [key]: _, ...others } = this.#kept()
    const kept = [...Object.entries(others).slice(1 - TABS_KEPT), [key, reference] as const]
    this.#parts.keep.set(TABS, Object.fromEntries(kept))
  }
}

/** The key in what the webview kept; anything may have been kept. */
function keyIn(state: unknown): string | undefined {
  if (typeof state !== 'object' || state === null || !('key' in state)) return undefined
  return typeof state.key === 'string' ? state.key : undefined
}
