import * as l10n from '@vscode/l10n'
import { messageOf } from '../../common/errors.ts'
import { plainMessage } from '../../common/plain-message.ts'
import type { PermissionRules, RuleConsent } from '../../sessions/permission-rules/permission-rules.ts'
import { type PermissionRule, type RuleAction, ruleText } from '../../sessions/permission-rules/rule.ts'
import { type CommandHandlers, CommandId } from '../ids.ts'
import type { RuleSettings } from '../rule-settings.ts'
import type { Dialogs, PickItem } from '../workbench.ts'

export interface RuleCommandOptions {
  rules: Pick<PermissionRules, 'list'>
  consent: Pick<RuleConsent, 'accept' | 'counts'>
  settings: RuleSettings
  nameOf: (agentId: string) => string
  dialogs: Dialogs
}

type RuleItem = PickItem & { rule: PermissionRule }
type Step = RuleAction | 'open' | 'remove'
type StepItem = PickItem & { step: Step }

/** *Manage Permission Rules*: lists them, changes what they do, opens and removes them. */
export function ruleCommands(options: RuleCommandOptions) {
  return {
    [CommandId.managePermissionRules]: () => manage(options),
  } satisfies Partial<CommandHandlers>
}

async function manage(options: RuleCommandOptions): Promise<void> {
  const { dialogs } = options
  for (;;) {
    const rules = options.rules.list()
    if (rules.length === 0) {
      const open = l10n.t('Open Settings')
      const answer = await dialogs.info(
        l10n.t(
          'There are no permission rules. To create one, select “Create Rule…” in a permission request.',
        ),
        open,
      )
      if (answer === open) await options.settings.open({ scope: 'user' })
      return
    }
    const picked = await dialogs.pick(
      rules.map(rule => itemOf(rule, options)),
      {
        title: l10n.t('Manage Permission Rules'),
        placeholder: l10n.t('Select a rule to change or remove it'),
        matchOnDescription: true,
        matchOnDetail: true,
      },
    )
    if (!picked || !(await change(picked, options))) return
  }
}

/** Returns false if the list shouldn't be shown again. */
async function change(
  { rule, label }: RuleItem,
  { settings, consent, dialogs }: RuleCommandOptions,
): Promise<boolean> {
  const actions: RuleAction[] = ['allow', 'ask', 'reject']
  const steps: StepItem[] = [
    // Enter accepts the first item
    { step: rule.action, label: actionText(rule.action), description: l10n.t('Current') },
    ...actions.filter(step => step !== rule.action).map(step => ({ step, label: actionText(step) })),
    { step: 'open', label: l10n.t('Open in Settings'), icon: 'go-to-file' },
    { step: 'remove', label: l10n.t('Remove'), icon: 'trash' },
  ]
  const picked = await dialogs.pick(steps, { title: label })
  if (!picked) return true
  if (picked.step === 'open') {
    await settings.open(rule)
    return false
  }
  try {
    if (picked.step === 'remove') {
      const remove = l10n.t('Remove')
      const text = plainMessage(l10n.t('Remove the permission rule “{0}”?', label))
      if ((await dialogs.confirm(text, {}, remove)) === remove) await settings.replace(rule, undefined)
    } else if (picked.step !== rule.action) {
      const next = { ...rule.source, action: picked.step }
      consent.accept([next])
      await settings.replace(rule, next)
    }
  } catch (error) {
    void dialogs.error(plainMessage(messageOf(error)))
    return false
  }
  return true
}

function itemOf(rule: PermissionRule, { nameOf, consent }: RuleCommandOptions): RuleItem {
  const { action, agent, folder, scope, source } = rule
  const where =
    scope === 'user'
      ? l10n.t('User')
      : scope === 'workspace'
        ? l10n.t('Workspace')
        : l10n.t('Folder {0}', folder ?? '')
  const parts = [
    actionText(action),
    where,
    agent === undefined ? l10n.t('All agents') : nameOf(agent),
    ...(consent.counts(rule) ? [] : [l10n.t('Ignored until you allow it')]),
  ]
  return { rule, label: ruleText(source), description: parts.join(' · ') }
}

function actionText(action: RuleAction): string {
  switch (action) {
    case 'allow':
      return l10n.t('Allow')
    case 'ask':
      return l10n.t('Ask')
    case 'reject':
      return l10n.t('Reject')
  }
}
