import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import type {
  ElicitationField,
  ElicitationOutcome,
  ElicitationRequest,
  ElicitationValue,
} from '../acp/model.ts'
import { plainMessage } from '../common/plain-message.ts'
import { matchesInTime } from '../common/timed-regexp.ts'
import { visible, visibleProse, withoutIcons } from '../common/visible.ts'
import { describeUrl, type UrlWarning } from '../conversation/requests/described-url.ts'
import {
  checkContent,
  checkField,
  describeFieldProblem,
  presetOf,
} from '../conversation/requests/elicitation.ts'
import type { NativeElicitation } from '../sessions/ports.ts'
import { openLink } from './editor/open.ts'
import { withCancellation } from './with-cancellation.ts'

type Form = Extract<ElicitationRequest, { mode: 'form' }>
type Visit = Extract<ElicitationRequest, { mode: 'url' }>
/** The value of a field; `undefined` if the user closed the input. */
type Given = { value: ElicitationValue | undefined } | undefined

/**
 * Shows elicitations that don't belong to a conversation in VS Code's quick input, for example during sign-in. A quick
 * input can be closed when the request is withdrawn, unlike a modal dialog. Requests are shown one after the other, since
 * there is only one quick input at a time.
 */
export class NativePrompts implements NativeElicitation {
  readonly #visits = new Map<string, () => void>()
  #last: Promise<unknown> = Promise.resolve()

  ask(name: string, request: ElicitationRequest, signal: AbortSignal): Promise<ElicitationOutcome> {
    const asked = this.#last.then(async (): Promise<ElicitationOutcome> => {
      if (signal.aborted) return { action: 'cancel' }
      const outcome = await (request.mode === 'url'
        ? this.#visit(name, request, signal)
        : fillIn(name, request, signal))
      return signal.aborted ? { action: 'cancel' } : outcome
    })
    this.#last = asked.catch(() => undefined)
    return asked
  }

  complete(elicitationId: string): void {
    this.#visits.get(elicitationId)?.()
  }

  async #visit(name: string, request: Visit, signal: AbortSignal): Promise<ElicitationOutcome> {
    const url = describeUrl(request.url)
    if (!url?.canOpen) {
      const refused = l10n.t(
        "{0} wants to open a link that isn't http or https: {1}",
        name,
        visible(request.url),
      )
      void vscode.window.showWarningMessage(plainMessage(refused))
      return { action: 'decline' }
    }
    const href = url.before + url.host + url.after
    const answer = await choose(
      l10n.t('{0} wants you to open {1}', name, url.host),
      [...linesOf(request.message), ...linesOf(href), ...url.warnings.map(describeWarning)],
      l10n.t('Open'),
      signal,
    )
    // the URL of a withdrawn request is never opened
    if (answer !== 'accept' || signal.aborted) return { action: answer === 'accept' ? 'cancel' : answer }
    try {
      await openLink(href)
    } catch {
      return { action: 'cancel' }
    }
    this.#wait(name, url.host, request.elicitationId, signal)
    return { action: 'accept' }
  }

  /** Shows that the agent waits for something outside of VS Code, until it's completed, withdrawn, or the user cancels. */
  #wait(name: string, host: string, elicitationId: string, signal: AbortSignal): void {
    if (signal.aborted) return
    const title = l10n.t('Waiting for {0}: continue at {1}', name, host)
    const options = { location: vscode.ProgressLocation.Notification, title, cancellable: true }
    void vscode.window.withProgress(options, (_progress, token) => {
      return new Promise<void>(resolve => {
        const end = () => {
          this.#visits.delete(elicitationId)
          signal.removeEventListener('abort', end)
          resolve()
        }
        this.#visits.set(elicitationId, end)
        signal.addEventListener('abort', end, { once: true })
        token.onCancellationRequested(end)
      })
    })
  }
}

function describeWarning(warning: UrlWarning): string {
  switch (warning) {
    case 'http':
      return l10n.t("This connection isn't encrypted. Others can read what you send.")
    case 'punycode':
      return l10n.t('The host name uses look-alike characters from other alphabets.')
    case 'credentials':
      return l10n.t('This URL contains a user name. Check the host name before opening.')
  }
}

