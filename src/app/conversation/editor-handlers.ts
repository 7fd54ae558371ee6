import { readFile } from 'node:fs/promises'
import path from 'node:path'
import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import type { FileChange, Roots } from '../../acp/model.ts'
import type { Handlers } from '../../bridge/contract.ts'
import {
  type ActiveContext,
  ActiveContextChanged,
  DiffLayout,
  type EntryContext,
  TokenColors,
} from '../../bridge/conversation.ts'
import type { ConversationMessages } from '../../bridge/conversation-messages.ts'
import { CancelledError, messageOf } from '../../common/errors.ts'
import { plainMessage } from '../../common/plain-message.ts'
import { diffTexts, findFragment } from '../../editor/diff-texts.ts'
import type { ConversationController } from '../../sessions/conversation-controller.ts'
import type { Diffs, Proposals } from '../../workbench/changes/diffs.ts'
import { applyCode, insertCode, openText } from '../../workbench/editor/code.ts'
import { openContent, openFile, openLink } from '../../workbench/editor/open.ts'
import { onDidChangeTokenColors, themeTokenColors } from '../../workbench/editor/theme.ts'
import { followActiveContext } from '../../workbench/mentions/attachments.ts'
import { onDidChangeSetting, readSetting, updateSetting } from '../../workbench/settings.ts'
import { CardButtonId } from '../cards/card-content.ts'
import { CommandId } from '../ids.ts'
import type { WebviewConnection } from '../webview-connection.ts'

/** The commands that a webview may run. */
const COMMANDS = new Set<string>(Object.values(CommandId))

/** Handles what a user opens, copies and runs from a conversation. */
export function editorHandlers(controller: ConversationController, diffs: Diffs, proposals: Proposals) {
  const roots = () => controller.current?.plan.setup
  const changeOf = (place: { key: string; entryId: string; content: number; change: number }) => {
    const open = place.key === controller.key ? controller.current : undefined
    const state = open?.session.state
    const entry = state?.entries[state.index.get(place.entryId) ?? -1]
    if (!open || entry?.kind !== 'tool_call') return undefined
    const part = entry.content[place.content]
    const change = part?.type === 'diff' ? part.changes[place.change] : undefined
    return change && part?.type === 'diff' ? { change, patch: part.patch, roots: open.plan.setup } : undefined
  }
  return {
    'conversation/link': ({ href }) => showFailure(openLink(href, roots())),
    'conversation/file': place => showFailure(openFile(place, roots())),
    'conversation/diff': place => {
      const found = changeOf(place)
      if (found) return showFailure(openDiff(found, diffs))
    },
    'conversation/findFragment': async place => {
      const found = changeOf(place)
      return (found && (await findFragment(found.change, found.roots))) ?? null
    },
    'conversation/copy': ({ text }) => vscode.env.clipboard.writeText(text),
    'conversation/insertCode': ({ text }) => showFailure(insertCode(text)),
    'conversation/openText': ({ text, language }) => showFailure(openText(text, language)),
    'conversation/openBlob': ({ name, mimeType, data }) =>
      showFailure(openContent(name, mimeType, Buffer.from(data, 'base64'))),
    'conversation/applyCode': code => showFailure(applyCode(code, roots(), proposals)),
    'conversation/card': ({ cardId, buttonId }) => pressCardButton(controller, cardId, buttonId),
    'conversation/command': async ({ command }) => {
      if (COMMANDS.has(command)) await vscode.commands.executeCommand(command)
    },
    'actions/entry': ({ command, key, entryId }) =>
      vscode.commands.executeCommand(command, { conversation: key, entry: entryId } satisfies EntryContext),
  } satisfies Partial<Handlers<ConversationMessages>>
}

/** Shows errors of actions that the user clicked, instead of only logging them. */
export async function showFailure(done: Promise<void>): Promise<void> {
  try {
    await done
  } catch (error) {
    if (error instanceof CancelledError) return
    void vscode.window.showWarningMessage(plainMessage(messageOf(error)))
  }
}

async function openDiff(
  {
    change,
    patch,
    roots,
  }: { change: FileChange; patch: { format: string; text: string } | undefined; roots: Roots },
  diffs: Diffs,
): Promise<void> {
  const file = path.resolve(roots.cwd, change.path)
  const current = await readFile(file, 'utf8').catch(() => undefined)
  const texts = diffTexts(change, { current, patch })
  if (!texts) throw new Error(l10n.t("The agent didn't report its changes to {0}.", change.path))
  await diffs.open(file, texts)
}

