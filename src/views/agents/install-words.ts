import * as l10n from '@vscode/l10n'
import type { InstallPlan } from '../../agents/registry/agent-installer.ts'
import type { InstallStatus } from '../../agents/registry/install-manager.ts'
import type { AgentOffer } from '../bridge/conversation.ts'

/** What an installation will do, as a sentence. */
export function planWords(plan: InstallPlan | Error): string {
  if (plan instanceof Error) return plan.message
  if (plan.distribution === 'binary')
    return plan.verified
      ? l10n.t('Downloads {0} and verifies its checksum.', plan.action)
      : l10n.t('Downloads {0}. The registry lists no checksum to verify it with.', plan.action)
  if (plan.missing === 'npm') return l10n.t('Requires Node.js with npm. Runs: {0}', plan.action)
  if (plan.missing === 'uv') return l10n.t('Requires uv. Runs: {0}', plan.action)
  return l10n.t('Runs: {0}', plan.action)
}

/** A failed installation for a page. */
export function failureNote({
  message,
  output,
  help,
}: Extract<InstallStatus, { state: 'failed' }>): NonNullable<AgentOffer['failed']> {
  return { message, output, ...(help !== undefined && { help: { href: help, label: helpWords(help) } }) }
}

/** The next step where a program is missing that the agent needs. */
export function helpWords(help: string): string {
  return help.includes('nodejs') ? l10n.t('Get Node.js') : l10n.t('Get uv')
}
