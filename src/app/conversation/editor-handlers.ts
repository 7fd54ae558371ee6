import { readFile } from 'node:fs/promises'
import path from 'node:path'
import * as l10n from '@vscode/l10n'
import type { FileChange, Roots } from '../../acp/model.ts'
import type { CardAction } from '../../bridge/card-action.ts'
import type { Handlers } from '../../bridge/contract.ts'
import type { ActiveContext, EntryContext } from '../../bridge/conversation.ts'
import type { ConversationHostMessages, ConversationMessages } from '../../bridge/conversation-messages.ts'
import { DisposableStore } from '../../common/disposable.ts'
import { isElsewhere } from '../../common/path-mapping.ts'
import { visible } from '../../common/visible.ts'
import { diffTexts, findFragment } from '../../editor/diff-texts.ts'
import { linkHere } from '../../editor/links.ts'
import type { ConversationController } from '../../sessions/conversation-controller.ts'
import { turnAnswer } from '../../sessions/prompts.ts'
import type { AgentEnvironments } from '../agents/agent-environments.ts'
import { showFailure } from '../ask-agent.ts'
import { ENVIRONMENT_CARD, isOffered, LOST_OPTIONS_CARD } from '../cards/cards.ts'
import { CommandId } from '../ids.ts'
import type { WebviewConnection } from '../webview-connection.ts'
import { settingOf, type Workbench } from '../workbench.ts'

/** Returns the handlers that open, copy and run content of a conversation. */
export function editorHandlers(
  controller: ConversationController,
  workbench: Workbench,
  environments: Pick<AgentEnvironments, 'dismiss'>,
) {
  const { editors } = workbench
  const show = (done: Promise<void>) => showFailure(workbench.dialogs, done)
  const roots = () => controller.current?.plan.setup
  const changeOf = (target: { key: string; entryId: string; content: number; change: number }) => {
    const open = target.key === controller.key ? controller.current : undefined
    const state = open?.session.state
    const entry = state?.entries[state.index.get(target.entryId) ?? -1]
    if (!open || entry?.kind !== 'tool_call') return undefined
    const part = entry.content[target.content]
    const change = part?.type === 'diff' ? part.changes[target.change] : undefined
    if (!change || part?.type !== 'diff') return undefined
    // a file on another machine isn't the file at the same path on this machine
    const isHere = !isElsewhere(controller.pathMappings, change.path, open.plan.setup.cwd)
    return { change, patch: part.patch, roots: open.plan.setup, isHere }
  }
  const onServer = (path: string) => {
    const { agentName = l10n.t('the agent') } = controller
    return new Error(
      l10n.t("{0} is on the server of {1}. It can't be opened here.", visible(path), agentName),
    )
  }
  /** Opens a file that the agent named. */
  const openNamed = async (path: string, open: () => Promise<void>) => {
    if (isElsewhere(controller.pathMappings, path, roots()?.cwd ?? '/')) throw onServer(path)
    await open()
  }
  /** Returns the path on this machine of a file that the agent's text names; `undefined` if the file isn't on this machine. */
  const namedInText = (path: string): string | undefined => {
    const { pathMappings } = controller
    if (!pathMappings) return path
    const { cwd, additionalDirectories } = roots() ?? {}
    return linkHere(path, pathMappings, [
      ...(cwd === undefined ? [] : [cwd]),
      ...(additionalDirectories ?? []),
    ])
  }
  const openInText = async (href: string) => {
    const here = namedInText(href)
    if (here === undefined) throw onServer(href)
    await editors.openLink(here, roots())
  }
  return {
    'conversation/link': ({ href, of }) => {
      const open = () => editors.openLink(href, roots())
      if (of === 'user' || /^https?:/i.test(href.trim())) return show(open())
      return show(of === 'text' ? openInText(href) : openNamed(href, open))
    },
    'conversation/file': target => show(openNamed(target.path, () => editors.openFile(target, roots()))),
    'conversation/diff': target => {
      const found = changeOf(target)
      if (found) return show(openDiff(found, editors))
    },
    'conversation/findFragment': async target => {
      const found = changeOf(target)
      return (found?.isHere && (await findFragment(found.change, found.roots))) || null
    },
    'conversation/copy': ({ text }) => workbench.copy(text),
    'conversation/copyAnswer': async ({ key, turn }) => {
      const open = key === controller.key ? await controller.whole() : undefined
      if (!open) return
      await workbench.copy(turnAnswer(open.session.state, turn))
      workbench.dialogs.showStatus(l10n.t('Copied to the clipboard'))
    },
    'conversation/insertCode': ({ text }) => show(editors.insertCode(text)),
    'conversation/openText': ({ text, language }) => show(editors.openText(text, language)),
    'conversation/openBlob': ({ name, mimeType, data }) =>
      show(editors.openContent(name, mimeType, Buffer.from(data, 'base64'))),
    'conversation/applyCode': ({ path, ...code }) => {
      const here = path === undefined ? undefined : namedInText(path)
      // if the named file is on the server, the code is applied to the open editor
      return show(editors.applyCode(here === undefined ? code : { ...code, path: here }, roots()))
    },
    'conversation/card': ({ cardId, action }) =>
      runCardAction(controller, workbench, environments, cardId, action),
    'conversation/command': ({ command }) => workbench.execute(command),
    'conversation/goBack': ({ key, entryId }) =>
      workbench.execute(CommandId.continueSession, {
        ...({ conversation: key, entry: entryId } satisfies EntryContext),
        goesBack: true,
      }),
    'conversation/continueWith': ({ key, agentId }) =>
      workbench.execute(CommandId.continueSession, {
        ...({ conversation: key } satisfies EntryContext),
        continuesWith: agentId,
      }),
    'actions/entry': ({ command, key, entryId }) =>
      workbench.execute(command, { conversation: key, entry: entryId } satisfies EntryContext),
  } satisfies Partial<Handlers<ConversationMessages>>
}

