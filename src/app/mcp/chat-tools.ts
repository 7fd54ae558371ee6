import * as l10n from '@vscode/l10n'
import type { ElicitationOutcome, ElicitationRequest } from '../../acp/model.ts'
import { Owner } from '../../common/disposable.ts'
import { SessionFiles } from '../../editor/files/files.ts'
import type { EditorTools, SessionTools } from '../../mcp/server/editor-tools.ts'
import type { ToolConversation, ToolPermission } from '../../mcp/server/tool.ts'
import { ToolError } from '../../mcp/server/tool-error.ts'
import type { Dialogs, Workbench } from '../workbench.ts'

/** For switches, which are stored by session; no agent has this id. */
const KEY = 'vscode-chat'

export interface ChatToolsOptions {
  workbench: Pick<Workbench, 'dialogs' | 'settings' | 'folders'>
  editorTools: Pick<EditorTools, 'offer'>
  files: ConstructorParameters<typeof SessionFiles>[0]
}

/** The editor tools for VS Code's own chat, which knows no session of Parley: what they ask is asked by dialogs. */
export class ChatTools extends Owner {
  readonly #options: ChatToolsOptions
  #open: { tools: SessionTools; files: SessionFiles } | undefined

  constructor(options: ChatToolsOptions) {
    super()
    this.#options = options
    const { settings } = options.workbench
    this.register(
      settings.onDidChange('editorToolsInChat', () => {
        if (!settings.read('editorToolsInChat')) this.#close()
      }),
    )
  }

  /** A new address with its token; the one before ends. Rejects with a sentence if there are no tools. */
  async open(): Promise<{ url: string; headers: Record<string, string> }> {
    this.#close()
    const { workbench, editorTools, files: shared } = this.#options
    const [first, ...others] = workbench.folders()
    if (!first) throw new Error(l10n.t('Open a folder to use the editor tools.'))
    const roots = { cwd: first.path, additionalDirectories: others.map(({ path }) => path) }
    const { tools, note } = await editorTools.offer(roots, { http: true, stdio: false }, [])
    if (tools?.server.type !== 'http')
      throw new Error(
        note?.reason ?? l10n.t('The setting {0} turns off all editor tools.', 'parley.editorTools'),
      )
    this.#close()
    const files = new SessionFiles(shared, {
      roots,
      // the tools only change files of the folders, which leaves those that control programs
      askAccess: async ({ path }) =>
        (await isAllowed(
          workbench.dialogs,
          l10n.t('Allow VS Code chat to change {0}?', path),
          l10n.t('This file controls which programs run or what agents can do.'),
        ))
          ? 'once'
          : 'refuse',
    })
    this.#open = { tools, files }
    tools.begin(new ChatConversation(workbench.dialogs, files), KEY)
    const { url, headers } = tools.server
    return { url, headers: Object.fromEntries(headers.map(({ name, value }) => [name, value])) }
  }

  #close(): void {
    this.#open?.tools.dispose()
    this.#open?.files.dispose()
    this.#open = undefined
  }

  override dispose(): void {
    this.#close()
    super.dispose()
  }
}

class ChatConversation implements ToolConversation {
  readonly #dialogs: Dialogs
  readonly #files: SessionFiles

  constructor(dialogs: Dialogs, files: SessionFiles) {
    this.#dialogs = dialogs
    this.#files = files
  }

  async permitted<T>(
    { title, code, changes = [] }: ToolPermission,
    signal: AbortSignal,
    work: () => Promise<T>,
  ): Promise<T> {
    const detail = [code, ...changes.map(({ path }) => path)].filter(Boolean).join('\n')
    const allowed = await isAllowed(
      this.#dialogs,
      l10n.t('Allow VS Code chat to do this? {0}', title),
      detail,
    )
    // a modal dialog can't be withdrawn
    if (signal.aborted) throw new ToolError('The call ended before the user answered. Nothing was done.')
    if (!allowed) throw new ToolError('The user rejected it. Nothing was done.')
    return work()
  }

  async write(path: string, content: string, signal: AbortSignal): Promise<void> {
    await this.#files.writeTextFile({ path, content }, signal)
  }

  async elicit(request: ElicitationRequest, signal: AbortSignal): Promise<ElicitationOutcome> {
    const answer = await this.#answer(request, signal)
    return answer === undefined || answer.length === 0
      ? { action: 'cancel' }
      : { action: 'accept', content: { answer } }
  }

  async #answer(request: ElicitationRequest, signal: AbortSignal): Promise<string | string[] | undefined> {
    const [field] = request.mode === 'form' ? request.fields : []
    const title = l10n.t('VS Code chat asks')
    if (field?.type !== 'select' && field?.type !== 'multi_select')
      return this.#dialogs.input({ title, prompt: request.message, ignoreFocusOut: true, signal })
    const items = field.choices.map(choice => ({ label: choice.title, value: String(choice.value) }))
    const options = { title, placeholder: request.message, ignoreFocusOut: true }
    if (field.type === 'select') return (await this.#dialogs.pick(items, options))?.value
    return (await this.#dialogs.pickMany(items, options))?.map(({ value }) => value)
  }
}

async function isAllowed(dialogs: Dialogs, text: string, detail: string): Promise<boolean> {
  const allow = l10n.t('Allow')
  return (await dialogs.confirm(text, { ...(detail !== '' && { detail }) }, allow)) === allow
}
