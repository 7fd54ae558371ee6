import * as l10n from '@vscode/l10n'
import { messageOf } from '../../common/errors.ts'
import { plainMessage } from '../../common/plain-message.ts'
import type { PermissionRules, RuleConsent } from '../../sessions/permission-rules/permission-rules.ts'
import { problemOfRule } from '../../sessions/permission-rules/read-rules.ts'
import {
  ruleActions as actions,
  type PermissionRule,
  type PermissionRuleSetting,
  type RuleAction,
  ruleText,
  withAnyArguments,
} from '../../sessions/permission-rules/rule.ts'
import type { SessionAllowance } from '../../sessions/permission-rules/session-allowance.ts'
import { type CommandHandlers, CommandId } from '../ids.ts'
import { addRule, type RuleSettings } from '../rule-settings.ts'
import type { Dialogs, PickItem } from '../workbench.ts'

export interface RuleCommandOptions {
  rules: Pick<PermissionRules, 'list'>
  consent: Pick<RuleConsent, 'accept' | 'counts'>
  settings: RuleSettings
  /** Whether a folder is open, so that a rule can be saved in its settings. */
  hasWorkspace: () => boolean
  /** the displayed session */
  session: () => { allowance: SessionAllowance } | undefined
  nameOf: (agentId: string) => string
  dialogs: Dialogs
}

type RuleItem = PickItem & { rule?: PermissionRule }
type Step = RuleAction | 'widen' | 'open' | 'remove'
type StepItem = PickItem & { step: Step }

/**
 * *Manage Permission Rules*: lists the rules of the settings and of the displayed session, and lets the user add, change, open and remove
 * rules.
 */
export function ruleCommands(options: RuleCommandOptions) {
  return {
    [CommandId.managePermissionRules]: () => manage(options),
  } satisfies Partial<CommandHandlers>
}

async function manage(options: RuleCommandOptions): Promise<void> {
  const { dialogs, rules, session } = options
  for (;;) {
    const all = [...(session()?.allowance.rules ?? []), ...rules.list()]
    const items: RuleItem[] = all.map(rule => itemOf(rule, options))
    const add: RuleItem = {
      label: l10n.t('Add Rule…'),
      icon: 'add',
      ...(all.length === 0 && { detail: l10n.t('There are no permission rules') }),
    }
    const picked = await dialogs.pick([...items, add], {
      title: l10n.t('Manage Permission Rules'),
      placeholder: l10n.t('Select a rule to change or remove it'),
      matchOnDescription: true,
      matchOnDetail: true,
    })
    const { rule, label } = picked ?? {}
    if (!picked || !(rule ? await change(rule, label ?? '', options) : await addNew(options))) return
  }
}

/** Asks for the subject, effect and scope of a new rule, and adds the rule. Resolves to false if the list shouldn't be shown again. */
async function addNew(options: RuleCommandOptions): Promise<boolean> {
  const { dialogs, hasWorkspace, session } = options
  const title = l10n.t('Add Permission Rule')
  const about = await dialogs.pick(subjects(), { title, placeholder: l10n.t('What is the rule about?') })
  if (!about) return true
  const text = await dialogs.input({
    title,
    prompt: about.prompt,
    placeholder: about.example,
    validate: value =>
      value.trim() === ''
        ? l10n.t('A value is required.')
        : problemOfRule({ ...about.conditions(value.trim()), action: 'ask' }),
  })
  if (text === undefined) return true
  const conditions = about.conditions(text.trim())
  const action = await dialogs.pick(
    actions.map(one => ({
      action: one,
      label: actionText(one),
      detail: ruleText({ ...conditions, action: one }),
    })),
    { title, placeholder: l10n.t('What does Parley do with such requests?') },
  )
  if (!action) return true
  const open = session()
  const target = await dialogs.pick(
    [
      ...(open ? [{ target: open.allowance, label: l10n.t('Only in This Session') }] : []),
      ...(hasWorkspace() ? [{ target: 'workspace' as const, label: l10n.t('In Workspace Settings') }] : []),
      { target: 'user' as const, label: l10n.t('In User Settings') },
    ],
    { title, placeholder: l10n.t('Where does the rule apply?') },
  )
  if (!target) return true
  try {
    await addRule({ ...conditions, action: action.action }, target.target, options)
  } catch (error) {
    void dialogs.error(plainMessage(messageOf(error)))
    return false
  }
  return true
}

