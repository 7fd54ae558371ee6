import * as l10n from '@vscode/l10n'
import type { InstallConfirmation, InstallQuestion } from '../../agents/registry/install-manager.ts'
import type { InstallPlan, InstallScript } from '../../agents/registry/install-plan.ts'
import type { AgentOffer } from '../../bridge/conversation.ts'
import { plainMessage } from '../../common/plain-message.ts'
import { shortened, visible } from '../../common/visible.ts'
import { quoted, quotedEnvironment } from '../quoted.ts'
import type { Dialogs } from '../workbench.ts'

/** Asks in modal dialogs, which show everything that would run. */
export function installConfirmation(dialogs: Pick<Dialogs, 'confirm'>): InstallConfirmation {
  return {
    async plan(agent, plan, replaced) {
      const run = l10n.t('Run Install')
      const text = plainMessage(questionOf(agent, replaced))
      const detail = planDetails(plan, replaced).join('\n')
      return (await dialogs.confirm(text, { detail }, run)) === run
    },

    async scripts({ name }, scripts) {
      const run = l10n.t('Run Scripts')
      const skip = l10n.t('Skip Scripts')
      const text = l10n.t('Run the install scripts of {0}?', name)
      const detail = l10n.t(
        'npm packages of this agent contain scripts, which run with your permissions. Without them, the agent may not work.\n\n{0}',
        scriptsDetails(scripts),
      )
      const answer = await dialogs.confirm(plainMessage(text), { detail }, run, skip)
      return answer === run ? 'run' : answer === skip ? 'skip' : 'cancel'
    },
  }
}

/** Returns the question about an installation, for a page. */
export function installQuestion({
  id,
  agent,
  plan,
  replaced,
}: InstallQuestion): NonNullable<AgentOffer['asking']> {
  return { id, text: questionOf(agent, replaced), facts: planDetails(plan, replaced) }
}

function questionOf(
  { name, version }: { name: string; version: string },
  replaced: string | undefined,
): string {
  return replaced === undefined
    ? l10n.t('Install {0} {1}?', name, version)
    : l10n.t('Update {0} to {1}?', name, version)
}

/** Returns everything that an installation and the start of the agent run, one fact per line. */
function planDetails(plan: InstallPlan, replaced: string | undefined): string[] {
  const { distribution, action, program, args, env, sha256, missing } = plan
  const lines = [
    distribution === 'binary' ? l10n.t('Downloads: {0}', action) : l10n.t('Runs: {0}', action),
    distribution === 'binary' &&
      (sha256 === undefined
        ? l10n.t("Checksum: none. The download can't be verified.")
        : l10n.t('SHA-256 checksum: {0}', sha256)),
    program !== undefined && l10n.t('Program: {0}', quoted(program)),
    args.length > 0 && l10n.t('Arguments: {0}', args.map(quoted).join(' ')),
    Object.keys(env).length > 0 && l10n.t('Environment: {0}', quotedEnvironment(env)),
    replaced !== undefined && l10n.t('Replaces: version {0}', replaced),
    missing === 'npm' && l10n.t('Requires Node.js with npm.'),
    missing === 'uv' && l10n.t('Requires uv.'),
    distribution === 'npx' &&
      l10n.t('npm packages can run scripts when they are installed. Parley asks before any of them runs.'),
    distribution === 'uvx' &&
      l10n.t('Python packages that uv has to build run code when they are installed.'),
  ]
  return lines.filter(line => line !== false)
}

/** Lists the scripts of packages, one per line. */
function scriptsDetails(scripts: readonly InstallScript[]): string {
  const lines = scripts
    .slice(0, MAX_SCRIPTS)
    .map(({ package: name, event, command }) => `${inOneLine(name)} (${event}): ${inOneLine(command)}`)
  const more = scripts.length - lines.length
  return [...lines, ...(more > 0 ? [l10n.t('… and {0} more', more)] : [])].join('\n')
}

const MAX_SCRIPTS = 12
const MAX_LINE = 500

/**
 * Returns the text in one line. A line break is shown as `
 * `, since it could end a comment and start another command. Omitted text is marked.
 */
function inOneLine(text: string): string {
  const line = visible(text.trim()).replaceAll('\n', '\\n').replaceAll(/\s+/g, ' ')
  return shortened(line, MAX_LINE)
}
