import * as l10n from '@vscode/l10n'
import type { HostedAgentInfo } from '../../acp/start-hosted.ts'
import { UnavailableError } from '../../common/errors.ts'
import { visible } from '../../common/visible.ts'
import type { HistoryList } from '../../sessions/listing/history-list.ts'
import type { SessionOrganizer } from '../../sessions/listing/session-organizer.ts'
import { type OpenSession, referenceOf } from '../../sessions/open-session.ts'
import type { SessionIndicators } from '../../sessions/session-indicators.ts'
import type { SessionManager } from '../../sessions/session-manager.ts'
import type { WatchedSessions } from '../../sessions/watch-sessions.ts'
import { showFailureOrSignIn, waitForAgent } from '../ask-agent.ts'
import type { ConversationSurface, ConversationSurfaces } from '../conversation/conversation-surface.ts'
import type { ConversationTabs } from '../conversation/conversation-tabs.ts'
import { type CommandHandlers, CommandId, SIDE_BAR_COMMANDS, TAB_COMMANDS } from '../ids.ts'
import type { SessionActions } from '../session-actions.ts'
import { showInWindow } from '../show-in-window.ts'
import type { WindowSessions } from '../window-sessions.ts'
import type { Workbench } from '../workbench.ts'
import { type PickedSession, pickOpenSession } from './pick-session.ts'

interface SessionCommandOptions {
  surfaces: ConversationSurfaces
  organizer: SessionOrganizer
  workbench: Workbench
}

/** Returns *Rename Session…* and *Fork Session* for the active conversation. */
export function sessionCommands({ surfaces, organizer, workbench: { dialogs } }: SessionCommandOptions) {
  const on = (run: (open: OpenSession) => Promise<void>) => async () => {
    const open = await surfaces.active.controller.whole()
    if (!open) throw new UnavailableError(l10n.t('The conversation has no session.'))
    await run(open)
  }
  return {
    [CommandId.renameSession]: on(async open => {
      const reference = referenceOf(open)
      const title = await dialogs.input({
        title: l10n.t('Rename Session'),
        prompt: l10n.t('Session title. Leave empty to use the automatic title.'),
        value: reference.title ?? '',
      })
      if (title === undefined || title.trim() === (reference.title ?? '')) return
      const { controller } = surfaces.active
      await showFailureOrSignIn(
        dialogs,
        reference.agentId,
        (agentId, then) => controller.signIn.offer(agentId, then),
        () =>
          waitForAgent(dialogs, open.agentName, l10n.t('Rename Session'), () =>
            organizer.rename(reference, title),
          ),
      )
    }),
    [CommandId.forkSession]: on(async open => {
      if (!open.session.agent.capabilities.fork)
        throw new UnavailableError(l10n.t("{0} can't fork sessions.", open.agentName))
      await surfaces.open(surfaces.active, opener => opener.fork(referenceOf(open)))
    }),
  } satisfies Partial<CommandHandlers>
}

interface SurfaceCommandOptions {
  surfaces: ConversationSurfaces
  sideBar: ConversationSurface
  tabs: ConversationTabs
  manager: SessionManager
  sessionsHere: WatchedSessions
  indicators: SessionIndicators
  history: HistoryList
  actions: SessionActions
  windows: WindowSessions
  hosts: { list(): Promise<HostedAgentInfo[]> }
  workbench: Workbench
}

/** Returns the commands that open conversations, and that move them between the side bar and editor tabs. */
export function surfaceCommands(options: SurfaceCommandOptions) {
  const { surfaces, sideBar, tabs, manager, sessionsHere, indicators, history, windows, hosts, workbench } =
    options

  const toTab = (where: 'here' | 'beside') => {
    const { current } = sideBar.controller
    // a session is shown in only one view at a time
    if (current) sideBar.controller.leave()
    tabs.open(current, where)
  }

  return {
    [CommandId.openSession]: async () => {
      const surfaceOf = (open: OpenSession) => {
        const shown = surfaces.showing(open)
        return shown && (shown === sideBar ? 'side-bar' : 'tab')
      }
      const sources = { workbench, manager, sessionsHere, indicators, history, windows, hosts, surfaceOf }
      const picked = await pickOpenSession(sources)
      if (picked) await openPicked(options, picked)
    },
    [CommandId.newSessionInTab]: () => tabs.open(undefined).opener.start(),
    [CommandId.openInTab]: () => {
      // in a tab, the command opens another tab in which a session can be started
      if (tabs.find(surfaces.active)) tabs.open(undefined)
      else toTab('here')
    },
    [CommandId.openBeside]: () => {
      const tab = tabs.find(surfaces.active)
      if (tab) tab.moveBeside()
      else toTab('beside')
    },
    [CommandId.moveToSideBar]: async () => {
      const tab = tabs.find(surfaces.active)
      if (!tab) throw new UnavailableError(l10n.t('The conversation is already in the side bar.'))
      const { current } = tab.controller
      if (!current) throw new UnavailableError(l10n.t('No conversation is open.'))
      // the side bar takes the session before the tab closes, so that the session always has a view
      tab.controller.leave()
      sideBar.controller.take(current)
      tab.close()
      await sideBar.reveal()
    },
  } satisfies Partial<CommandHandlers>
}

/** Shows a session in its view or its window. */
export async function openPicked(
  {
    surfaces,
    windows,
    actions,
    workbench,
  }: Pick<SurfaceCommandOptions, 'surfaces' | 'windows' | 'actions' | 'workbench'>,
  picked: PickedSession,
): Promise<void> {
  if ('open' in picked) await surfaces.reveal(picked.open)
  else if ('other' in picked) await showInWindow(picked.other, { windows, workbench })
  else if ('item' in picked) await actions.act(picked.item.canResume ? 'resume' : 'load', picked.item)
  else {
    const { cwd, tag } = picked.background
    if (await workbench.focusWindow(tag.workspace)) return
    void workbench.dialogs.info(l10n.t('To continue the session, open the folder {0}.', visible(cwd)))
  }
}

type Handlers = Record<
  (typeof CommandId)[keyof typeof CommandId],
  CommandHandlers[string & keyof CommandHandlers]
>
type TitleBarHandlers = Omit<CommandHandlers, keyof Handlers>

/**
 * Returns the commands of the buttons in the title bars of conversations. VS Code doesn't tell a command which view's button was clicked,
 * so each title bar has its own commands. They activate their conversation and then run the actual command.
 */
export function titleBarCommands(
  surfaces: Pick<ConversationSurfaces, 'activate'>,
  sideBar: ConversationSurface,
  tabs: Pick<ConversationTabs, 'active'>,
  handlers: Pick<
    Handlers,
    (typeof CommandId)[(typeof SIDE_BAR_COMMANDS)[number] | (typeof TAB_COMMANDS)[number]]
  >,
) {
  const on = (surface: () => ConversationSurface | undefined, name: keyof typeof handlers) => () => {
    const pressed = surface()
    if (pressed) surfaces.activate(pressed)
    return handlers[name]()
  }
  return Object.fromEntries([
    ...SIDE_BAR_COMMANDS.map(name => [`parley.sideBar.${name}`, on(() => sideBar, CommandId[name])]),
    ...TAB_COMMANDS.map(name => [`parley.tab.${name}`, on(() => tabs.active, CommandId[name])]),
  ]) as Pick<
    TitleBarHandlers,
    `parley.sideBar.${(typeof SIDE_BAR_COMMANDS)[number]}` | `parley.tab.${(typeof TAB_COMMANDS)[number]}`
  >
}