async function openDiff(
  {
    change,
    patch,
    roots,
    isHere,
  }: {
    change: FileChange
    patch: { format: string; text: string } | undefined
    roots: Roots
    isHere: boolean
  },
  editors: Workbench['editors'],
): Promise<void> {
  const file = path.resolve(roots.cwd, change.path)
  const current = isHere ? await readFile(file, 'utf8').catch(() => undefined) : undefined
  const texts = diffTexts(change, { current, patch })
  if (!texts) throw new Error(l10n.t("The agent didn't report its changes to {0}.", change.path))
  await editors.openDiff(file, texts)
}

/** Runs the action of a card's button. */
async function runCardAction(
  controller: ConversationController,
  { dialogs, execute }: Workbench,
  environments: Pick<AgentEnvironments, 'dismiss'>,
  cardId: string,
  action: CardAction,
): Promise<void> {
  const failure = controller.failures.get(cardId)
  switch (action.type) {
    case 'signIn':
      return controller.signIn.signIn(cardId, action.methodId)
    case 'install':
      return void (await execute(CommandId.installAgent, action.registryId))
    case 'openSettings':
      return void (await execute(CommandId.openSettings, action.setting))
    case 'retry':
    case 'restart': {
      if (cardId === ENVIRONMENT_CARD) return showFailure(dialogs, controller.opener.renew())
      const attempt = failure && 'attempt' in failure ? failure.attempt : undefined
      if (attempt) await controller.opener.retry(attempt)
      else if (action.type === 'restart') await controller.opener.restart()
      else controller.dismiss(cardId)
      return
    }
    case 'continueInNew': {
      const agentId = failure && 'agentId' in failure ? failure.agentId : undefined
      if (agentId !== undefined) await controller.continueWith(agentId)
      return
    }
    case 'startNew':
      return controller.startInstead()
    case 'openLog': {
      const agentId = failure && 'agentId' in failure ? failure.agentId : undefined
      return void (await execute(CommandId.showAgentLog, agentId))
    }
    case 'openTerminal':
      return void (await execute('workbench.action.terminal.new'))
    case 'manageTrust':
      return void (await execute('workbench.trust.manage'))
    case 'pickAgent':
      return void (await execute(CommandId.newSessionWithAgent))
    case 'showBackground':
      return void (await execute(CommandId.showBackgroundSessions))
    case 'cancelSignIn':
      return controller.signIn.cancel()
    case 'giveUp':
      return failure?.type === 'slow-option' ? controller.configOptions.giveUp(cardId) : controller.cancel()
    case 'takeOver':
      return controller.opener.takeOver(cardId)
    case 'fork':
      return failure?.type === 'elsewhere' ? controller.opener.fork(failure.attempt) : undefined
    case 'abandonTurn':
      return controller.current?.session.turns.abandon()
    case 'back': {
      const { state } = controller.opener
      return state.type === 'failed' && state.before ? controller.show(state.before) : undefined
    }
    case 'switchBack': {
      const lost = controller.current?.session.optionChanges.lost ?? []
      for (const { before } of lost.filter(isOffered))
        await controller.configOptions.set(before.id, before.currentValue)
      return
    }
    case 'dismiss':
      if (cardId === LOST_OPTIONS_CARD) return controller.current?.session.optionChanges.forgetLost()
      if (cardId === ENVIRONMENT_CARD)
        return controller.agentId === undefined ? undefined : environments.dismiss(controller.agentId)
      return controller.dismiss(cardId)
    default:
      action satisfies never
  }
}

