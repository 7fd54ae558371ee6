import * as l10n from '@vscode/l10n'
import { type Allowance, allowances } from '../../common/allowance.ts'
import { UnavailableError } from '../../common/errors.ts'
import { plainMessage } from '../../common/plain-message.ts'
import type { OpenSession } from '../../sessions/open-session.ts'
import type { PermissionRules } from '../../sessions/permission-rules/permission-rules.ts'
import type { ConversationSurfaces } from '../conversation/conversation-surface.ts'
import { type CommandHandlers, CommandId } from '../ids.ts'
import type { Dialogs, PickItem } from '../workbench.ts'

interface AllowanceOptions {
  rules: Pick<PermissionRules, 'allowances'>
  dialogs: Pick<Dialogs, 'confirm' | 'pick'>
}

/** Sets the permission level of a session. *Accept Everything* must be confirmed once in each session. */
export async function allowInSession(
  { allowance, agentName }: Pick<OpenSession, 'allowance' | 'agentName'>,
  allowed: Allowance,
  { rules, dialogs }: AllowanceOptions,
): Promise<void> {
  if (allowed === 'everything' && !allowance.isConfirmed) {
    const accept = l10n.t('Accept Everything')
    const detail = l10n.t(
      "{0} then runs commands, changes files and fetches data without asking you. Only what a request names can be checked: a script can do whatever you can. Parley still asks before anything outside of the session's folders, before changes to protected files, and about what it can't analyze reliably.",
      agentName,
    )
    const question = l10n.t('Accept everything in this session?')
    if ((await dialogs.confirm(question, { detail: plainMessage(detail) }, accept)) !== accept) return
    allowance.isConfirmed = true
  }
  // the setting may have changed while the question was open
  if (allowed === 'ask' || rules.allowances().includes(allowed)) allowance.allow(allowed)
}

/** *Accept for This Session…*: sets the permission level of the active conversation. */
export function allowanceCommands(options: AllowanceOptions & { surfaces: ConversationSurfaces }) {
  const { rules, dialogs, surfaces } = options
  return {
    [CommandId.acceptForSession]: async () => {
      const { controller } = surfaces.active
      const { current } = controller
      if (!current || controller.phase !== 'ready')
        throw new UnavailableError(l10n.t('Start a session first.'))
      if (current.session.agent.capabilities.isRemote)
        throw new UnavailableError(
          l10n.t(
            "{0} works on another machine, so its requests can't be accepted in advance.",
            current.agentName,
          ),
        )
      const offered = rules.allowances()
      const { allowed } = current.allowance
      const items: Array<PickItem & { value: Allowance }> = allowances
        .filter(value => value === 'ask' || offered.includes(value))
        .map(value => ({
          value,
          ...textOf(value),
          ...(value === allowed && { description: l10n.t('current') }),
        }))
      // the first item differs from the current level, so that Enter turns accepting on or off
      if (allowed === 'ask') items.push(...items.splice(0, 1))
      const picked = await dialogs.pick(items, { title: l10n.t('Accept for This Session') })
      if (picked && controller.current === current) await allowInSession(current, picked.value, options)
    },
  } satisfies Partial<CommandHandlers>
}

function textOf(allowed: Allowance): { label: string; detail: string } {
  switch (allowed) {
    case 'ask':
      return { label: l10n.t('Ask'), detail: l10n.t('Permission requests are shown to you') }
    case 'edits':
      return {
        label: l10n.t('Accept Edits'),
        detail: l10n.t("In the session's folders, except for protected files"),
      }
    case 'everything':
      return {
        label: l10n.t('Accept Everything'),
        detail: l10n.t('Also commands. Not other folders or protected files'),
      }
  }
}