async function pressCardButton(
  controller: ConversationController,
  cardId: string,
  buttonId: string,
): Promise<void> {
  const failure = controller.failures.get(cardId)
  if (buttonId.startsWith(CardButtonId.signIn)) {
    await controller.signIn(cardId, buttonId.slice(CardButtonId.signIn.length))
    return
  }
  if (buttonId.startsWith(CardButtonId.install)) {
    await vscode.commands.executeCommand(CommandId.installAgent, buttonId.slice(CardButtonId.install.length))
    return
  }
  if (buttonId.startsWith(CardButtonId.openSettings)) {
    const setting = buttonId.slice(CardButtonId.openSettings.length)
    return void (await vscode.commands.executeCommand(CommandId.openSettings, setting))
  }
  switch (buttonId) {
    case CardButtonId.retry:
    case CardButtonId.restart: {
      const attempt = failure && 'attempt' in failure ? failure.attempt : undefined
      if (attempt) await controller.retry(attempt)
      else if (buttonId === CardButtonId.restart) await controller.restart()
      else controller.dismiss(cardId)
      return
    }
    case CardButtonId.startNew:
      return controller.startInstead()
    case CardButtonId.openLog: {
      const agentId = failure && 'agentId' in failure ? failure.agentId : undefined
      return void (await vscode.commands.executeCommand(CommandId.showAgentLog, agentId))
    }
    case CardButtonId.openTerminal:
      return void (await vscode.commands.executeCommand('workbench.action.terminal.new'))
    case CardButtonId.manageTrust:
      return void (await vscode.commands.executeCommand('workbench.trust.manage'))
    case CardButtonId.pickAgent:
      return void (await vscode.commands.executeCommand(CommandId.newSessionWithAgent))
    case CardButtonId.cancelSignIn:
      return controller.cancelSignIn()
    case CardButtonId.giveUp:
      return failure?.type === 'slow-option' ? controller.giveUpOption(cardId) : controller.cancel()
    case CardButtonId.takeOver:
      return controller.takeOver(cardId)
    case CardButtonId.fork:
      return failure?.type === 'elsewhere' ? controller.fork(failure.attempt) : undefined
    case CardButtonId.abandonTurn:
      return controller.abandonTurn()
    case CardButtonId.dismiss:
      return controller.dismiss(cardId)
  }
}

/** Sends a page the colors of code in its theme, and the user's layout for diffs. */
export function connectAppearance(connection: WebviewConnection) {
  let shown: string | undefined
  const tell = async () => {
    if (shown === undefined) return
    const asked = shown
    const colors = await themeTokenColors(asked)
    if (asked === shown) connection.send(TokenColors, colors)
  }
  const tellLayout = () =>
    connection.send(DiffLayout, { sideBySide: readSetting('diffLayout') === 'sideBySide' })
  const handlers = {
    'appearance/theme': async ({ themeId }) => {
      shown = themeId
      tellLayout()
      await tell()
    },
    'appearance/setDiff': async ({ sideBySide }) => {
      const layout = sideBySide ? 'sideBySide' : 'unified'
      await updateSetting('diffLayout', layout, vscode.ConfigurationTarget.Global)
    },
  } satisfies Partial<Handlers<ConversationMessages>>
  const following = vscode.Disposable.from(
    onDidChangeTokenColors(() => void tell()),
    onDidChangeSetting('diffLayout', tellLayout),
  )
  return { handlers, dispose: () => following.dispose() }
}

/** Sends a page what the user is working on in the editor, to be offered for the prompt or added to it. */
export function connectActiveContext(connection: WebviewConnection) {
  let context: ActiveContext = { automatic: readSetting('addActiveContext') }
  const set = (next: ActiveContext) => {
    context = next
    connection.send(ActiveContextChanged, context)
  }
  const following = vscode.Disposable.from(
    followActiveContext(attachment =>
      set({ automatic: context.automatic, ...(attachment && { attachment }) }),
    ),
    onDidChangeSetting('addActiveContext', () =>
      set({ ...context, automatic: readSetting('addActiveContext') }),
    ),
  )
  return { tell: () => connection.send(ActiveContextChanged, context), dispose: () => following.dispose() }
}
