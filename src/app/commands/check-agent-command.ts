import * as l10n from '@vscode/l10n'
import type { ConnectOptions } from '../../acp/agent.ts'
import { UnavailableError } from '../../common/errors.ts'
import { plainMessage } from '../../common/plain-message.ts'
import type { AgentDirectory } from '../../sessions/ports.ts'
import type { Accounts } from '../../sessions/sign-in/accounts.ts'
import { type CommandHandlers, CommandId } from '../ids.ts'
import type { Workbench } from '../workbench.ts'
import { pickAgent } from './pick-agent.ts'

interface CheckAgentCommandOptions {
  workbench: Workbench
  agents: AgentDirectory
  accounts: Pick<Accounts, 'get'>
  nameOf: (agentId: string) => string
  connectOptions: (
    startProcess: (agentId: string) => undefined,
  ) => (agentId: string) => Omit<ConnectOptions, 'signal'>
}

/** *Check Agent…*: checks whether an agent follows the protocol's specification, and opens the report. The argument is the agent's id. */
export function checkAgentCommand(options: CheckAgentCommandOptions) {
  return {
    [CommandId.checkAgent]: (wanted?: unknown) =>
      check(options, typeof wanted === 'string' ? wanted : undefined),
  } satisfies Partial<CommandHandlers>
}

async function check(options: CheckAgentCommandOptions, wanted: string | undefined): Promise<void> {
  const { workbench, agents, accounts, nameOf, connectOptions } = options
  const { dialogs, editors } = workbench
  if (!workbench.isTrusted)
    throw new UnavailableError(l10n.t("Agents can't start in Restricted Mode. Trust this workspace first."))
  const agentId = wanted ?? (await pickAgent(workbench, agents, accounts, l10n.t('Check Agent')))
  if (agentId === undefined) return
  const name = nameOf(agentId)
  const { checkAgent, PROMPTS_SENT } = await import('../../acp/conformance/check-agent.ts')
  const withPrompts = l10n.t('Check')
  const withoutPrompts = l10n.t('Check Without Prompts')
  const answer = await dialogs.confirm(
    plainMessage(l10n.t('Check whether {0} follows the Agent Client Protocol?', name)),
    {
      detail: l10n.t(
        'The agent is started several times. It works in an empty temporary folder, and every permission is rejected.\n\nThe check sends up to {0} prompts for each version of the protocol that the agent uses, which may cost money. Without prompts, less is checked.',
        PROMPTS_SENT,
      ),
    },
    withPrompts,
    withoutPrompts,
  )
  if (answer === undefined) return
  const launch = await agents.resolveLaunch(agentId)
  const report = await dialogs.progress(
    { title: l10n.t('Checking {0}', name), where: 'notification', cancellable: true },
    (tell, signal) =>
      checkAgent({
        launch,
        connect: connectOptions(() => undefined)(agentId),
        signal,
        withPrompts: answer === withPrompts,
        onCheck: (title, version) => tell({ message: l10n.t('Version {0}: {1}', version, title) }),
      }),
  )
  const { markdownReport } = await import('../../acp/conformance/report-text.ts')
  await editors.openText(markdownReport(report), 'markdown')
}
