import * as l10n from '@vscode/l10n'
import { earlierSessionOf } from '../sessions/continuation.ts'
import { recordedTitle } from '../sessions/session-title.ts'
import { agentLogger } from './agents/agent-services.ts'
import { runningAccounts } from './agents/running-accounts.ts'
import type { AppServices } from './app-services.ts'
import { backgroundCommand } from './commands/background-command.ts'
import { changeCommands } from './commands/change-commands.ts'
import { checkAgentCommand } from './commands/check-agent-command.ts'
import { checkpointCommands } from './commands/checkpoint-commands.ts'
import { entryCommands } from './commands/entry-commands.ts'
import { generalCommands } from './commands/general-commands.ts'
import { installCommands } from './commands/install-commands.ts'
import { limitCommand } from './commands/limit-command.ts'
import { navigationCommands } from './commands/navigation-commands.ts'
import { optionCommands } from './commands/option-commands.ts'
import { providerCommands } from './commands/provider-commands.ts'
import { ruleCommands } from './commands/rule-commands.ts'
import { openPicked, sessionCommands, surfaceCommands } from './commands/session-commands.ts'
import { signInCommands } from './commands/sign-in-commands.ts'
import { usageCommand } from './commands/usage-command.ts'
import { compareCommands } from './compare/compare-commands.ts'
import { allowanceCommands } from './conversation/allow-in-session.ts'
import { deleteSessions } from './history/delete-sessions.ts'
import { historyMenuCommands } from './history/history-commands.ts'
import { CommandId } from './ids.ts'
import { copyLink, linkCommands } from './links.ts'
import { mcpCommands } from './mcp/mcp-commands.ts'
import { mcpSignInCommands } from './mcp/mcp-sign-in.ts'
import type { Platform } from './platform.ts'
import { worktreeCommands } from './worktrees/worktree-commands.ts'

/** Returns the commands that don't need VS Code's API. */
export function appCommands(platform: Platform, services: AppServices) {
  const { workbench, logs, ruleSettings } = platform
  const { agents, follow, runners, manager, manageAgents, nameOf, records, rules, surfaces } = services
  const runner = runners.get
  const all = { ...services, workbench, runner }
  const recordedName = (agentId: string) =>
    agents.get(agentId)?.name ?? records.agent(agentId)?.name ?? agentId
  return {
    [CommandId.showQuestion]: () => services.attention.show(),
    [CommandId.manageAgents]: () => manageAgents.open(),
    ...mcpCommands(all),
    ...backgroundCommand({ ...all, open: session => openPicked(all, session) }),
    ...usageCommand({ workbench, surfaces, records, nameOf: recordedName }),
    ...generalCommands({
      ...all,
      showLog(agentId) {
        if (agentId === undefined) logs.showOwn()
        else logs.show(agentId, agents.get(agentId)?.name ?? agentId)
      },
      showTraffic: () => services.inspector.open(),
      help: platform.fileInExtension('media', 'help', 'help.md'),
      refreshHistory: () => void services.history.refresh(),
      deleteSessions: () =>
        deleteSessions(workbench.dialogs, services.history, services.actions, services.conversations),
      exportAll: () => services.exporter.exportAll(),
      importConversations: () => services.importer.importFiles(),
      forgetMcpInputs: () => services.inputs.clear(),
    }),
    ...checkAgentCommand(all),
    ...sessionCommands(all),
    ...surfaceCommands(all),
    ...worktreeCommands(all),
    ...compareCommands(all),
    ...signInCommands(all),
    ...providerCommands(all),
    ...mcpSignInCommands(all),
    ...installCommands({
      installs: services.installs,
      logs,
      agentLogger: (agentId, name) => agentLogger(platform, agentId, name),
      workbench,
      running: agentId => runningAccounts(agentId, services),
      restart: agentId => {
        const running = runner(agentId)
        return running.renew(() => running.ensure())
      },
      // if another source still provides an agent with this id, its stored values stay
      forget: async agentId => {
        if (!agents.get(agentId)) await services.signInValues.forget(agentId)
      },
    }),
    ...ruleCommands({
      rules,
      consent: services.ruleConsent,
      settings: ruleSettings,
      hasWorkspace: () => workbench.roots.length > 0,
      session: () => surfaces.active.controller.current,
      nameOf,
      dialogs: workbench.dialogs,
    }),
    ...navigationCommands(all),
    ...entryCommands(surfaces, workbench, services.exporter),
    ...changeCommands({ ...all, sessions: manager }),
    ...checkpointCommands({
      surfaces,
      agents,
      tracker: services.tracker,
      workbench,
      sessions: manager.openSessions,
      decisions: services.decisions,
      branches: services.branches,
      summarize: services.summarize,
      editChoice: services.editChoice,
      earlierSession: (agentId, from) => earlierSessionOf(agentId, from, records),
      recordedTitle: (agentId, sessionId) => recordedTitle(records.get(agentId, sessionId)),
      openSession: (agentId, sessionId) => services.historyView.open(agentId, sessionId),
    }),
    ...limitCommand(surfaces, workbench),
    ...allowanceCommands({ rules, surfaces, dialogs: workbench.dialogs }),
    ...optionCommands({
      surfaces,
      memory: services.optionMemory,
      defaults: services.agentDefaults,
      dialogs: workbench.dialogs,
    }),
    ...historyMenuCommands(
      (...args) => services.historyView.act(...args),
      session => copyLink(workbench, session),
      session => services.exporter.exportSession(session),
    ),
    ...linkCommands(all),
    [CommandId.followAgent]: () => {
      follow.set(!follow.on)
      workbench.dialogs.showStatus(
        follow.on ? l10n.t('Following the agent in the editor') : l10n.t('Not following the agent'),
      )
    },
  }
}