/** Sends a page the theme's colors for code, and the user's layout for diffs. */
export function connectAppearance(
  connection: WebviewConnection<ConversationHostMessages>,
  workbench: Workbench,
) {
  const { appearance, settings } = workbench
  let shown: string | undefined
  const tell = async () => {
    if (shown === undefined) return
    const asked = shown
    const colors = await appearance.tokenColors(asked)
    if (asked === shown) connection.send('appearance/tokens', colors)
  }
  const tellLayout = () =>
    connection.send('appearance/diff', { sideBySide: settingOf(workbench, 'diffLayout') === 'sideBySide' })
  const handlers = {
    'appearance/theme': async ({ themeId }) => {
      shown = themeId
      tellLayout()
      await tell()
    },
    'appearance/setDiff': async ({ sideBySide }) => {
      const layout = sideBySide ? 'sideBySide' : 'unified'
      await settings.update('diffLayout', layout)
    },
  } satisfies Partial<Handlers<ConversationMessages>>
  const following = new DisposableStore()
  following.add(appearance.onDidChangeTokenColors(() => void tell()))
  following.add(settings.onDidChange('diffLayout', tellLayout))
  return { handlers, dispose: () => following.dispose() }
}

/**
 * Sends a page what its composer needs from the editor: the active file and selection, which can be added to the prompt, and the key that
 * sends a prompt.
 */
export function connectComposer(
  connection: WebviewConnection<ConversationHostMessages>,
  workbench: Workbench,
) {
  const { context: promptContext, settings } = workbench
  let context: ActiveContext = { automatic: settingOf(workbench, 'addActiveContext') }
  const set = (next: ActiveContext) => {
    context = next
    connection.send('composer/activeContext', context)
  }
  const tellSendKey = () => connection.send('composer/sendKey', { key: settingOf(workbench, 'sendKey') })
  const following = new DisposableStore()
  following.add(settings.onDidChange('sendKey', tellSendKey))
  following.add(
    promptContext.followActive(attachment =>
      set({ automatic: context.automatic, ...(attachment && { attachment }) }),
    ),
  )
  following.add(
    settings.onDidChange('addActiveContext', () =>
      set({ ...context, automatic: settingOf(workbench, 'addActiveContext') }),
    ),
  )
  return {
    tell: () => {
      tellSendKey()
      connection.send('composer/activeContext', context)
    },
    dispose: () => following.dispose(),
  }
}
