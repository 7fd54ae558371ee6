import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import type {
  ElicitationField,
  ElicitationOutcome,
  ElicitationRequest,
  ElicitationValue,
} from '../acp/model.ts'
import { plainMessage } from '../common/plain-message.ts'
import { matchesInTime } from '../conversation/bounded-pattern.ts'
import { checkContent, checkField, presetOf } from '../conversation/elicitation-schema.ts'
import { describeUrl, type UrlWarning } from '../conversation/elicitation-url.ts'
import { describeFieldProblem } from '../conversation/elicitation-words.ts'
import { openLink } from '../editor/vscode-open.ts'
import type { NativeElicitation } from '../sessions/ports.ts'

type Form = Extract<ElicitationRequest, { mode: 'form' }>
type Visit = Extract<ElicitationRequest, { mode: 'url' }>
/** `undefined`: left without an answer. */
type Given = { value: ElicitationValue | undefined } | undefined

/**
 * Asks with VS Code's own message, input box and quick pick what belongs to no conversation, such as what an agent
 * wants to know while somebody signs in. One question after the other: only one input box is there at a time.
 */
export class NativePrompts implements NativeElicitation {
  readonly #nameOf: (agentId: string) => string
  readonly #visits = new Map<string, () => void>()
  #last: Promise<unknown> = Promise.resolve()

  constructor(nameOf: (agentId: string) => string) {
    this.#nameOf = nameOf
  }

  ask(agentId: string, request: ElicitationRequest, signal: AbortSignal): Promise<ElicitationOutcome> {
    const name = this.#nameOf(agentId)
    const asked = this.#last.then(() => {
      if (signal.aborted) return { action: 'cancel' } as const
      return request.mode === 'url' ? this.#visit(name, request) : fillIn(name, request, signal)
    })
    this.#last = asked.catch(() => undefined)
    return asked
  }

  complete(elicitationId: string): void {
    this.#visits.get(elicitationId)?.()
  }

  async #visit(name: string, request: Visit): Promise<ElicitationOutcome> {
    const url = describeUrl(request.url)
    if (!url?.canOpen) {
      const refused = l10n.t('{0} asks to open an address that is not of the web: {1}', name, request.url)
      void vscode.window.showWarningMessage(plainMessage(refused))
      return { action: 'decline' }
    }
    const href = url.before + url.host + url.after
    const open = l10n.t('Open')
    const decline = l10n.t('Decline')
    const answer = await vscode.window.showInformationMessage(
      l10n.t('{0} asks you to open {1}', name, url.host),
      { modal: true, detail: [request.message, href, ...url.warnings.map(describeWarning)].join('\n\n') },
      open,
      decline,
    )
    if (answer === undefined) return { action: 'cancel' }
    if (answer === decline) return { action: 'decline' }
    try {
      await openLink(href)
    } catch {
      return { action: 'cancel' }
    }
    this.#wait(name, url.host, request.elicitationId)
    return { action: 'accept' }
  }

  /** Shows that something goes on elsewhere, until the agent says it is done or the person waits no longer. */
  #wait(name: string, host: string, elicitationId: string): void {
    const title = l10n.t('{0} waits for what you do at {1}', name, host)
    const options = { location: vscode.ProgressLocation.Notification, title, cancellable: true }
    void vscode.window.withProgress(options, (_progress, token) => {
      return new Promise<void>(resolve => {
        const end = () => {
          this.#visits.delete(elicitationId)
          resolve()
        }
        this.#visits.set(elicitationId, end)
        token.onCancellationRequested(end)
      })
    })
  }
}

function describeWarning(warning: UrlWarning): string {
  switch (warning) {
    case 'http':
      return l10n.t('The connection is not encrypted: others can read what you send.')
    case 'punycode':
      return l10n.t('The name has letters of other alphabets, which can look like another name.')
    case 'credentials':
      return l10n.t('The address begins with a user’s name. Look at the host alone.')
  }
}

