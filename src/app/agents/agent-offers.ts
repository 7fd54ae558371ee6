import * as l10n from '@vscode/l10n'
import type { InstallManager, InstallStatus } from '../../agents/registry/install-manager.ts'
import type { InstallPlan } from '../../agents/registry/install-plan.ts'
import type { AgentOffer } from '../../bridge/conversation.ts'
import type { Disposable } from '../../common/disposable.ts'
import type { AgentDirectory } from '../../sessions/ports.ts'
import { installQuestion } from './install-confirmation.ts'

const hasNone = (agents: AgentDirectory) =>
  agents.isSearched() && agents.list().every(({ source }) => source === 'demo')

/** Returns the agents that the empty view offers to install if there are no agents. The offers stay during an installation. */
export function agentOffers(agents: AgentDirectory, installs: InstallManager): AgentOffer[] {
  if (!installs.isOn) return []
  const featured = installs.featured()
  if (!hasNone(agents) && !featured.some(({ id }) => installs.status(id))) return []
  return featured.map(({ id, preset }) => {
    const plan = installs.planOf(id)
    const status = installs.status(id)
    return {
      id,
      name: preset.name,
      description: preset.description(),
      icon: installs.iconOf(id),
      ...(plan && { plan: planText(plan) }),
      ...statusNotes(status),
    }
  })
}

/** Returns the state of an installation for a page. */
export function statusNotes(
  status: InstallStatus | undefined,
): Pick<AgentOffer, 'asking' | 'running' | 'failed'> {
  switch (status?.state) {
    case 'asking':
      return { asking: installQuestion(status) }
    case 'running':
      return { running: status }
    case 'failed':
      return { failed: failureNote(status) }
    case undefined:
      return {}
  }
}

/** Prepares the plans of the offered installations as soon as it's known that there is no agent. Downloads nothing. */
export function offerWhenNone(agents: AgentDirectory, installs: InstallManager): Disposable {
  let done = false
  const planOffers = async () => {
    if (done || !installs.isOn || !hasNone(agents)) return
    done = true
    await installs.load()
    await installs.plan(installs.featured().map(({ id }) => id))
  }
  return agents.onDidChange(() => void planOffers())
}

/** Returns a sentence that says what an installation does. */
export function planText(plan: InstallPlan | Error): string {
  if (plan instanceof Error) return plan.message
  if (plan.distribution === 'binary')
    return plan.sha256 !== undefined
      ? l10n.t('Downloads {0} and verifies its checksum.', plan.action)
      : l10n.t('Downloads {0}. The registry lists no checksum to verify it with.', plan.action)
  if (plan.missing === 'npm') return l10n.t('Requires Node.js with npm. Runs: {0}', plan.action)
  if (plan.missing === 'uv') return l10n.t('Requires uv. Runs: {0}', plan.action)
  return l10n.t('Runs: {0}', plan.action)
}

/** Returns a failed installation for a page. */
function failureNote({
  message,
  output,
  help,
}: Extract<InstallStatus, { state: 'failed' }>): NonNullable<AgentOffer['failed']> {
  return { message, output, ...(help !== undefined && { help: { href: help, label: helpLabel(help) } }) }
}

/** Returns the label of the button that helps the user get a missing program. */
export function helpLabel(help: string): string {
  return help.includes('nodejs') ? l10n.t('Get Node.js') : l10n.t('Get uv')
}