/** Lets the user fill in a form field by field. Escape at any field cancels the whole form. */
async function fillIn(name: string, form: Form, signal: AbortSignal): Promise<ElicitationOutcome> {
  const begun = await begin(name, form, signal)
  if (begun !== 'accept') return { action: begun }
  const values: Array<[string, ElicitationValue]> = []
  for (const [index, field] of form.fields.entries()) {
    if (field.type === 'unknown') continue
    const title = `${visibleProse(form.title ?? name)} (${index + 1}/${form.fields.length})`
    const given = await withCancellation(signal, token => askField(title, field, token))
    if (!given) return { action: 'cancel' }
    if (given.value !== undefined) values.push([field.key, given.value])
  }
  const checked = checkContent(form.fields, Object.fromEntries(values), matchesInTime)
  if (checked.ok) return { action: 'accept', content: checked.content }
  void vscode.window.showWarningMessage(
    l10n.t("{0} requests a value that Parley doesn't support. The request was canceled.", name),
  )
  return { action: 'cancel' }
}

/** Shows the agent's name and message, before the first field. */
function begin(name: string, form: Form, signal: AbortSignal): Promise<ElicitationOutcome['action']> {
  const about = [form.title, form.message, form.description].flatMap(text => linesOf(text ?? ''))
  const accept = form.fields.length > 0 ? l10n.t('Answer') : l10n.t('Yes')
  return choose(l10n.t('{0} asks: {1}', name, visibleProse(form.message)), about, accept, signal)
}

/**
 * Lets the user accept, decline or cancel (Escape). The list may open while the user types, so Enter accepts nothing: the first
 * item is the beginning of the message, whose rest is listed below the choices.
 */
async function choose(
  title: string,
  about: readonly string[],
  accept: string,
  signal: AbortSignal,
): Promise<ElicitationOutcome['action']> {
  const [first, ...rest] = about.map(line => ({ label: labelOf(line), alwaysShow: true }))
  const choices: Array<vscode.QuickPickItem & { action?: 'accept' | 'decline' }> = [
    first ?? { label: labelOf(title), alwaysShow: true },
    { label: accept, action: 'accept' },
    { label: l10n.t('Decline'), action: 'decline' },
    { label: '', kind: vscode.QuickPickItemKind.Separator },
    ...rest,
  ]
  for (;;) {
    const options = { title, placeHolder: about[0] ?? '', ignoreFocusOut: true }
    const picked = await withCancellation(signal, token =>
      vscode.window.showQuickPick(choices, options, token),
    )
    if (!picked || signal.aborted) return 'cancel'
    // a line of the message isn't an answer
    if (picked.action) return picked.action
  }
}

/** Returns an agent's text for a quick input, where `$(name)` would be an icon. */
function labelOf(text: string): string {
  return withoutIcons(visibleProse(text))
}

/** Returns an agent's text in lines that fit into a quick input. */
function linesOf(text: string): string[] {
  return visibleProse(text)
    .trim()
    .split('\n')
    .flatMap(line => line.match(/.{1,80}(?:\s+|$)|\S{1,80}/gu) ?? [])
    .map(line => line.trim())
    .filter(line => line !== '')
    .slice(0, 100)
}

async function askField(
  title: string,
  field: ElicitationField,
  token: vscode.CancellationToken,
): Promise<Given> {
  const name = visibleProse(field.title)
  const label = field.required ? name : l10n.t('{0} (optional)', name)
  const placeHolder = field.description ? `${label}: ${visibleProse(field.description)}` : label
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
          label: labelOf(text),
          value,
          ...(description && { description }),
        }),
      )
      // Enter accepts the first item
      items.sort((a, b) => Number(b.value === preset) - Number(a.value === preset))
      if (!field.required) items.push({ label: l10n.t('No answer'), value: undefined })
      return vscode.window.showQuickPick(items, common, token)
    }
    case 'multi_select': {
      const chosen = new Set(Array.isArray(preset) ? preset : [])
      const items = field.choices.map(({ value, title: text, description }) => ({
        label: labelOf(text),
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
