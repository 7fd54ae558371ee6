import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import type { PlanSource, ShownPlan } from '../../app/conversation/plan-documents.ts'
import { ContextKey, PlanId } from '../../app/ids.ts'
import { deferred } from '../../common/async.ts'
import { Owner } from '../../common/disposable.ts'
import { PLAN_SCHEME } from '../../common/plan-uri.ts'
import { visibleProse, withoutIcons } from '../../common/visible.ts'

/** A document of a plan that VS Code has open. */
interface Shown {
  /** the document's text in VS Code */
  text: string
  /** a text that changes with the ways to answer the plan, to update the buttons */
  state: string
  plan: ShownPlan | undefined
  /** resolves when the plan is known */
  known: Promise<void>
  end: { dispose(): void }
}

/** The documents of plans: Markdown as text, so that lines can be commented on and no content is loaded or run. */
export class PlanEditors extends Owner implements vscode.CodeLensProvider {
  readonly #plans: PlanSource
  readonly #textChange = this.register(new vscode.EventEmitter<vscode.Uri>())
  readonly #lensChange = this.register(new vscode.EventEmitter<void>())
  /** by URI */
  readonly #shown = new Map<string, Shown>()

  readonly onDidChangeCodeLenses = this.#lensChange.event

  constructor(plans: PlanSource) {
    super()
    this.#plans = plans
    this.register(
      vscode.workspace.registerTextDocumentContentProvider(PLAN_SCHEME, {
        onDidChange: this.#textChange.event,
        provideTextDocumentContent: uri => this.#provide(uri),
      }),
    )
    this.register(vscode.languages.registerCodeLensProvider({ scheme: PLAN_SCHEME }, this))
    this.register(vscode.workspace.onDidCloseTextDocument(({ uri }) => this.#close(uri.toString())))
    this.register(
      plans.onDidOpen(uri => void vscode.commands.executeCommand('vscode.open', vscode.Uri.parse(uri))),
    )
    this.register({
      dispose: () => {
        for (const { end } of this.#shown.values()) end.dispose()
      },
    })
  }

  /** The commands of the editor's buttons; from the palette, they apply to the active editor. */
  get commands() {
    const of = (given: unknown) => {
      const uri = given instanceof vscode.Uri ? given : vscode.window.activeTextEditor?.document.uri
      return uri?.toString() ?? ''
    }
    return {
      [PlanId.accept]: (uri: unknown) => this.#plans.accept(of(uri), 'accept'),
      [PlanId.acceptCleared]: (uri: unknown) => this.#plans.accept(of(uri), 'acceptCleared'),
      [PlanId.sendComments]: (uri: unknown) => this.#plans.sendComments(of(uri)),
    }
  }

  /** Returns the possible answers above the first line, or how the plan was answered. */
  provideCodeLenses({ uri }: vscode.TextDocument): vscode.CodeLens[] {
    const { pending, outcome = '' } = this.#shown.get(uri.toString())?.plan ?? {}
    const lens = (title: string, command: string, tooltip?: string) =>
      new vscode.CodeLens(new vscode.Range(0, 0, 0, 0), {
        title: withoutIcons(visibleProse(title)),
        command,
        arguments: [uri],
        ...(tooltip !== undefined && { tooltip }),
      })
    if (!pending) return [lens(outcome, '')]
    return [
      ...(pending.accept ? [lens(l10n.t('Accept'), PlanId.accept, pending.accept.name)] : []),
      ...(pending.acceptCleared
        ? [lens(l10n.t('Accept with Cleared Context'), PlanId.acceptCleared, pending.acceptCleared.name)]
        : []),
      ...(pending.reject ? [lens(l10n.t('Send Comments'), PlanId.sendComments)] : []),
    ]
  }

  async #provide(uri: vscode.Uri): Promise<string> {
    const key = uri.toString()
    const shown = this.#shown.get(key) ?? this.#follow(uri, key)
    await shown.known
    shown.text = textOf(shown)
    return shown.text
  }

  #follow(uri: vscode.Uri, key: string): Shown {
    const { promise: known, resolve } = deferred()
    const shown: Shown = { text: '', state: '', plan: undefined, known, end: new vscode.Disposable(() => {}) }
    this.#shown.set(key, shown)
    shown.end = this.#plans.follow(key, plan => {
      const isFirst = !shown.plan
      shown.plan = plan
      resolve()
      if (this.#shown.get(key) !== shown) return
      if (!isFirst && textOf(shown) !== shown.text) this.#textChange.fire(uri)
      const state = plan.pending ? Object.keys(plan.pending).join() : plan.outcome
      if (state === shown.state) return
      shown.state = state
      this.#lensChange.fire()
      this.#tellMenus()
    })
    return shown
  }

  #close(key: string): void {
    this.#shown.get(key)?.end.dispose()
    if (this.#shown.delete(key)) this.#tellMenus()
  }

  #tellMenus(): void {
    const pending = [...this.#shown].map(([uri, { plan }]) => ({ uri, ...plan?.pending }))
    const having = (option: 'accept' | 'acceptCleared' | 'reject') =>
      pending.flatMap(one => (one[option] ? [one.uri] : []))
    const set = (key: string, uris: string[]) => vscode.commands.executeCommand('setContext', key, uris)
    void set(ContextKey.plansToAccept, having('accept'))
    void set(ContextKey.plansToAcceptCleared, having('acceptCleared'))
    void set(ContextKey.plansToReject, having('reject'))
  }
}

/** Returns the plan's text. Once the plan is gone, returns its last known text so that it stays readable, or else the plan's outcome. */
function textOf({ plan, text }: Shown): string {
  return plan?.text ?? (text || (plan?.outcome ?? ''))
}
