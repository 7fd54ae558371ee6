import { isDeepStrictEqual } from 'node:util'
import * as l10n from '@vscode/l10n'
import type { ElicitationOutcome, ElicitationRequest, Roots } from '../../acp/model.ts'
import { type Disposable, Owner } from '../../common/disposable.ts'
import { visible } from '../../common/visible.ts'
import { SessionFiles } from '../../editor/files/files.ts'
import type { EditorTools, SessionTools } from '../../mcp/server/editor-tools.ts'
import type { ToolConversation, ToolPermission } from '../../mcp/server/tool.ts'
import { ToolError } from '../../mcp/server/tool-error.ts'
import { namesOf } from '../changes/file-names.ts'
import { type Dialogs, settingOf, type Workbench } from '../workbench.ts'

/** The maximum number of paths that a question lists. */
const MAX_PATHS = 20
/** The maximum length of a dialog's detail, in UTF-16 units. Nobody reads more in a dialog. */
const MAX_DETAIL = 4000
/** The maximum length of a question with its choices, in characters. */
const MAX_QUESTION = 6000

/** The titles of permissions that the user gives once for all calls, until the tools restart. */
const TITLES: Partial<Record<ToolPermission['tool'], () => string>> = {
  terminal_output: () => l10n.t("Read your terminals' output until the editor tools restart"),
  terminal_selection: () => l10n.t('Read what you select in terminals until the editor tools restart'),
}

/** The key under which the switches of the editor tools are stored for VS Code's chat. Sessions use their own key; no agent has this id. */
const KEY = 'vscode-chat'

export interface ChatToolsOptions {
  workbench: Pick<Workbench, 'dialogs' | 'settings' | 'settingValues' | 'folders'>
  editorTools: Pick<EditorTools, 'offer'>
  files: ConstructorParameters<typeof SessionFiles>[0]
}

/** The editor tools for VS Code's own chat. The chat has no Parley session, so the tools ask their questions in dialogs. */
export class ChatTools extends Owner {
  readonly #options: ChatToolsOptions
  #open: { tools: SessionTools; files: CurrentFiles } | undefined

  constructor(options: ChatToolsOptions) {
    super()
    this.#options = options
    const { workbench } = options
    const { settings } = workbench
    this.register(
      settings.onDidChange('editorToolsInChat', () => {
        if (!settingOf(workbench, 'editorToolsInChat')) this.#close()
      }),
    )
  }