/** Escape at any field cancels the whole form. */
async function fillIn(name: string, form: Form, signal: AbortSignal): Promise<ElicitationOutcome> {
  const begun = await begin(name, form)
  if (begun !== 'accept') return { action: begun }
  const values: Array<[string, ElicitationValue]> = []
  for (const [index, field] of form.fields.entries()) {
    if (field.type === 'unknown') continue
    const title = `${form.title ?? name} (${index + 1}/${form.fields.length})`
    const given = await withSignal(signal, token => askField(title, field, token))
    if (!given) return { action: 'cancel' }
    if (given.value !== undefined) values.push([field.key, given.value])
  }
  const checked = checkContent(form.fields, Object.fromEntries(values), matchesInTime)
  if (checked.ok) return { action: 'accept', content: checked.content }
  void vscode.window.showWarningMessage(
    l10n.t('{0} asks for something that Parley cannot fill in. The question was cancelled.', name),
  )
  return { action: 'cancel' }
}

/** Says who asks for what; a box that just opens could be anybody's. */
async function begin(name: string, form: Form): Promise<ElicitationOutcome['action']> {
  const go = form.fields.length > 0 ? l10n.t('Answer') : l10n.t('Yes')
  const question = l10n.t('{0} asks: {1}', name, form.message)
  const detail = [form.title, form.description].filter(Boolean).join('\n')
  const decline = l10n.t('Decline')
  const answer = await vscode.window.showInformationMessage(question, { modal: true, detail }, go, decline)
  if (answer === undefined) return 'cancel'
  return answer === go ? 'accept' : 'decline'
}

async function askField(
  title: string,
  field: ElicitationField,
  token: vscode.CancellationToken,
): Promise<Given> {
  const label = field.required ? field.title : l10n.t('{0} (optional)', field.title)
  const placeHolder = field.description ? `${label}: ${field.description}` : label
  const common = { title, placeHolder, ignoreFocusOut: true }
  const preset = presetOf(field)
  switch (field.type) {
    case 'boolean': {
      const items = [
        { label: l10n.t('Yes'), value: true },
        { label: l10n.t('No'), value: false },
      ]
      if (preset === false) items.reverse()
      return vscode.window.showQuickPick(items, common, token)
    }
    case 'select': {
      const items: Array<vscode.QuickPickItem & { value: string | undefined }> = field.choices.map(
        ({ value, title: text, description }) => ({
          label: text,
          value,
          ...(description && { description }),
        }),
      )
      // the first item is the one Enter takes
      items.sort((a, b) => Number(b.value === preset) - Number(a.value === preset))
      if (!field.required) items.push({ label: l10n.t('No answer'), value: undefined })
      return vscode.window.showQuickPick(items, common, token)
    }
    case 'multi_select': {
      const chosen = new Set(Array.isArray(preset) ? preset : [])
      const items = field.choices.map(({ value, title: text, description }) => ({
        label: text,
        value,
        picked: chosen.has(value),
        ...(description && { description }),
      }))
      const picked = await vscode.window.showQuickPick(items, { ...common, canPickMany: true }, token)
      return picked && { value: picked.map(item => item.value) }
    }
    default: {
      const read = (text: string) => readText(field, text)
      const text = await vscode.window.showInputBox(
        {
          title,
          prompt: placeHolder,
          ignoreFocusOut: true,
          ...(preset !== undefined && { value: String(preset) }),
          validateInput: written => {
            const problem = checkField(field, read(written), matchesInTime)
            return problem && describeFieldProblem(problem, l10n.t)
          },
        },
        token,
      )
      return text === undefined ? undefined : { value: read(text) }
    }
  }
}

function readText(field: ElicitationField, text: string): ElicitationValue | undefined {
  if (field.type !== 'number' && field.type !== 'integer') return text
  return text.trim() === '' ? undefined : Number(text)
}

async function withSignal<T>(
  signal: AbortSignal,
  run: (token: vscode.CancellationToken) => Promise<T>,
): Promise<T> {
  const source = new vscode.CancellationTokenSource()
  const cancel = () => source.cancel()
  signal.addEventListener('abort', cancel, { once: true })
  if (signal.aborted) cancel()
  try {
    return await run(source.token)
  } finally {
    signal.removeEventListener('abort', cancel)
    source.dispose()
  }
}