type Subject = PickItem & {
  prompt: string
  example: string
  conditions: (text: string) => Omit<PermissionRuleSetting, 'action'>
}

/** Returns the subjects of rules that this command can create. Users write other rules in the settings. */
function subjects(): Subject[] {
  const path = l10n.t("A path relative to the session's folders, such as src/** for all files in a folder")
  return [
    {
      label: l10n.t('A Command'),
      icon: 'terminal',
      prompt: l10n.t(
        'One command. At the end, * stands for arguments that are known to do no harm, ** for anything the program can do',
      ),
      example: 'npm test **',
      conditions: command => ({ command }),
    },
    {
      label: l10n.t('Edits of Files'),
      icon: 'edit',
      prompt: path,
      example: 'src/**',
      conditions: text => ({ kind: 'edit', path: text }),
    },
    {
      label: l10n.t('Reading Files'),
      icon: 'file',
      prompt: path,
      example: 'src/**',
      conditions: text => ({ kind: 'read', path: text }),
    },
    {
      label: l10n.t('An Editor Tool'),
      icon: 'tools',
      prompt: l10n.t('The name of one of the editor tools, or vscode.* for all'),
      example: 'vscode.rename_symbol',
      conditions: tool => ({ tool }),
    },
  ]
}

/** Lets the user change or remove a rule. Resolves to false if the list shouldn't be shown again. */
async function change(
  rule: PermissionRule,
  label: string,
  { settings, consent, dialogs, session }: RuleCommandOptions,
): Promise<boolean> {
  const allowance = session()?.allowance
  const replace = async (next: PermissionRuleSetting | undefined) => {
    if (rule.scope === 'session') allowance?.replace(rule, next)
    else await settings.replace(rule, next)
  }
  const wide = withAnyArguments(rule.source)
  const remove = rule.accepts ? l10n.t('Turn Off') : l10n.t('Remove')
  const steps: StepItem[] = [
    // the current action comes first, because Enter accepts the first item
    { step: rule.action, label: actionText(rule.action), description: l10n.t('Current') },
    ...(rule.accepts ? [] : actions)
      .filter(step => step !== rule.action)
      .map(step => ({ step, label: actionText(step) })),
    ...(wide
      ? [
          {
            step: 'widen' as const,
            label: l10n.t('Allow Anything the Program Can Do'),
            description: wide.command ?? '',
          },
        ]
      : []),
    ...(rule.scope === 'session'
      ? []
      : [{ step: 'open' as const, label: l10n.t('Open in Settings'), icon: 'go-to-file' }]),
    { step: 'remove', label: remove, icon: 'trash' },
  ]
  const picked = await dialogs.pick(steps, { title: label })
  if (!picked) return true
  if (picked.step === 'open') {
    await settings.open(rule)
    return false
  }
  try {
    if (picked.step === 'remove') {
      const text = plainMessage(l10n.t('Remove the permission rule “{0}”?', label))
      if (rule.accepts || (await dialogs.confirm(text, {}, remove)) === remove) await replace(undefined)
    } else if (picked.step !== rule.action) {
      const next = picked.step === 'widen' ? (wide ?? rule.source) : { ...rule.source, action: picked.step }
      if (rule.scope !== 'session') consent.accept([next])
      await replace(next)
    }
  } catch (error) {
    void dialogs.error(plainMessage(messageOf(error)))
    return false
  }
  return true
}

function itemOf(rule: PermissionRule, { nameOf, consent }: RuleCommandOptions): RuleItem {
  const { action, agent, scope, source } = rule
  const parts = [
    // if the label says only that the rule allows nothing, the command is shown as written
    ...(withAnyArguments(source) ? [source.command ?? ''] : []),
    actionText(action),
    placeOf(rule),
    agent === undefined ? l10n.t('All agents') : nameOf(agent),
    ...(scope === 'session' || consent.counts(rule) ? [] : [l10n.t('Ignored until you allow it')]),
  ]
  return { rule, label: rule.accepts ? rule.text : ruleText(source), description: parts.join(' · ') }
}

function placeOf({ scope, folder }: PermissionRule): string {
  switch (scope) {
    case 'session':
      return l10n.t('This session')
    case 'user':
      return l10n.t('User')
    case 'workspace':
      return l10n.t('Workspace')
    case 'folder':
      return l10n.t('Folder {0}', folder ?? '')
  }
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
