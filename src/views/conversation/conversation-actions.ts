import { readFile } from 'node:fs/promises'
import path from 'node:path'
import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import { diffTexts } from '../../editor/changes/diff-texts.ts'
import { findFragment } from '../../editor/changes/find-fragment.ts'
import type { Diffs } from '../../editor/changes/vscode-diffs.ts'
import type { Proposals } from '../../editor/changes/vscode-proposals.ts'
import { applyCode } from '../../editor/vscode-code.ts'
import { openFile, openLink } from '../../editor/vscode-open.ts'
import type { ConversationController } from '../../sessions/conversation-controller.ts'
import { CardButtonId } from '../cards/card-content.ts'
import { CommandId } from '../ids.ts'
import type { ConversationActions } from './conversation-bridge.ts'

/** The commands of Parley that a webview may run. */
const COMMANDS = new Set<string>(Object.values(CommandId))

export function conversationActions(diffs: Diffs, proposals: Proposals): ConversationActions {
  return {
    openLink: (href, roots) => openLink(href, roots),
    openFile: (place, roots) => openFile(place, roots),
    async openDiff(change, patch, roots) {
      const file = roots ? path.resolve(roots.cwd, change.path) : change.path
      const current = await readFile(file, 'utf8').catch(() => undefined)
      const texts = diffTexts(change, { current, patch })
      if (!texts) throw new Error(l10n.t("The agent didn't report its changes to {0}.", change.path))
      await diffs.open(file, texts)
    },
    findFragment,
    applyCode: (code, roots) => applyCode(code, roots, proposals),
    card,
    async command(command) {
      if (COMMANDS.has(command)) await vscode.commands.executeCommand(command)
    },
  }
}

async function card(controller: ConversationController, cardId: string, buttonId: string): Promise<void> {
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