  /** Opens a new address with its token, and closes the previous address. Rejects with a sentence if there are no tools. */
  async open(): Promise<{ url: string; headers: Record<string, string> }> {
    this.#close()
    const { workbench, editorTools, files: shared } = this.#options
    const isOff = () => !settingOf(workbench, 'editorToolsInChat')
    const roots = () => {
      const [first, ...others] = workbench.folders
      return first && { cwd: first.path, additionalDirectories: others.map(({ path }) => path) }
    }
    if (!roots()) throw new Error(l10n.t('Open a folder to use the editor tools.'))
    const { tools, note } = await editorTools.offer(roots, { http: true, stdio: false }, [])
    if (tools?.server.type !== 'http')
      throw new Error(
        note?.reason ?? l10n.t('The setting {0} turns off all editor tools.', 'parley.editorTools'),
      )
    this.#close()
    if (isOff()) {
      // the setting was turned off while the tools started
      tools.dispose()
      throw new Error(l10n.t('The setting {0} turns off all editor tools.', 'parley.editorToolsInChat'))
    }
    const filesIn = (current: Roots) =>
      new SessionFiles(shared, {
        roots: current,
        // the tools change only files in the folders, so the user is asked only about files that control programs
        askAccess: async ({ path }) =>
          (await isAllowed(
            workbench.dialogs,
            l10n.t('Allow VS Code chat to change {0}?', visible(namesOf(workbench, [path]))),
            l10n.t('This file controls which programs run or what agents can do.'),
          ))
            ? 'once'
            : 'refuse',
      })
    const files = new CurrentFiles(roots, filesIn)
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

/** The files of the window's folders. The folders may change. */
class CurrentFiles implements Disposable {
  /** The files that each call began with, by the call's signal, so that a call never works with two sets of folders. */
  readonly #taken = new WeakMap<AbortSignal, SessionFiles>()
  #isDisposed = false
  readonly #roots: () => Roots | undefined
  readonly #create: (roots: Roots) => SessionFiles
  #last: { roots: Roots; files: SessionFiles } | undefined

  constructor(roots: () => Roots | undefined, create: (roots: Roots) => SessionFiles) {
    this.#roots = roots
    this.#create = create
  }

  /** Returns the files for the call with this signal. */
  of(call: AbortSignal): SessionFiles {
    if (this.#isDisposed) throw new ToolError('The editor tools for VS Code chat have ended.')
    const files = this.#taken.get(call) ?? this.#current()
    this.#taken.set(call, files)
    return files
  }

  #current(): SessionFiles {
    const roots = this.#roots()
    if (!roots) throw new ToolError('No folder is open in the editor anymore.')
    if (!this.#last || !isDeepStrictEqual(this.#last.roots, roots)) {
      this.#last?.files.dispose()
      this.#last = { roots, files: this.#create(roots) }
    }
    return this.#last.files
  }

  dispose(): void {
    this.#isDisposed = true
    this.#last?.files.dispose()
    this.#last = undefined
  }
}

class ChatConversation implements ToolConversation {
  readonly #dialogs: Dialogs
  readonly #files: CurrentFiles

  constructor(dialogs: Dialogs, files: CurrentFiles) {
    this.#dialogs = dialogs
    this.#files = files
  }

  async permitted<T>(permission: ToolPermission, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const detail = detailOf(permission)
    if (detail.length > MAX_DETAIL)
      throw new ToolError(
        'It is too long to be shown to the user, so nothing was done. Do it in smaller parts.',
      )
    const allowed = await isAllowed(this.#dialogs, l10n.t('Allow VS Code chat to do this?'), detail)
    // the modal dialog stays open after the call has ended
    if (signal.aborted) throw new ToolError('The call ended before the user answered. Nothing was done.')
    if (!allowed) throw new ToolError('The user rejected it. Nothing was done.')
    return work()
  }

  async write(path: string, content: string, signal: AbortSignal): Promise<void> {
    await this.#files.of(signal).writeTextFile({ path, content }, signal)
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
    const texts = field && 'choices' in field ? field.choices.map(choice => choice.title) : []
    if (!(await this.#hasRead(title, request.message, texts)) || signal.aborted) return undefined
    if (field?.type !== 'select' && field?.type !== 'multi_select')
      return this.#dialogs.input({ title, prompt: request.message, ignoreFocusOut: true, signal })
    const items = field.choices.map(choice => ({ label: choice.title, value: String(choice.value) }))
    const options = { title, placeholder: request.message, ignoreFocusOut: true }
    if (field.type === 'select') return (await this.#dialogs.pick(items, options))?.value
    return (await this.#dialogs.pickMany(items, options))?.map(({ value }) => value)
  }

  /** Shows a question completely if a list or an input would cut it. Resolves to whether the user wants to answer. */
  async #hasRead(title: string, question: string, choices: readonly string[]): Promise<boolean> {
    const isLong = (text: string) => text.length > MAX_LINE || text.includes('\n')
    if (![question, ...choices].some(isLong)) return true
    const numbered = choices.map((choice, i) => `${i + 1}. ${choice}`)
    const detail = visible([question, ...(choices.some(isLong) ? ['', ...numbered] : [])].join('\n'))
    if (detail.length > MAX_QUESTION)
      throw new ToolError('The question and its choices are too long to be shown to the user. Shorten them.')
    const answer = l10n.t('Answer')
    return (await this.#dialogs.confirm(title, { detail }, answer)) === answer
  }
}

/** The length, in characters, beyond which a quick pick cuts text. An input box shows only two lines. */
const MAX_LINE = 80

/** Returns a description of what the tool would do, in which nothing is hidden or looks like a part of the dialog. */
function detailOf({ tool, title, code, changes = [] }: ToolPermission): string {
  const line = (text: string) => visible(text.replaceAll(/\s*\n\s*/g, ' '))
  const more = changes.length - MAX_PATHS
  return [
    line(TITLES[tool]?.() ?? title),
    ...(code === undefined ? [] : ['', visible(code)]),
    ...(changes.length === 0 ? [] : ['']),
    ...changes.slice(0, MAX_PATHS).map(({ path }) => line(path)),
    ...(more > 0 ? [l10n.t('…and {0} more', more)] : []),
  ].join('\n')
}

async function isAllowed(dialogs: Dialogs, text: string, detail: string): Promise<boolean> {
  const allow = l10n.t('Allow')
  return (await dialogs.confirm(text, { ...(detail !== '' && { detail }) }, allow)) === allow
}
